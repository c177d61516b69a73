#pragma once

#include <c10/core/Device.h>

namespace tessera {

// While an object lives, cuDNN tries its algorithms for new shapes and keeps the fastest. This is
// useful because all batches of images but the last have one shape. The switch is one for the whole
// process; it is restored when the last object is gone. Does nothing on the CPU.
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
