#include "tensor/cuda_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>

namespace tessera {
namespace {

// The memory pool that recorded graphs share. LibTorch frees the pool and its number with the last
// graph.
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

c10::cuda::CUDAStream second_stream(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = streams.find(device);
  if (found != streams.end()) return found->second;
  return streams.emplace(device, c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device))
      .first->second;
}

}  // namespace

struct CudaGraph::Impl {
  std::optional<at::cuda::CUDAGraph> graph;  // made when it is recorded: it needs a device
};

CudaGraph::CudaGraph() : impl_(std::make_unique<Impl>()) {}
CudaGraph::~CudaGraph() {
  const bool recorded = impl_->graph.has_value();
  impl_.reset();
  if (recorded) shared_pool().leave();
}

void CudaGraph::record(const std::function<void()>& work) {
  c10::cuda::getCurrentCUDAStream().synchronize();
  const auto pool = shared_pool().join();
  at::cuda::CUDAGraph& graph = impl_->graph.emplace();
  // Other threads (autograd's) may use CUDA freely meanwhile.
  graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
  try {
    work();
  } catch (...) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {  // the first error is the one to report
    }
    throw;
  }
  graph.capture_end();
}

void CudaGraph::run() {
  impl_->graph->replay();
}

bool CudaGraph::available(c10::Device device) {
  return device.is_cuda();
}

struct CudaStream::Impl {
  std::optional<c10::cuda::CUDAStreamGuard> guard;
};

CudaStream::CudaStream(c10::Device device, Which which) : impl_(std::make_unique<Impl>()) {
  if (!device.is_cuda()) return;
  wait(device);  // the streams do not wait for each other
  impl_->guard.emplace(which == Which::second ? second_stream(device.index())
                                              : c10::cuda::getStreamFromPool(
                                                    /*isHighPriority=*/false, device.index()));
}

void CudaStream::wait(c10::Device device) {
  if (device.is_cuda()) c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
}

CudaStream::~CudaStream() {
  try {
    if (impl_->guard) impl_->guard->current_stream().synchronize();
  } catch (const std::exception&) {  // the device has failed; its next use reports that
  }
}

}  // namespace tessera
