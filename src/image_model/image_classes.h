#pragma once

#include "image_model/image_model.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::image_model {

// The class of an image by its number; empty: images of no class.
using ClassRule = std::function<int64_t(int64_t number)>;

// One class after the other, again and again; empty for a model that is not told classes.
ClassRule all_classes_in_turn(const ImageModel& model);

// The rule for a label: one class for all images, by its name or number among `names`; empty: all
// classes in turn. Throws UsageError for a class that is not among them and for a model that is not
// told classes.
ClassRule class_rule(const std::string& label, const std::vector<std::string>& names,
                     const ImageModel& model);

// Throws UsageError, which names what was asked for, if a model is not told classes.
void require_told_classes(const ImageModel& model, std::string_view what);

// The classes of images first .. first + count - 1: [count] int64, or undefined for an empty rule.
at::Tensor classes_of(const ClassRule& rule, int64_t first, int64_t count);

}  // namespace tessera::image_model
