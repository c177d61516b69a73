#include "seq2seq/batch_workers.h"

#include "tensor/cuda_graph.h"

#include <tessera/tensor/value_checks.h>

#include <c10/core/GradMode.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace tessera::seq2seq {

void for_each_batch(std::span<const GenerationBatch> batches, at::Device device,
                    const std::function<void(const GenerationBatch&)>& work, size_t at_once) {
  if (at_once == 0) at_once = device.is_cuda() ? 2 : 1;
  at_once = std::min(at_once, batches.size());
  if (at_once <= 1) {
    for (const GenerationBatch& batch : batches) work(batch);
    return;
  }
  const bool with_gradients = c10::GradMode::is_enabled();
  const auto checks = ValueCheckScope::current();
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take_batches = [&](bool helping) {
    try {
      std::optional<CudaStream> own;
      if (helping) own.emplace(device, CudaStream::Which::second);
      for (size_t k = next++; k < batches.size(); k = next++) work(batches[k]);
    } catch (...) {
      next = batches.size();
      const std::lock_guard<std::mutex> lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  CudaStream::wait(device);  // the streams of other threads do not wait for this one
  std::vector<std::thread> helpers;
  for (size_t k = 1; k < at_once; ++k)
    helpers.emplace_back([&] {
      const c10::AutoGradMode mode(with_gradients);  // new threads start with gradients enabled
      const ValueCheckScope scope(checks);
      take_batches(/*helping=*/true);
    });
  take_batches(/*helping=*/false);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::seq2seq
