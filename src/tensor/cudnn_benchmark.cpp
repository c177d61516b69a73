#include "tensor/cudnn_benchmark.h"

#include <ATen/Context.h>

#include <mutex>

namespace tessera {
namespace {

std::mutex mutex;
int living = 0;
bool before = false;

}  // namespace

CudnnBenchmark::CudnnBenchmark(c10::Device device) : counts_(device.is_cuda()) {
  if (!counts_) return;
  const std::lock_guard lock(mutex);
  if (living++ > 0) return;
  before = at::globalContext().benchmarkCuDNN();
  at::globalContext().setBenchmarkCuDNN(true);
}

CudnnBenchmark::~CudnnBenchmark() {
  if (!counts_) return;
  const std::lock_guard lock(mutex);
  if (--living == 0) at::globalContext().setBenchmarkCuDNN(before);
}

}  // namespace tessera
