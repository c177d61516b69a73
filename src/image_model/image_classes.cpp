#include "image_model/image_classes.h"

#include "base/nearest_name.h"
#include "base/require.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace tessera::image_model {
namespace {

int64_t class_number(const std::string& label, const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), label);
  if (named != names.end()) return named - names.begin();
  int64_t number = -1;
  const auto [end, failure] = std::from_chars(label.data(), label.data() + label.size(), number);
  const bool good = failure == std::errc() && end == label.data() + label.size() && number >= 0 &&
                    number < static_cast<int64_t>(names.size());
  const std::vector<std::string_view> known(names.begin(), names.end());
  require_option(good, "the model has no class '{}'{}: it has {}", label,
                 did_you_mean(label, known), fmt::join(names, ", "));
  return number;
}

}  // namespace

ClassRule all_classes_in_turn(const ImageModel& model) {
  const int64_t classes = model.classes();
  if (classes == 0) return {};
  return [classes](int64_t number) { return number % classes; };
}

void require_told_classes(const ImageModel& model, std::string_view what) {
  require_option(model.classes() > 0,
                 "{} needs a model that was trained with model.conditional=true", what);
}

ClassRule class_rule(const std::string& label, const std::vector<std::string>& names,
                     const ImageModel& model) {
  if (label.empty()) return all_classes_in_turn(model);
  require_told_classes(model, "a class");
  return [number = class_number(label, names)](int64_t) { return number; };
}

at::Tensor classes_of(const ClassRule& rule, int64_t first, int64_t count) {
  if (!rule) return {};
  std::vector<int64_t> classes;
  for (int64_t i = first; i < first + count; ++i) classes.push_back(rule(i));
  return at::tensor(classes, at::kLong);
}

}  // namespace tessera::image_model
