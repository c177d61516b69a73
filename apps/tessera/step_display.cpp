#include "step_display.h"

#include "base/visible_text.h"
#include "engine/symbol_text.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tessera::app {
namespace {

using text::Dictionary;
using text::Id;

constexpr size_t kColumns = 100;  // of a line, if possible
constexpr std::string_view kPointTitle = "noisy point", kEstimateTitle = "estimate";
constexpr std::string_view kBold = "\x1b[1;33m", kPlain = "\x1b[0m";

// The width of a text in which every character takes one column.
size_t columns_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Text, and how wide it is without its colours.
struct Shown {
  std::string text;
  size_t columns = 0;
};

// All symbols, with a dot for those that are not text. Symbols that differ from `before` are bold
// if colours are on.
Shown shown(std::span<const int64_t> ids, std::span<const int64_t> before,
            const text::Tokenizer& tokenizer, bool colours) {
  Shown result;
  bool open = false;  // a blank may follow
  for (size_t k = 0; k < ids.size(); ++k) {
    const engine::SymbolText piece = engine::symbol_text(tokenizer, static_cast<Id>(ids[k]));
    const std::string text = visible(piece.text.empty() ? "·" : piece.text);
    const bool blank = open && piece.blank_before;
    if (blank) result.text += ' ';
    const bool bold = colours && !before.empty() && ids[k] != before[k];
    result.text += bold ? fmt::format("{}{}{}", kBold, text, kPlain) : text;
    result.columns += (blank ? 1 : 0) + columns_of(text);
    open = piece.blank_after;
  }
  return result;
}

// Symbols before the end of the sentence.
size_t length_of(std::span<const int64_t> ids) {
  return static_cast<size_t>(std::find(ids.begin(), ids.end(), Dictionary::kEos) - ids.begin());
}

size_t differences(std::span<const int64_t> a, std::span<const int64_t> b) {
  size_t count = 0;
  for (size_t k = 0; k < a.size(); ++k) count += a[k] != b[k];
  return count;
}

}  // namespace

std::string StepDisplay::legend() {
  return "noisy point: what the network is given, decoded (□: a mask)\n"
         "estimate: what the network sees in that\n"
         "changed: symbols of the estimate that are not those of the step before\n"
         "outside: symbols whose noisy point does not decode to the estimate; with r = 1 points\n"
         "         stay on the borders of their cells, and it need not fall to 0\n\n";
}

void StepDisplay::record(const TextStep& step) {
  steps_.push_back({step.sample.t, step.sample.labels.cpu(), step.noisy.cpu()});
}

std::vector<StepDisplay::View> StepDisplay::views(const TextResult& result) const {
  const auto length = static_cast<size_t>(result.candidates[result.chosen].length);
  const auto row = [&](const at::Tensor& rows) {
    return std::span(rows.const_data_ptr<int64_t>() + result.chosen * rows.size(1), length);
  };
  const auto share = [&](size_t count) {
    return static_cast<double>(count) / static_cast<double>(length);
  };
  std::vector<View> all;
  for (const Step& step : steps_) {
    View view{step.t, 1, 0, row(step.present), row(step.labels), {}, {}};
    view.outside = share(differences(view.labels, view.point));
    if (!all.empty()) {
      view.point_before = all.back().point;
      view.labels_before = all.back().labels;
      view.changed = share(differences(view.labels, view.labels_before));
    }
    all.push_back(view);
  }
  return all;
}

std::string StepDisplay::text(const TextResult& result, const text::Tokenizer& tokenizer,
                              bool colours) const {
  if (steps_.empty()) return "";
  struct Line {
    std::string head;
    Shown point, estimate;
  };
  std::vector<Line> lines;
  size_t point_columns = kPointTitle.size(), estimate_columns = 0;
  for (const View& view : views(result)) {
    const auto labels = view.labels.first(length_of(view.labels));
    lines.push_back(
        {fmt::format("  {:>3}/{:<3} {:>6.0f}  {:>5.0f} %  {:>5.0f} %  ", lines.size() + 1,
                     steps_.size(), view.t, 100 * view.changed, 100 * view.outside),
         shown(view.point, view.point_before, tokenizer, colours),
         shown(labels, view.labels_before, tokenizer, colours)});
    point_columns = std::max(point_columns, lines.back().point.columns);
    estimate_columns = std::max(estimate_columns, lines.back().estimate.columns);
  }
  // If the texts are too wide to stand side by side, one stands below the other.
  const size_t head_columns = lines.front().head.size();
  const bool beside = head_columns + point_columns + 2 + estimate_columns <= kColumns;
  const auto gap = [&](size_t columns) { return std::string(point_columns + 2 - columns, ' '); };
  std::string text =
      fmt::format("     step      t  changed  outside  {}{}{}\n", kPointTitle,
                  beside ? gap(kPointTitle.size()) : ", below it the ", kEstimateTitle);
  for (const Line& line : lines)
    text += fmt::format("{}{}{}{}\n", line.head, line.point.text,
                        beside ? gap(line.point.columns) : '\n' + std::string(head_columns, ' '),
                        line.estimate.text);
  return text;
}

nlohmann::ordered_json StepDisplay::json(const TextResult& result,
                                         const text::Tokenizer& tokenizer) const {
  auto steps = nlohmann::ordered_json::array();
  if (steps_.empty()) return steps;
  for (const View& view : views(result))
    steps.push_back({{"t", view.t},
                     {"changed", view.changed},
                     {"outside", view.outside},
                     {"point", shown(view.point, {}, tokenizer, false).text},
                     {"estimate", shown(view.labels, {}, tokenizer, false).text}});
  return steps;
}

}  // namespace tessera::app
