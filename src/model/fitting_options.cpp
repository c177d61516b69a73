#include "model/fitting_options.h"

#include "base/require.h"

namespace tessera::model {
namespace {

std::string_view without_dashes(std::string_view name) {
  return name.starts_with("--") ? name.substr(2) : name;
}

}  // namespace

void require_fitting_options(const Seq2Seq& model, const GenerationOptions& options,
                             std::span<const GivenOption> given) {
  for (const GivenOption& option : given) {
    if (!option.given) continue;
    const std::string_view name = without_dashes(option.name);
    require_option(model.uses(name), "{} is not for models of kind '{}'", option.name,
                   name_of(model.options().kind));
    require_option(name != "selection" || !model.ranks_candidates(options),
                   "{} chooses among sentences that are drawn, and this model searches for the "
                   "likeliest one",
                   option.name);
  }
}

}  // namespace tessera::model
