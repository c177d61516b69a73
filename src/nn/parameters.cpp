#include "nn/parameters.h"

#include "base/numerals.h"
#include "base/require.h"
#include "base/rounding.h"
#include "nn/rounded_weight.h"
#include "tensor/machine_memory.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::nn {
namespace {

constexpr int64_t kAligned = 8;  // weights begin at multiples of this: 16 bytes of bfloat16
constexpr int64_t kMostNumbers = int64_t{1} << 40;  // no machine has memory for more

// Bytes per number, in float32: values and gradients; for AdamW also the average and two moments.
constexpr double kBytesToUse = 2 * 4, kBytesToTrain = 5 * 4;

constexpr const char* kSmallerModel =
    "lower its sizes: model.width first, which counts twice, then the number of layers";

}  // namespace

Weight Parameters::add(std::string name, std::vector<int64_t> shape, const Initial& initial,
                       Use use) {
  require(!values_.defined(), "weight '{}' was added after the weights were allocated", name);
  int64_t size = 1;
  bool fits = true;
  for (const int64_t side : shape)
    fits = fits && side >= 1 && !__builtin_mul_overflow(size, side, &size) && size <= kMostNumbers;
  require(fits, "weight '{}' cannot have the shape {}", name, shape_text(shape));
  count_ += size;
  room_ += round_up(size, kAligned);
  if (room_ > kMostNumbers)
    throw Error(
        fmt::format("the model would have more than {} parameters", with_commas(kMostNumbers)),
        kSmallerModel);
  entries_.push_back({std::move(name), std::move(shape), initial, use, 0, size, {}, {}});
  return Weight(&entries_.back().leaf, &entries_.back().rounded);
}

at::Tensor Parameters::view(const at::Tensor& buffer, const Entry& entry) const {
  return buffer.narrow(0, entry.offset, entry.size).view(entry.shape);
}

// The weights of a model for a GPU are made on the host first.
void Parameters::check_memory(at::Device device, bool trained) const {
  const double each = device.is_cpu() ? (trained ? kBytesToTrain : kBytesToUse) : sizeof(float);
  require_memory(each * static_cast<double>(room_),
                 fmt::format("the model would have {} parameters", with_commas(count_)),
                 kSmallerModel);
}

void Parameters::draw(const at::Tensor& buffer, uint64_t seed) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.initial.kind == Initial::Kind::ones) view(buffer, entry).fill_(1);
    if (entry.initial.kind != Initial::Kind::normal) continue;
    const at::Tensor sample = at::full({1}, static_cast<int64_t>(i), at::kLong);
    const StreamId id{seed, Purpose::initial_weights, 0};
    view(buffer, entry)
        .copy_(random_normal(id, sample, entry.shape, entry.initial.deviation).squeeze(0));
  }
}

void Parameters::allocate(at::Device device, Precision precision, const Start& start) {
  const c10::NoGradGuard no_grad;
  const bool stored = start.weights() != nullptr;
  if (stored) check_fit(*start.weights(), "");
  check_memory(device, /*trained=*/!stored);
  int64_t room = 0;
  for (const bool codes : {false, true}) {
    if (codes) network_ = room;
    for (Entry& entry : entries_) {
      if ((entry.use == Use::codes) != codes) continue;
      entry.offset = room;
      room += round_up(entry.size, kAligned);
    }
  }

  values_ = at::zeros({room}, at::TensorOptions().dtype(at::kFloat));
  stored ? read(*start.weights(), "", values_) : draw(values_, start.seed());
  values_ = values_.to(device);
  gradients_ = at::zeros_like(values_);

  precision_ = precision;
  const bool low = precision == Precision::bfloat16;
  if (low) {
    low_values_ = values_.narrow(0, 0, network_).to(at::kBFloat16);
    low_gradients_ = at::zeros_like(low_values_);
  }
  for (Entry& entry : entries_) {
    const bool low_entry = low && entry.use != Use::codes;
    entry.leaf = view(low_entry ? low_values_ : values_, entry).detach();
    if (precision == Precision::int8 && entry.use == Use::product)
      entry.rounded = rounded(entry, start);
    entry.leaf.requires_grad_(precision != Precision::int8);
  }
}

