// Linked in place of the CUDA kernels if the library is built without them.

#include "kernels/bit_exit.h"
#include "kernels/device.h"
#include "kernels/exit_ratio.h"
#include "kernels/group_norm.h"
#include "kernels/join.h"
#include "kernels/philox.h"
#include "kernels/residual_norm.h"

#include <stdexcept>

namespace tessera::kernels::cuda {
namespace {

[[noreturn]] void unavailable() {
  throw std::runtime_error(
      "this build of tessera has no CUDA kernels (no nvcc when it was configured)");
}

}  // namespace

bool has_code_for(int) {
  return false;
}
bool has_hopper_code_for(int) {
  return false;
}
void set_hopper_kernels(bool) {}
bool built_in() {
  return false;
}
DeviceFacts facts_of(int) {
  unavailable();
}
std::string why_no_device() {
  return "this build has no CUDA kernels";
}
std::size_t scratch_bytes(int64_t, int64_t, int64_t) {
  unavailable();
}
void exit_ratio(const ExitRatio&, void*, void*) {
  unavailable();
}
void argmax_score(const ArgmaxScore&, void*, void*) {
  unavailable();
}
void bit_exit(const BitExit&, void*) {
  unavailable();
}
void group_norm(const GroupNormForward&, void*) {
  unavailable();
}
void group_norm_backward(const GroupNormBackward&, void*) {
  unavailable();
}
void join(const Join&, void*) {
  unavailable();
}
void join_backward(const JoinBackward&, void*) {
  unavailable();
}
void residual_norm(const ResidualNorm&, void*) {
  unavailable();
}
int64_t residual_norm_blocks(int64_t) {
  unavailable();
}
void residual_norm_backward(const ResidualNormBackward&, void*) {
  unavailable();
}
void normal(const StreamBatch&, float, float*, void*) {
  unavailable();
}
void uniform(const StreamBatch&, double*, void*) {
  unavailable();
}
void integers(const StreamBatch&, int64_t, uint64_t, int64_t*, void*) {
  unavailable();
}

}  // namespace tessera::kernels::cuda
