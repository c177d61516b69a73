#include "engine/symbol_text.h"

namespace tessera::engine {
namespace {

using text::Dictionary;

constexpr std::string_view kPieceMark = "@@", kJoinMark = "￭", kBlankMark = "▁";
constexpr auto kMask = Dictionary::kBos;  // only models that begin with masks show it

}  // namespace

SymbolText symbol_text(const text::Tokenizer& tokenizer, text::Id id) {
  if (id == kMask) return {"□"};
  if (id == Dictionary::kPad || id == Dictionary::kEos) return {};
  const std::string_view symbol = tokenizer.dictionary().symbol(id);
  if (tokenizer.kind() == text::TokenizerKind::characters)
    return {symbol == kBlankMark ? " " : symbol, false, false};
  SymbolText written{symbol};
  const auto strip_end = [&](std::string_view mark) {
    if (!written.text.ends_with(mark) || written.text == mark) return;
    written.text.remove_suffix(mark.size());
    written.blank_after = false;
  };
  if (tokenizer.kind() == text::TokenizerKind::bpe) strip_end(kPieceMark);
  if (!tokenizer.raw()) return written;
  strip_end(kJoinMark);
  if (written.text.starts_with(kJoinMark) && written.text != kJoinMark) {
    written.text.remove_prefix(kJoinMark.size());
    written.blank_before = false;
  }
  return written;
}

}  // namespace tessera::engine
