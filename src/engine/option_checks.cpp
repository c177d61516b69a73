#include "engine/option_checks.h"

#include "base/require.h"

#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>

namespace tessera::engine {
namespace {

template <class T>
void check_bounds(const RequestOption& option, const std::optional<T>& value, Spelling spelling) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (!value) return;
    const OptionInfo info = described(option);
    const auto number = static_cast<double>(*value);
    const std::string name = spelled(info.name, spelling);
    if (std::isinf(info.high))
      require_option(number >= info.low, "{} must be at least {}, got {}", name, info.low, *value);
    else
      require_option(number >= info.low && number <= info.high, "{} must be in [{}, {}], got {}",
                     name, info.low, info.high, *value);
  }
}

}  // namespace

void check_options(const GenerateOptions& options, const seq2seq::Seq2Seq& model,
                   const seq2seq::GenerationOptions& stored, Spelling spelling) {
  const bool searches = model.family() == nullptr;
  const auto check = [&](const RequestOption& option, const auto& value) {
    require_option(!value.has_value() || fits(option.models, model.family()),
                   "{} is not for models of kind '{}'", spelled(option.name, spelling),
                   name_of(model.options().kind));
    check_bounds(option, value, spelling);
  };
  visit_sampler(options, check);
  visit_generation(options, check);
  const double temperature = options.temperature.value_or(stored.temperature);
  require_option(seq2seq::is_temperature(temperature), "{} must be 0 or at least {}, got {}",
                 spelled("temperature", spelling), seq2seq::kMinTemperature, temperature);
  // The results of a search are already in order.
  require_option(
      !options.selection || !searches || temperature > 0 || options.selection->starts_with(kRerank),
      "{} chooses among sentences that are drawn, and this model searches for the "
      "likeliest one",
      spelled("selection", spelling));
}

void check_options(const SampleOptions& options, const image_model::ImageModel& model,
                   Spelling spelling) {
  const auto check = [&](const RequestOption& option, const auto& value) {
    require_option(!value.has_value() || fits(option.models, &model.family()), "{} is not for {}",
                   spelled(option.name, spelling), model.family().summary());
    check_bounds(option, value, spelling);
  };
  visit_sampler(options, check);
  visit_images(options, check);
  require_option(model.classes() > 0 || !options.guidance,
                 "{} needs a model that was trained with model.conditional=true",
                 spelled("guidance", spelling));
}

}  // namespace tessera::engine
