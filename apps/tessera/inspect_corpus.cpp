#include "corpus/corpus.h"
#include "inspection.h"
#include "text_chart.h"

#include <tessera/base/enum_names.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::app {
namespace {

constexpr size_t kFrequent = 20;  // symbols shown

// Lengths of sentences, end symbols included.
Report quantiles(std::vector<int64_t> lengths) {
  if (lengths.empty()) return nullptr;
  std::sort(lengths.begin(), lengths.end());
  const auto at = [&](double share) {
    return lengths[static_cast<size_t>(share * static_cast<double>(lengths.size() - 1))];
  };
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  return {{"mean", sum / static_cast<double>(lengths.size())},
          {"min", lengths.front()},
          {"q50", at(0.5)},
          {"q90", at(0.9)},
          {"q99", at(0.99)},
          {"max", lengths.back()}};
}

Report split_report(const corpus::SplitCounts& counts, const corpus::Split& split) {
  std::vector<int64_t> source, target;
  for (int64_t k = 0; k < split.size(); ++k) {
    source.push_back(split.source_length(k));
    target.push_back(split.target_length(k));
  }
  return {{"pairs", counts.kept},
          {"read", counts.read},
          {"empty", counts.empty},
          {"too_long", counts.too_long},
          {"uneven", counts.uneven},
          {"source_tokens", counts.source_tokens},
          {"target_tokens", counts.target_tokens},
          {"source_unknown", counts.source_unknown},
          {"target_unknown", counts.target_unknown},
          {"source_lengths", quantiles(std::move(source))},
          {"target_lengths", quantiles(std::move(target))}};
}

Report frequent_symbols(const text::Dictionary& dictionary) {
  std::vector<text::Id> ids(static_cast<size_t>(dictionary.size()));
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](text::Id a, text::Id b) {
    return dictionary.count(a) > dictionary.count(b);
  });
  Report symbols = Report::array();
  if (dictionary.count(ids.front()) <= 1) return symbols;  // they were not counted
  for (const text::Id id : ids) {
    if (symbols.size() == kFrequent || dictionary.count(id) == 0) break;
    symbols.push_back({{"symbol", dictionary.symbol(id)}, {"count", dictionary.count(id)}});
  }
  return symbols;
}

std::string lengths_row(const std::string& split, const char* side, const Report& lengths) {
  if (lengths.is_null()) return "";
  const auto number = [&](const char* key) { return with_commas(lengths[key].get<int64_t>()); };
  return fmt::format("  {:<7} {:<7} {:>8.1f} {:>6} {:>6} {:>6} {:>6} {:>6}\n", split, side,
                     lengths["mean"].get<double>(), number("min"), number("q50"), number("q90"),
                     number("q99"), number("max"));
}

}  // namespace

Report inspect_corpus(const std::filesystem::path& folder) {
  const corpus::Corpus corpus = corpus::Corpus::open(folder);
  const corpus::Manifest& manifest = corpus.manifest();
  const text::Dictionary& dictionary = corpus.tokenizer().dictionary();
  Report splits = Report::object();
  for (const char* name : {"train", "valid", "test"})  // these first
    if (corpus.has(name)) splits[name] = nullptr;
  for (const auto& [name, counts] : manifest.splits)
    splits[name] = split_report(counts, corpus.split(name));
  uint64_t bytes = 0;
  for (const auto& [name, stamp] : manifest.files) bytes += stamp.bytes;
  return {{"kind", "corpus"},
          {"path", folder.string()},
          {"format", corpus::Manifest::kFormatVersion},
          {"tessera", manifest.tessera_version},
          {"fingerprint", corpus.fingerprint()},
          {"bytes", bytes},
          {"tokenizer", name_of(corpus.tokenizer().kind())},
          {"raw", corpus.tokenizer().raw()},
          {"languages", languages_report(manifest.languages)},
          {"symbols", dictionary.size()},
          {"used_in_targets",
           dictionary.size() - static_cast<int64_t>(corpus.unused_in_targets().size())},
          {"splits", splits},
          {"frequent_symbols", frequent_symbols(dictionary)},
          {"options", manifest.options}};
}

std::string corpus_text(const Report& report) {
  const auto number = [](const Report& value) { return with_commas(value.get<int64_t>()); };
  std::string text = fmt::format(
      "corpus {}\n  {}, {} text{}, {} symbols, {} of them used in training targets\n"
      "  fingerprint {}, {}, written by tessera {}\n",
      report["path"].get<std::string>(), report["tokenizer"].get<std::string>(),
      report["raw"].get<bool>() ? "raw" : "tokenised", languages_text(report["languages"]),
      number(report["symbols"]), number(report["used_in_targets"]),
      report["fingerprint"].get<std::string>(), byte_count(report["bytes"].get<uint64_t>()),
      report["tessera"].get<std::string>());

  constexpr const char* kRow = "  {:<7} {:>11} {:>11} {:>8} {:>9} {:>8} {:>14} {:>14} {:>9}\n";
  text += fmt::format("\npairs\n");
  text += fmt::format(kRow, "split", "kept", "read", "empty", "too long", "uneven", "source tokens",
                      "target tokens", "unknown");
  for (const auto& [name, split] : report["splits"].items())
    text += fmt::format(kRow, name, number(split["pairs"]), number(split["read"]),
                        number(split["empty"]), number(split["too_long"]), number(split["uneven"]),
                        number(split["source_tokens"]), number(split["target_tokens"]),
                        with_commas(split["source_unknown"].get<int64_t>() +
                                    split["target_unknown"].get<int64_t>()));

  text +=
      fmt::format("\nlengths, end symbols included\n  {:<15} {:>8} {:>6} {:>6} {:>6} {:>6} {:>6}\n",
                  "split", "mean", "min", "50 %", "90 %", "99 %", "max");
  for (const auto& [name, split] : report["splits"].items())
    text += lengths_row(name, "source", split["source_lengths"]) +
            lengths_row(name, "target", split["target_lengths"]);

  if (!report["frequent_symbols"].empty()) text += "\nmost frequent symbols\n ";
  for (const Report& each : report["frequent_symbols"])
    text += fmt::format(" {} ({})", each["symbol"].get<std::string>(), number(each["count"]));
  if (!report["frequent_symbols"].empty()) text += "\n";
  text += "\noptions\n";
  for (const auto& [key, value] : report["options"].items())
    text += fmt::format("  {} = {}\n", key, value.get<std::string>());
  return text;
}

}  // namespace tessera::app
