#include "report/translations.h"

#include "drawing/page.h"
#include "drawing/svg.h"
#include "files/files.h"
#include "files/json_file.h"
#include "report/out_of_noise.h"

#include <tessera/base/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace tessera::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostOthers = 2;  // that are shown beside a translation

TranslatedText translated(const Json& json) {
  TranslatedText found{json.at("source"), json.at("text"), {}, std::nullopt};
  if (json.contains("steps")) found.condensation = condensation_of(json);
  std::vector<std::pair<double, std::string>> others;  // with their agreement with the rest
  for (const Json& candidate : json.at("candidates")) {
    std::string text = candidate.at("text");
    const auto same = [&](const auto& other) { return other.second == text; };
    if (text != found.text && std::none_of(others.begin(), others.end(), same))
      others.emplace_back(candidate.at("expected_bleu"), std::move(text));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [score, text] : others) found.others.push_back(std::move(text));
  return found;
}

}  // namespace

std::vector<TranslatedText> read_translations(const std::filesystem::path& file) {
  std::vector<TranslatedText> texts;
  std::istringstream lines(read_file(file));
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      texts.push_back(translated(parse_json(line)));
    } catch (const nlohmann::json::exception&) {
      throw Error(fmt::format("'{}', line {}: not what `tessera generate --json` prints",
                              file.string(), number));
    }
  }
  return texts;
}

std::string translations_section(std::span<const TranslatedText> texts) {
  std::string rows, steps;
  for (const TranslatedText& each : texts) {
    std::string others;
    for (size_t k = 0; k < std::min(kMostOthers, each.others.size()); ++k)
      others += (k > 0 ? "<br>" : "") + drawing::escaped(each.others[k]);
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        drawing::escaped(each.source), drawing::escaped(each.text), others);
    if (each.condensation) steps = steps_table(*each.condensation, "Step by step");
  }
  return drawing::section(
      "A translator at work",
      "<p>All words of a sentence come out of noise at once. The model makes several candidates, "
      "and takes the one that the others agree with and that it is surest of.</p>\n"
      "<div class=\"scroll\"><table>\n<thead><tr><th>source</th><th>translation</th>"
      "<th>other candidates</th></tr></thead>\n<tbody>\n" +
          rows + "</tbody>\n</table></div>\n" + steps);
}

std::string picture_section(const std::string& uri, const std::string& title) {
  return drawing::section(
      "Pictures out of noise",
      fmt::format("<p>The same method with the bits of pixels in place of words.</p>\n"
                  "<figure><img src=\"{}\" alt=\"images that a model made: {}\" "
                  "style=\"max-width:100%;image-rendering:pixelated\"></figure>\n",
                  uri, drawing::escaped(title)));
}

}  // namespace tessera::report
