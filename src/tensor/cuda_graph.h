#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace tessera {

// Kernels recorded once and started together ever after, which costs the host next to nothing.
// Recording needs a CudaStream in force, and work that neither waits for the device nor changes
// shapes. What the work allocates stays its own; graphs of one device share that memory, so nothing
// a graph leaves in tensors it made can be used once another one ran.
class CudaGraph {
 public:
  CudaGraph();
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void record(const std::function<void()>& work);  // does not run it
  void run();

  static bool available(c10::Device device);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Makes a stream other than the default one current for this thread, for as long as it lives.
// Nothing on the CPU.
class CudaStream {
 public:
  enum class Which {
    fresh,   // one that hardly anyone else uses
    second,  // always the same one: memory that was used in it is used again
  };

  explicit CudaStream(c10::Device device, Which which = Which::fresh);
  ~CudaStream();  // when its work is done

  // Waits for what this thread has queued.
  static void wait(c10::Device device);

  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
