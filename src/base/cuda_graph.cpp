#include "base/cuda_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace tessera {
namespace {

auto shared_pool() {
  static const auto pool = at::cuda::graph_pool_handle();
  return pool;
}

}  // namespace

struct CudaGraph::Impl {
  at::cuda::CUDAGraph graph;
};

CudaGraph::CudaGraph() : impl_(std::make_unique<Impl>()) {}
CudaGraph::~CudaGraph() = default;

void CudaGraph::record(const std::function<void()>& work) {
  c10::cuda::getCurrentCUDAStream().synchronize();
  // Other threads (autograd's) may do what they like meanwhile.
  impl_->graph.capture_begin(shared_pool(), cudaStreamCaptureModeThreadLocal);
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
