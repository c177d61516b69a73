#pragma once

#include <c10/core/Device.h>

namespace tessera {

// While one lives, cuDNN tries its algorithms for new shapes and keeps the fastest: all batches of
// images but the last have one shape. A switch of the whole process, which is put back as it was
// when the last one is gone. Nothing on the CPU.
class CudnnBenchmark {
 public:
  explicit CudnnBenchmark(c10::Device device);
  ~CudnnBenchmark();
  CudnnBenchmark(const CudnnBenchmark&) = delete;
  CudnnBenchmark& operator=(const CudnnBenchmark&) = delete;

 private:
  bool counts_;
};

}  // namespace tessera
