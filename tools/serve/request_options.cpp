#include "serve/request_options.h"

#include "base/nearest_name.h"
#include "engine/option_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "serve/refusal.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::json;

// How requests are batched, and what random numbers depend on, is the server's business.
constexpr std::string_view kOwn[] = {"batch_tokens", "batch", "noise"};

template <class Visit>
void visit_all(GenerateOptions& options, Visit&& visit) {
  engine::visit_sampler(options, visit);
  engine::visit_generation(options, visit);
}
template <class Visit>
void visit_all(SampleOptions& options, Visit&& visit) {
  engine::visit_sampler(options, visit);
  engine::visit_images(options, visit);
}

Refusal wrong_field(const std::string& field, const std::string& message) {
  Refusal refusal(400, message);
  refusal.field = field;
  return refusal;
}

void set(std::optional<int64_t>& option, const Json& value, const std::string& field) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}))
    throw wrong_field(field, field + " must be a whole number");
  option = value.get<int64_t>();
}
void set(std::optional<double>& option, const Json& value, const std::string& field) {
  if (!value.is_number()) throw wrong_field(field, field + " must be a number");
  option = value.get<double>();
}
void set(std::optional<bool>& option, const Json& value, const std::string& field) {
  if (!value.is_boolean()) throw wrong_field(field, field + " must be true or false");
  option = value.get<bool>();
}
void set(std::optional<std::string>& option, const Json& value, const std::string& field) {
  if (!value.is_string() && !value.is_number_integer())
    throw wrong_field(field, field + " must be a text");
  option = value.is_string() ? value.get<std::string>() : value.dump();
}

template <class Options>
Options options_in(const Json& body, std::span<const std::string_view> others) {
  if (!body.is_object()) throw Refusal(400, "the body must be a JSON object");
  Options options;
  std::vector<std::string> known(others.begin(), others.end());
  visit_all(options, [&](const engine::RequestOption& option, auto& field) {
    if (std::ranges::find(kOwn, option.name) != std::end(kOwn)) return;
    known.emplace_back(option.name);
    if (const auto found = body.find(option.name); found != body.end() && !found->is_null())
      set(field, *found, option.name);
  });
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const auto& [name, value] : body.items())
    if (std::ranges::find(names, name) == names.end())
      throw wrong_field(name, fmt::format("there is no field '{}'{}", name.substr(0, 100),
                                          did_you_mean(name.substr(0, 100), names)));
  return options;
}

template <class Options>
Options merged_options(Options base, Options changes) {
  std::map<std::string, const void*> changed;  // fields of `changes` that are set
  visit_all(changes, [&](const engine::RequestOption& option, auto& field) {
    if (field) changed[option.name] = &field;
  });
  visit_all(base, [&](const engine::RequestOption& option, auto& field) {
    const auto found = changed.find(option.name);
    if (found != changed.end())
      field = *static_cast<const std::remove_reference_t<decltype(field)>*>(found->second);
  });
  return base;
}

}  // namespace

GenerateOptions text_options(const Json& body, std::span<const std::string_view> others) {
  GenerateOptions options = options_in<GenerateOptions>(body, others);
  // A name of a folder on this machine is nothing for clients to choose.
  if (options.selection && options.selection->starts_with(engine::kRerank))
    throw wrong_field("selection", "selection '" + std::string(engine::kRerank) +
                                       "' cannot be asked for in a request");
  return options;
}

SampleOptions image_options(const Json& body, std::span<const std::string_view> others) {
  return options_in<SampleOptions>(body, others);
}

GenerateOptions merged(GenerateOptions base, const GenerateOptions& changes) {
  // What a preset or a number of candidates stands for is not mixed with the defaults.
  if (changes.preset) base.steps = std::nullopt;
  if (changes.preset) base.candidates = base.selection = std::nullopt;
  if (changes.preset || changes.candidates) base.lengths = base.noises = std::nullopt;
  return merged_options<GenerateOptions>(std::move(base), changes);
}

SampleOptions merged(SampleOptions base, const SampleOptions& changes) {
  return merged_options<SampleOptions>(std::move(base), changes);
}

}  // namespace tessera::serve
