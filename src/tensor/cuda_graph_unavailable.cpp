// Stands in for cuda_graph.cpp if LibTorch has no CUDA.
#include "tensor/cuda_graph.h"

#include <tessera/base/error.h>

namespace tessera {

struct CudaGraph::Impl {};
CudaGraph::CudaGraph() = default;
CudaGraph::~CudaGraph() = default;
void CudaGraph::record(const std::function<void()>&) {
  throw Error("this build has no CUDA graphs");
}
void CudaGraph::run() {
  throw Error("this build has no CUDA graphs");
}
bool CudaGraph::available(c10::Device) {
  return false;
}

struct CudaStream::Impl {};
CudaStream::CudaStream(c10::Device, Which) {}
void CudaStream::wait(c10::Device) {}
CudaStream::~CudaStream() = default;

}  // namespace tessera