Weight::Rounded Parameters::rounded(const Entry& entry, const Start& start) {
  const int64_t outputs = entry.shape[0], inputs = entry.shape[1];
  if (start.weights() != nullptr)
    if (const auto stored = RoundedWeight::read(*start.weights(), entry.name))
      return std::make_unique<kernels::Int8Matrix>(stored->codes.const_data_ptr<int8_t>(),
                                                   stored->scales.const_data_ptr<float>(), outputs,
                                                   inputs);
  return std::make_unique<kernels::Int8Matrix>(entry.leaf.const_data_ptr<float>(), outputs, inputs);
}

void Parameters::publish() {
  const c10::NoGradGuard no_grad;
  if (low_values_.defined()) low_values_.copy_(values_.narrow(0, 0, network_));
}

void Parameters::gather_gradients() {
  const c10::NoGradGuard no_grad;
  // One list per type: an operation on a list needs tensors of one type.
  std::vector<at::Tensor> sums[2], gradients[2];
  for (Entry& entry : entries_) {
    at::Tensor& gradient = entry.leaf.mutable_grad();
    if (!gradient.defined()) continue;
    const bool low = gradient.scalar_type() == at::kBFloat16;
    sums[low].push_back(view(low ? low_gradients_ : gradients_, entry));
    gradients[low].push_back(gradient);
    gradient.reset();
  }
  for (const int low : {0, 1})
    if (!sums[low].empty()) at::_foreach_add_(sums[low], gradients[low]);
}

void Parameters::collect_gradients() {
  const c10::NoGradGuard no_grad;
  if (!low_gradients_.defined()) return;
  gradients_.narrow(0, 0, network_).add_(low_gradients_);
  low_gradients_.zero_();
}

void Parameters::zero_gradients() {
  const c10::NoGradGuard no_grad;
  gradients_.zero_();
}

std::map<std::string, at::Tensor> Parameters::named(const at::Tensor& buffer) const {
  std::map<std::string, at::Tensor> result;
  for (const Entry& entry : entries_) result.emplace(entry.name, view(buffer, entry));
  return result;
}

std::set<std::string> Parameters::names_of(Use use) const {
  std::set<std::string> names;
  for (const Entry& entry : entries_)
    if (entry.use == use) names.insert(entry.name);
  return names;
}

void Parameters::read(const safetensors::File& file, const std::string& prefix,
                      const at::Tensor& buffer) const {
  const c10::NoGradGuard no_grad;
  check_fit(file, prefix);
  for (const Entry& entry : entries_) {
    const std::string name = prefix + entry.name;
    const auto rounded = RoundedWeight::read(file, name);
    view(buffer, entry).copy_(rounded ? rounded->value() : file.tensor(name));
  }
}

void Parameters::check_fit(const safetensors::File& file, const std::string& prefix) const {
  std::vector<std::string> problems;
  for (const Entry& entry : entries_) {
    if (!file.contains(prefix + entry.name)) {
      problems.push_back(fmt::format("'{}' is missing", entry.name));
      continue;
    }
    const at::Tensor stored = file.tensor(prefix + entry.name);
    if (stored.sizes() != at::IntArrayRef(entry.shape))
      problems.push_back(fmt::format("'{}' has shape {}, not {}", entry.name,
                                     shape_text(stored.sizes()), shape_text(entry.shape)));
  }
  std::set<std::string> known;
  for (const Entry& entry : entries_) {
    known.insert(prefix + entry.name);
    if (RoundedWeight::read(file, prefix + entry.name))
      known.insert(RoundedWeight::scale_name(prefix + entry.name));
  }
  for (const std::string& name : file.names())
    if (name.starts_with(prefix) && !known.contains(name))
      problems.push_back(fmt::format("'{}' is left over", name.substr(prefix.size())));
  constexpr size_t kShown = 4;
  const size_t count = problems.size();
  problems.resize(std::min(count, kShown));
  require(count == 0, "the stored weights do not fit this model: {}{}", fmt::join(problems, ", "),
          count > kShown ? fmt::format(" and {} more", count - kShown) : "");
}

}  // namespace tessera::nn
