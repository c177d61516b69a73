#include "condensation.h"

#include "base/visible_text.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tessera::app {
namespace {

using text::Dictionary;
using text::Id;

constexpr std::string_view kBold = "\x1b[1;33m", kPlain = "\x1b[0m";
constexpr std::string_view kPieceMark = "@@", kJoinMark = "￭", kBlankMark = "▁";

// How a symbol is written, and whether a blank stands before or after it.
struct Piece {
  std::string_view text;
  bool blank_before = true, blank_after = true;
};

Piece piece_of(const text::Tokenizer& tokenizer, Id id) {
  std::string_view symbol = tokenizer.dictionary().symbol(id);
  if (tokenizer.kind() == text::TokenizerKind::characters)
    return {symbol == kBlankMark ? " " : symbol, false, false};
  Piece piece{symbol};
  const auto strip_end = [&](std::string_view mark) {
    if (!piece.text.ends_with(mark) || piece.text == mark) return;
    piece.text.remove_suffix(mark.size());
    piece.blank_after = false;
  };
  if (tokenizer.kind() == text::TokenizerKind::bpe) strip_end(kPieceMark);
  if (!tokenizer.raw()) return piece;
  strip_end(kJoinMark);
  if (piece.text.starts_with(kJoinMark) && piece.text != kJoinMark) {
    piece.text.remove_prefix(kJoinMark.size());
    piece.blank_before = false;
  }
  return piece;
}

// The sentence up to its end, with the symbols that differ from `before` marked.
std::string sentence(std::span<const int64_t> ids, std::span<const int64_t> before,
                     const text::Tokenizer& tokenizer, bool colours) {
  std::string text;
  bool open = false;  // a blank may come
  for (size_t k = 0; k < ids.size() && ids[k] != Dictionary::kEos; ++k) {
    const Piece piece = piece_of(tokenizer, static_cast<Id>(ids[k]));
    if (open && piece.blank_before) text += ' ';
    const bool marked = colours && !before.empty() && ids[k] != before[k];
    if (marked) text += kBold;
    text += visible(piece.text);
    if (marked) text += kPlain;
    open = piece.blank_after;
  }
  return text;
}

size_t differences(std::span<const int64_t> a, std::span<const int64_t> b) {
  size_t count = 0;
  for (size_t k = 0; k < a.size(); ++k) count += a[k] != b[k];
  return count;
}

}  // namespace

void Condensation::record(const model::GenerationStep& step) {
  steps_.push_back(
      {step.sample.t, step.sample.labels.cpu(), model_.codebook().decode(step.sample.x).cpu()});
}

std::string Condensation::text(const model::Generated& generated, const text::Tokenizer& tokenizer,
                               bool colours) const {
  if (steps_.empty()) return "";
  const auto length = static_cast<size_t>(generated.best().length);
  const auto row = [&](const at::Tensor& rows) {
    return std::span(rows.const_data_ptr<int64_t>() + generated.chosen * rows.size(1), length);
  };
  const auto percent = [&](size_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(length);
  };
  std::string text = "   step      t  changed  outside\n";
  std::span<const int64_t> before;
  for (size_t k = 0; k < steps_.size(); ++k) {
    const auto labels = row(steps_[k].labels);
    const size_t changed = before.empty() ? length : differences(labels, before);
    text += fmt::format("  {:>2}/{:<2} {:>6.0f}  {:>5.0f} %  {:>5.0f} %  {}\n", k + 1,
                        steps_.size(), steps_[k].t, percent(changed),
                        percent(differences(labels, row(steps_[k].present))),
                        sentence(labels, before, tokenizer, colours));
    before = labels;
  }
  return text;
}

}  // namespace tessera::app
