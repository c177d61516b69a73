#include "train/learner.h"

#include "base/require.h"
#include "nn/seeded_dropout.h"
#include "tensor/tensor_checks.h"
#include "train/schedule.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera::train {
namespace {

// Indices into sums_; what the model measures comes after them.
enum Sum : int64_t { kLoss, kElements, kNorm, kSkipped, kMeasures };

// Dropout is a function of the step, and of the batch in it.
uint64_t dropout_seed(uint64_t seed, int64_t step, int64_t part) {
  RandomStream stream({seed, Purpose::dropout, static_cast<uint64_t>(step)},
                      static_cast<uint64_t>(part));
  const uint64_t bits = stream.bits();
  return bits << 32 | stream.bits();
}

// Always copies into the same memory, because recorded kernels read it.
void keep(Draws& places, const Draws& drawn) {
  places.resize(drawn.size());
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (places[i].defined())
      places[i].copy_(drawn[i]);
    else
      places[i] = drawn[i].clone();
  }
}

// From the host to the device, without waiting for it.
void send(const at::Tensor& host, const at::Tensor& place) {
  place.copy_(place.is_cuda() ? host.pin_memory() : host, /*non_blocking=*/true);
}

}  // namespace

Learner::Learner(nn::Trainable& model, const LearnerOptions& options, uint64_t seed,
                 ranks::Group& group)
    : model_(model),
      options_(options),
      seed_(seed),
      group_(group),
      graphs_(options.graphs && CudaGraph::available(model.device())),
      leaf_(model.parameters().values().detach().requires_grad_()),
      adamw_({leaf_}, options.adamw) {
  require_option(options.accumulate >= 1, "train.accumulate must be at least 1, got {}",
                 options.accumulate);
  require_option(
      group.size() <= options.accumulate,
      "train.accumulate = {} has fewer batches than there are processes ({}): "
      "train.accumulate={} makes updates of {} batches; lower data.tokens or data.batch "
      "if they are to stay as large as they were. A run that was begun keeps its number: start "
      "fewer processes",
      options.accumulate, group.size(), group.size(), group.size());
  require_option(group.alone() || model.state().empty(),
                 "a model that adapts more than its weights in training (an adaptive schedule, the "
                 "codes of an autoencoder) trains in one process only");
  const nn::Parameters& parameters = model.parameters();
  leaf_.mutable_grad() = parameters.gradients();
  average_ = parameters.values().clone();
  learning_rate_ = at::zeros({}, average_.options());
  average_share_ = at::zeros({}, average_.options());
  const auto measures = static_cast<int64_t>(model.measures().size());
  sums_ = at::zeros({kMeasures + measures}, average_.options());
}

Learner::Slot& Learner::slot(const nn::Inputs& batch) {
  std::vector<std::vector<int64_t>> sizes;
  for (const at::Tensor& input : batch) sizes.push_back(input.sizes().vec());
  std::unique_ptr<Slot>& slot = slots_[sizes];
  if (slot) return *slot;
  slot = std::make_unique<Slot>();
  slot->variants = std::vector<Slot::Variant>(static_cast<size_t>(model_.variants()));
  for (const at::Tensor& input : batch)
    slot->inputs.push_back(at::empty_like(input, input.options().device(model_.device())));
  return *slot;
}

// Loss and gradient of one batch, added to what is there.
void Learner::accumulate(Slot& slot, int64_t variant) {
  const nn::TrainingLoss loss =
      model_.loss_of(slot.inputs, slot.draws, variant, nn::Mode::training);
  const double share = 1.0 / static_cast<double>(options_.accumulate);
  (loss.total * share).backward();
  model_.parameters().gather_gradients();
  if (rule_ == UpdateRule::joint) model_.parameters().collect_gradients();

  const c10::NoGradGuard no_grad;
  sums_.select(0, kLoss).add_(loss.total.detach(), share);
  sums_.select(0, kElements).add_(loss.elements);
  sums_.narrow(0, kMeasures, loss.measures.size(0)).add_(loss.measures, share);
}

// The update from the complete gradient.
void Learner::apply() {
  const c10::NoGradGuard no_grad;
  nn::Parameters& parameters = model_.parameters();
  const at::Tensor norm = at::linalg_vector_norm(parameters.gradients());
  // A gradient that is not finite would ruin the run, so its update is left out.
  const at::Tensor skip = norm.isfinite().logical_not().to(at::kFloat);
  const at::Tensor divisor =
      options_.clip > 0 ? (norm / options_.clip).clamp_min(1) : at::ones_like(norm);
  adamw_.step(learning_rate_, divisor, skip);
  average_.lerp_(parameters.values(), average_share_);
  parameters.zero_gradients();
  parameters.publish();
  sums_.narrow(0, kNorm, 2).add_(at::stack({norm, skip}));
}

