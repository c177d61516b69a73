#include "ranks/c10d_group.h"

#include "base/require.h"
#include "ranks/nccl_backend.h"
#include "tensor/device.h"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <c10/util/intrusive_ptr.h>
#include <fmt/format.h>

// LibTorch's wheels do not say what they were built with.
#define USE_DISTRIBUTED
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <tuple>

namespace tessera::ranks {
namespace {

using std::chrono::milliseconds;

// The first line of what a library says, without where in its source that is.
std::string said(const std::exception& error) {
  const auto* const torch = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch != nullptr ? torch->what_without_backtrace() : error.what();
  // Advice on programs in Python follows.
  for (const char* end : {"\n", ". This is typically"})
    text.erase(std::min(text.find(end), text.size()));
  if (text.starts_with('[')) {
    const size_t end = text.find("] ");
    if (end != std::string::npos) text.erase(0, end + 2);
  }
  return text;
}

milliseconds timeout_of(const RankOptions& options) {
  return milliseconds(static_cast<int64_t>(options.timeout * 1000));
}

c10::intrusive_ptr<c10d::Store> store_of(const RankOptions& options) {
  c10d::TCPStoreOptions at;
  at.port = static_cast<uint16_t>(options.port);
  at.isServer = !options.served && options.rank == 0;
  at.numWorkers = static_cast<size_t>(options.size);
  at.timeout = timeout_of(options);
  return c10::make_intrusive<c10d::PrefixStore>(
      "tessera/" + options.attempt, c10::make_intrusive<c10d::TCPStore>(options.address, at));
}

class C10dGroup final : public Group {
 public:
  C10dGroup(const RankOptions& options, at::Device device)
      : options_(options),
        device_(device),
        exceptions_(std::uncaught_exceptions()),
        store_(store_of(options)) {
    control_ = gloo("control");
    // Processes of one machine can share a GPU, but not by NCCL. All must choose alike.
    const bool own_gpu =
        knows_nccl() && device.is_cuda() && options.local_size <= cuda_device_count();
    const std::vector<std::string> all = gather(std::string(own_gpu ? "1" : "0"));
    if (std::count(all.begin(), all.end(), "1") == options.size)
      values_ = nccl_backend(c10::make_intrusive<c10d::PrefixStore>("nccl", store_), options.rank,
                             options.size, timeout_of(options));
    on_device_ = values_.defined();
    if (!on_device_) values_ = gloo("values");
  }

  // After a failure the threads of a group may wait for others until the timeout. They are left to
  // themselves; they end with the process.
  ~C10dGroup() override {
    if (std::uncaught_exceptions() == exceptions_) return;
    for (auto* each : {&values_, &control_}) std::ignore = each->release();
    std::ignore = store_.release();
    std::ignore = pending_.release();
  }

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }

  void sum(const at::Tensor& values) override {
    with(values, [&](std::vector<at::Tensor>& list) { values_->allreduce(list)->wait(); });
  }

  void broadcast(const at::Tensor& values) override {
    with(values, [&](std::vector<at::Tensor>& list) {
      c10d::BroadcastOptions from;
      from.rootRank = 0;
      values_->broadcast(list, from)->wait();
    });
  }

  std::vector<std::string> gather(const std::string& mine) override {
    const std::vector<at::Tensor> sizes =
        gather(at::full({1}, static_cast<int64_t>(mine.size()), at::kLong));
    int64_t most = 0;
    for (const at::Tensor& size : sizes) most = std::max(most, size.item<int64_t>());
    at::Tensor text = at::zeros({std::max<int64_t>(most, 1)}, at::kByte);
    std::memcpy(text.mutable_data_ptr(), mine.data(), mine.size());
    const std::vector<at::Tensor> texts = gather(text);
    std::vector<std::string> all;
    for (size_t k = 0; k < texts.size(); ++k)
      all.emplace_back(static_cast<const char*>(texts[k].const_data_ptr()),
                       static_cast<size_t>(sizes[k].item<int64_t>()));
    return all;
  }

  bool agree_to_stop(int64_t step, bool wanted) override {
    bool stop = false;
    if (pending_) {
      guarded([&] { pending_->wait(); });
      const int64_t* const found = notice_.front().const_data_ptr<int64_t>();
      require(found[1] == -found[2], "the processes are not in step: update {} and update {}",
              -found[2], found[1]);
      stop = found[0] != 0;
    }
    notice_ = {at::empty({3}, at::kLong)};
    int64_t* const mine = notice_.front().mutable_data_ptr<int64_t>();
    mine[0] = wanted;
    mine[1] = step;
    mine[2] = -step;  // the largest of these is the smallest step
    c10d::AllreduceOptions largest;
    largest.reduceOp = c10d::ReduceOp::MAX;
    guarded([&] { pending_ = control_->allreduce(notice_, largest); });
    return stop;
  }

 private:
  c10::intrusive_ptr<c10d::Backend> gloo(const std::string& name) const {
    return c10::make_intrusive<c10d::ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>(name, store_), options_.rank, options_.size,
        c10d::ProcessGroupGloo::Options::create_default(timeout_of(options_)));
  }

  std::vector<at::Tensor> gather(const at::Tensor& mine) {
    std::vector<at::Tensor> in{mine};
    std::vector<std::vector<at::Tensor>> out(1);
    for (int k = 0; k < size(); ++k) out.front().push_back(at::empty_like(mine));
    guarded([&] { control_->allgather(out, in)->wait(); });
    return out.front();
  }

  // Exchanges values where the backend can read them.
  void with(const at::Tensor& values,
            const std::function<void(std::vector<at::Tensor>&)>& exchange) const {
    const bool stays = on_device_ ? values.is_cuda() : values.is_cpu();
    std::vector<at::Tensor> list{stays ? values
                                       : values.to(on_device_ ? device_ : at::Device(at::kCPU))};
    guarded([&] { exchange(list); });
    if (!stays) values.copy_(list.front());
  }

  // Errors of Gloo and of NCCL mean that another process does not answer.
  void guarded(const std::function<void()>& work) const {
    try {
      work();
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const std::exception& error) {
      throw LostProcess(
          fmt::format("another process of the training does not answer: {}", said(error)),
          "start all processes again with --or-resume: the run goes on from its newest checkpoint "
          "(`torchrun --max-restarts N` does so by itself)");
    }
  }

  RankOptions options_;
  at::Device device_;
  int exceptions_;  // under way when the group was made
  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<c10d::Backend> values_, control_;
  bool on_device_ = false;          // whether values_ is for tensors on a GPU
  std::vector<at::Tensor> notice_;  // [3] int64 of the last update, until all have said theirs
  c10::intrusive_ptr<c10d::Work> pending_;
};

}  // namespace

std::unique_ptr<Group> meet_by_c10d(const RankOptions& options, at::Device device) {
  try {
    return std::make_unique<C10dGroup>(options, device);
  } catch (const std::exception& error) {
    throw LostProcess(
        fmt::format("the {} processes of the training did not meet at {}:{}: {}", options.size,
                    options.address, options.port, said(error)),
        "start all of them, with one address and a port that is free there (MASTER_ADDR, "
        "MASTER_PORT)");
  }
}

}  // namespace tessera::ranks
