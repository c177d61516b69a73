#include "model/fitting_options.h"

#include "base/require.h"

#include <algorithm>
#include <array>

namespace tessera::model {
namespace {

constexpr std::array kOfDiffusion{
    "steps",   "r",      "sampler",    "path",          "clock",         "estimate",     "preset",
    "lengths", "noises", "candidates", "length-choice", "merge-repeats", "keep-repeats", "length"};
constexpr std::array kOfSearch{"beam", "length-penalty", "temperature", "top-k"};

std::string_view without_dashes(std::string_view name) {
  return name.starts_with("--") ? name.substr(2) : name;
}

}  // namespace

void require_fitting_options(ModelKind kind, const GenerationOptions& options,
                             std::span<const GivenOption> given) {
  const auto among = [](const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), without_dashes(name)) != names.end();
  };
  const bool diffusion = kind == ModelKind::diffusion;
  for (const GivenOption& option : given) {
    if (!option.given) continue;
    const bool fits =
        diffusion ? !among(kOfSearch, option.name) : !among(kOfDiffusion, option.name);
    require_option(fits, "{} is not for models of kind '{}'", option.name, name_of(kind));
    // What a search found is in order already.
    require_option(diffusion || without_dashes(option.name) != "selection" ||
                       options.temperature > 0 || options.selection == Selection::rerank,
                   "{} chooses among sentences that are drawn, and this model searches for the "
                   "likeliest one",
                   option.name);
  }
}

}  // namespace tessera::model
