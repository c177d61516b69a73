#include "nn/int8.h"

#include "base/require.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace tessera::nn {
namespace {

using kernels::cpu::Int8Memory;
using kernels::cpu::Int8Sequence;

// Some sequences, of which a thread computes all layers: their rows stay in its cache.
struct Part {
  std::vector<Int8Sequence> sequences;
  int64_t first_row = 0, rows = 0;
};

// Parts of about equal size, at least one for every thread if there are as many sequences.
std::vector<Part> parts_of(const std::vector<Int8Sequence>& sequences) {
  constexpr int64_t kMostRows = 96;
  int64_t rows = 0;
  for (const Int8Sequence& sequence : sequences) rows += sequence.length;
  const int64_t threads = at::get_num_threads();
  const int64_t wanted = std::min(kMostRows, (rows + threads - 1) / threads);
  std::vector<Part> parts;
  int64_t row = 0;
  for (const Int8Sequence& sequence : sequences) {
    if (parts.empty() || parts.back().rows + sequence.length / 2 > wanted)
      parts.push_back({{}, row, 0});
    parts.back().sequences.push_back(sequence);
    parts.back().rows += sequence.length;
    row += sequence.length;
  }
  return parts;
}

// Positions that others may see.   [.., 1, 1, L] -> [.., L] bool
at::Tensor visible_by(const at::Tensor& bias) {
  return bias.eq(0).squeeze(1).squeeze(1);
}

std::vector<int64_t> counts(const at::Tensor& visible) {
  const at::Tensor sums = visible.sum(1).to(at::kLong).contiguous();
  const auto* const first = sums.const_data_ptr<int64_t>();
  return {first, first + sums.numel()};
}

// What the sequences of a call attend to: for every row of the memories, all layers.
class SharedMemory {
 public:
  SharedMemory(const std::vector<Memory>& memories, const at::Tensor& bias)
      : layers_(memories.size()) {
    if (memories.empty()) return;
    const at::Tensor visible = visible_by(bias);
    lengths_ = counts(visible);
    const at::Tensor places = at::arange(visible.size(1)).unsqueeze(0);
    require(at::equal(visible, places.lt(visible.sum(1, /*keepdim=*/true))),
            "a memory in 8 bits must have its padding at the end");
    for (size_t row = 0; row < lengths_.size(); ++row)
      for (const Memory& memory : memories) all_.push_back(place_of(memory, row));
  }

  int64_t rows() const { return static_cast<int64_t>(lengths_.size()); }
  const Int8Memory* of(size_t row) const { return all_.data() + row * layers_; }
  int64_t length(size_t row) const { return lengths_[row]; }

 private:
  static Int8Memory place_of(const Memory& memory, size_t row) {
    const at::Tensor &keys = memory.keys, &values = memory.values;
    require(keys.stride(3) == 1 && keys.stride(1) == keys.size(3) &&
                keys.strides() == values.strides() && keys.scalar_type() == at::kFloat,
            "a memory in 8 bits must have the heads of a position side by side, in float32");
    const int64_t offset = static_cast<int64_t>(row) * keys.stride(0);
    return {keys.const_data_ptr<float>() + offset, values.const_data_ptr<float>() + offset,
            keys.stride(2)};
  }

  size_t layers_;
  std::vector<int64_t> lengths_;
  std::vector<Int8Memory> all_;
};

}  // namespace

bool has_int8_kernels() {
  return !kernels::cpu::available_int8_kernels().empty();
}

const kernels::cpu::Int8Kernels& int8_kernels() {
  require(has_int8_kernels(), "this CPU cannot compute in 8 bits: it has no AVX2");
  return *kernels::cpu::available_int8_kernels().front();
}

kernels::cpu::Int8Linear int8_form(const Linear& layer) {
  return {layer.weight.rounded(),
          layer.bias.defined() ? layer.bias->const_data_ptr<float>() : nullptr};
}

at::Tensor int8_linear(const Linear& layer, const at::Tensor& x) {
  constexpr int64_t kRowsOfATask = 24;
  const auto form = int8_form(layer);
  const int64_t inputs = form.matrix->inputs(), outputs = form.matrix->outputs();
  const at::Tensor from = x.to(at::kFloat).contiguous();
  auto sizes = x.sizes().vec();
  sizes.back() = outputs;
  at::Tensor result = at::empty(sizes, from.options());
  const float* const read = from.const_data_ptr<float>();
  float* const written = result.mutable_data_ptr<float>();
  at::parallel_for(0, from.numel() / inputs, kRowsOfATask, [&](int64_t begin, int64_t end) {
    int8_kernels().linear(form, read + begin * inputs, end - begin, written + begin * outputs);
  });
  return result;
}

at::Tensor Int8Transformer::operator()(const at::Tensor& x, const at::Tensor& bias,
                                       const std::vector<Memory>& memories,
                                       const at::Tensor& memory_bias) const {
  const int64_t rows = x.size(0), length = x.size(1);
  const at::Tensor visible = visible_by(bias).expand({rows, length});
  const at::Tensor places = visible.reshape({-1}).nonzero().squeeze(1);
  at::Tensor states = x.reshape({rows * length, stack_.width}).index_select(0, places);

  const std::vector<int64_t> lengths = counts(visible);
  const SharedMemory memory(memories, memory_bias);
  std::vector<Int8Sequence> sequences;
  for (int64_t row = 0; row < rows; ++row) {
    Int8Sequence sequence{.length = lengths[static_cast<size_t>(row)]};
    if (memory.rows() > 0) {
      const auto shared = static_cast<size_t>(row / (rows / memory.rows()));
      sequence.memories = memory.of(shared);
      sequence.memory_length = memory.length(shared);
    }
    sequences.push_back(sequence);
  }
  const std::vector<Part> parts = parts_of(sequences);
  float* const first = states.mutable_data_ptr<float>();
  at::parallel_for(0, static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const Part& part = parts[static_cast<size_t>(k)];
      int8_kernels().run(stack_, part.sequences, first + part.first_row * stack_.width);
    }
  });
  return x.reshape({rows * length, stack_.width}).index_copy(0, places, states).view(x.sizes());
}

}  // namespace tessera::nn
