#include "experiment/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tessera::experiment {
namespace {

// "--steps" and "sampler.steps" as "steps".
std::string short_name(const std::string& option) {
  return option.starts_with('-') ? option.substr(option.find_first_not_of('-'))
                                 : option.substr(option.rfind('.') + 1);
}

std::string joined(const std::string& name, const std::string& more) {
  return name.empty() || more.empty() ? name + more : name + ", " + more;
}

// The name of the model with one more override. Adds this model if it does not exist. An unknown
// model is reported later.
std::string variant(std::vector<Model>& models, const std::string& name, const Sweep& sweep,
                    const std::string& value) {
  const auto named = [&](const std::string& wanted) {
    return std::ranges::find(models, wanted, &Model::name);
  };
  const auto model = named(name);
  if (model == models.end()) return name;
  Model made = *model;
  made.name = fmt::format("{}-{}-{}", name, short_name(sweep.option), value);
  made.overrides.push_back(fmt::format("{}={}", sweep.option, value));
  const std::string made_name = made.name;
  if (named(made_name) == models.end()) models.push_back(std::move(made));
  return made_name;
}

// The product of the whole numbers in a value: 4 for "4", 21 for "7x3"; 1 if there is anything
// else.
double product_in(const std::string& value) {
  double product = 1;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find('x', begin), value.size());
    int64_t number = 0;
    const auto [stop, failure] = std::from_chars(value.data() + begin, value.data() + end, number);
    if (failure != std::errc() || stop != value.data() + end) return 1;
    product *= static_cast<double>(number);
    begin = end + 1;
  }
  return product;
}

double product_of(const Cell& cell) {
  double product = 1;
  for (const auto& [name, value] : cell.swept) product *= product_in(value);
  return product;
}

}  // namespace

std::vector<Cell> spread_out(const SweptCell& swept, std::vector<Model>& models) {
  std::vector<Cell> cells{swept.cell};
  cells.front().series = joined(swept.cell.row, swept.cell.column);
  for (size_t k = 0; k < swept.sweeps.size(); ++k) {
    const Sweep& sweep = swept.sweeps[k];
    const bool last = k + 1 == swept.sweeps.size();
    std::vector<Cell> spread;
    for (const Cell& cell : cells) {
      for (const std::string& value : sweep.values) {
        Cell& made = spread.emplace_back(cell);
        std::string& place = last ? made.column : made.row;
        const std::string setting = fmt::format("{} = {}", short_name(sweep.option), value);
        place = joined(place, setting);
        if (sweep.trains()) {
          made.model = variant(models, cell.model, sweep, value);
          made.series = joined(made.series, setting);
        } else {
          made.swept.emplace_back(short_name(sweep.option), value);
          made.evaluate.push_back(sweep.option);
          made.evaluate.push_back(value);
        }
      }
    }
    cells = std::move(spread);
  }
  if (swept.at_most)
    std::erase_if(cells, [&](const Cell& cell) { return product_of(cell) > *swept.at_most; });
  return cells;
}

}  // namespace tessera::experiment
