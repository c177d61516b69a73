#pragma once

#include "ranks/group.h"

#include <ATen/ATen.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

// Processes of a group, each played by a thread of the test.
namespace tessera::test {

// A port that was free a moment ago.
inline int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(descriptor);
  if (!bound) throw std::runtime_error("no port is free");
  return ntohs(address.sin_port);
}

inline RankOptions rank_options(int rank, int size, int port) {
  return {.rank = rank,
          .size = size,
          .local_rank = rank,
          .local_size = size,
          .port = port,
          .timeout = 20};
}

// Calls work(group) for every process, and returns when all are done.
inline void play(int size, const std::function<void(ranks::Group&)>& work) {
  const int port = free_port();
  std::vector<std::exception_ptr> failures(static_cast<size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          const auto group = ranks::meet(rank_options(rank, size, port), at::kCPU);
          work(*group);
          group->gather("end");  // the store of process 0 must outlive the others' last call
        } catch (...) {
          failures[static_cast<size_t>(rank)] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::test
