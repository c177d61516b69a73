#include "base/cuda_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <mutex>
#include <optional>

namespace tessera {
namespace {

// Memory that recorded graphs share. LibTorch takes it back with the last of them, and its number
// with it.
class SharedPool {
 public:
  auto join() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (users_++ == 0) id_ = at::cuda::graph_pool_handle();
    return id_;
  }
  void leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --users_;
  }

 private:
  std::mutex mutex_;
  int64_t users_ = 0;
  decltype(at::cuda::graph_pool_handle()) id_{};
};

SharedPool& shared_pool() {
  static SharedPool pool;
  return pool;
}

}  // namespace

struct CudaGraph::Impl {
  at::cuda::CUDAGraph graph;
  bool recorded = false;
};

CudaGraph::CudaGraph() : impl_(std::make_unique<Impl>()) {}
CudaGraph::~CudaGraph() {
  const bool recorded = impl_->recorded;
  impl_.reset();
  if (recorded) shared_pool().leave();
}

void CudaGraph::record(const std::function<void()>& work) {
  c10::cuda::getCurrentCUDAStream().synchronize();
  const auto pool = shared_pool().join();
  impl_->recorded = true;
  // Other threads (autograd's) may do what they like meanwhile.
  impl_->graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  try {
    work();
  } catch (...) {
    try {
      impl_->graph.capture_end();
    } catch (const std::exception&) {  // the first error is the one to tell
    }
    throw;
  }
  impl_->graph.capture_end();
}

void CudaGraph::run() {
  impl_->graph.replay();
}

bool CudaGraph::available(c10::Device device) {
  return device.is_cuda();
}

struct CudaStream::Impl {
  std::optional<c10::cuda::CUDAStreamGuard> guard;
};

CudaStream::CudaStream(c10::Device device) : impl_(std::make_unique<Impl>()) {
  if (!device.is_cuda()) return;
  // What was queued before must be done: the streams do not wait for each other.
  c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
  impl_->guard.emplace(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index()));
}

CudaStream::~CudaStream() {
  if (impl_->guard) impl_->guard->current_stream().synchronize();
}

}  // namespace tessera
