#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace tessera {

// Kernels that are recorded once and then started together, which costs the host next to nothing.
// Recording needs a current CudaStream, and work that neither waits for the device nor changes
// shapes. The graph keeps the memory that the work allocates. Graphs of one device share this
// memory: once another graph has run, tensors made by a graph must not be used any more.
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

// While an object lives, a stream other than the default one is current for this thread. Does
// nothing on the CPU.
class CudaStream {
 public:
  enum class Which {
    fresh,   // one that hardly anyone else uses
    second,  // always the same one: its memory is used again
  };

  explicit CudaStream(c10::Device device, Which which = Which::fresh);
  ~CudaStream();  // waits for its work

  // Waits for what this thread has queued.
  static void wait(c10::Device device);

  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