// If batches of an update had variants of their own, processes would wait for the one whose variant
// takes longest.
int64_t Learner::variant_for(int64_t step, int64_t number) const {
  const int64_t own = rule_ == UpdateRule::separate ? number : 0;
  const auto counter = static_cast<uint64_t>(step * options_.accumulate + own);
  return model_.variant(RandomStream({seed_, Purpose::self_conditioning, counter}).uniform());
}

void Learner::update(int64_t step, std::span<const nn::Inputs> batches, double learning_rate) {
  const int64_t own = (options_.accumulate - group_.rank() + group_.size() - 1) / group_.size();
  require(static_cast<int64_t>(batches.size()) == own, "this process takes {} batches, got {}", own,
          batches.size());
  model_.updated(step);
  int64_t number = group_.rank();
  for (const nn::Inputs& batch : batches) {
    Slot& slot = this->slot(batch);
    for (size_t i = 0; i < batch.size(); ++i) send(batch[i], slot.inputs[i]);
    const auto counter = static_cast<uint64_t>(step * options_.accumulate + number);
    keep(slot.draws, model_.draw_for(slot.inputs, {{seed_, Purpose::training_noise, counter},
                                                   {seed_, Purpose::training_time, counter}}));
    const nn::SeededDropout dropout(model_.device(), dropout_seed(seed_, step, number));
    const int64_t variant = variant_for(step, number);
    number += group_.size();

    // The first batch of a shape runs as it is (libraries set themselves up), the second is
    // recorded.
    auto& [graph, seen] = slot.variants.at(static_cast<size_t>(variant));
    if (!graphs_ || seen == 0) {
      accumulate(slot, variant);
    } else {
      if (seen == 1) graph.record([&] { accumulate(slot, variant); });
      graph.run();
    }
    seen = std::min(seen + 1, 2);
  }

  if (rule_ == UpdateRule::separate) model_.parameters().collect_gradients();
  group_.sum(model_.parameters().gradients());

  learning_rate_.fill_(learning_rate);
  average_share_.fill_(1 - ema_decay(options_.ema, step));
  if (!graphs_ || applied_ == 0) {
    apply();
  } else {
    if (applied_ == 1) apply_graph_.record([&] { apply(); });
    apply_graph_.run();
  }
  applied_ = std::min(applied_ + 1, 2);
  ++updates_;
}

Measured Learner::read() {
  at::Tensor sums = sums_.clone();
  group_.sum(sums);
  // The norm and what was left out belong to whole updates: they are equal in all processes.
  sums.narrow(0, kNorm, 2).copy_(sums_.narrow(0, kNorm, 2));
  const at::Tensor host = (sums / static_cast<double>(std::max<int64_t>(updates_, 1))).to(at::kCPU);
  const float* mean = host.const_data_ptr<float>();
  Measured measured{.updates = updates_,
                    .loss = mean[kLoss],
                    .parts = {},
                    .gradient_norm = mean[kNorm],
                    .elements = mean[kElements],
                    .skipped = mean[kSkipped] * static_cast<double>(updates_)};
  const auto names = model_.measures();
  for (size_t i = 0; i < names.size(); ++i)
    measured.parts.emplace_back(names[i], mean[kMeasures + i]);
  sums_.zero_();
  updates_ = 0;
  return measured;
}

void Learner::start_from(const safetensors::File& model) {
  const nn::Parameters& parameters = model_.parameters();
  parameters.read(model, "", parameters.values());
  average_.copy_(parameters.values());
  model_.refresh();
}

safetensors::Tensors Learner::state() const {
  const nn::Parameters& parameters = model_.parameters();
  safetensors::Tensors tensors;
  const auto add = [&](const std::string& prefix, const at::Tensor& buffer) {
    for (const auto& [name, tensor] : parameters.named(buffer))
      tensors.emplace(prefix + name, tensor);
  };
  add("weights.", parameters.values());
  add("average.", average_);
  const auto moments = adamw_.state();
  add("means.", moments.at("means")[0]);
  add("squares.", moments.at("squares")[0]);
  tensors.emplace("updates", moments.at("steps")[0]);
  for (const auto& [name, tensor] : model_.state()) tensors.emplace("model." + name, tensor);
  return tensors;
}

void Learner::share_state() {
  const nn::Parameters& parameters = model_.parameters();
  const auto moments = adamw_.state();
  for (const at::Tensor& each : {parameters.values(), average_, moments.at("means")[0],
                                 moments.at("squares")[0], moments.at("steps")[0]})
    group_.broadcast(each);
  model_.refresh();
}

void Learner::restore(const safetensors::File& file) {
  const nn::Parameters& parameters = model_.parameters();
  const auto moments = adamw_.state();
  parameters.read(file, "weights.", parameters.values());
  parameters.read(file, "average.", average_);
  parameters.read(file, "means.", moments.at("means")[0]);
  parameters.read(file, "squares.", moments.at("squares")[0]);
  at::Tensor updates = moments.at("steps")[0];
  const at::Tensor stored = file.tensor("updates");
  require_shape(stored, updates.sizes(), "updates");
  updates.copy_(stored);
  model_.restore(file, "model.");
  model_.refresh();
}

}  // namespace tessera::train
