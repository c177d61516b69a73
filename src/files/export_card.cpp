#include "files/export_card.h"

#include "base/nearest_name.h"
#include "base/regular_file.h"
#include "base/require.h"
#include "config/toml.h"

#include <algorithm>
#include <string_view>

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostCardBytes = 1 << 20;

// Text fields by their keys.
constexpr std::pair<const char*, std::string ExportCard::*> kTexts[] = {
    {"title", &ExportCard::title},     {"description", &ExportCard::description},
    {"use", &ExportCard::use},         {"scores", &ExportCard::scores},
    {"speed", &ExportCard::speed},     {"training", &ExportCard::training},
    {"limits", &ExportCard::limits},   {"environment", &ExportCard::environment},
    {"licence", &ExportCard::licence}, {"attribution", &ExportCard::attribution}};
constexpr const char *kLicenceFile = "licence_file", *kLanguages = "languages",
                     *kClasses = "classes";

std::string trimmed(std::string text) {
  constexpr const char* kBlank = " \n\r\t";
  text.erase(0, std::min(text.find_first_not_of(kBlank), text.size()));
  text.erase(text.find_last_not_of(kBlank) + 1);
  return text;
}

std::string text_in(const fs::path& file, std::string_view key, const toml::node& node) {
  const auto* const text = node.as_string();
  require_option(text != nullptr, "{}:{}: '{}' must be a text", file.string(),
                 node.source().begin.line, key);
  return trimmed(text->get());
}

std::vector<std::string> list_in(const fs::path& file, std::string_view key,
                                 const toml::node& node) {
  const auto* const list = node.as_array();
  require_option(list != nullptr, "{}:{}: '{}' must be a list of texts", file.string(),
                 node.source().begin.line, key);
  std::vector<std::string> texts;
  for (const toml::node& item : *list) texts.push_back(text_in(file, key, item));
  return texts;
}

void read_key(ExportCard& card, const fs::path& file, std::string_view key,
              const toml::node& node) {
  std::vector<std::string_view> known{kLicenceFile, kLanguages, kClasses};
  for (const auto& [name, field] : kTexts) {
    known.push_back(name);
    if (key == name) {
      card.*field = text_in(file, key, node);
      return;
    }
  }
  if (key == kLicenceFile)
    card.licence_file = file.parent_path() / text_in(file, key, node);
  else if (key == kLanguages)
    card.languages = parse_languages(text_in(file, key, node));
  else if (key == kClasses)
    card.classes = list_in(file, key, node);
  else
    throw UsageError(fmt::format("{}:{}: a card has no '{}'{}", file.string(),
                                 node.source().begin.line, key, did_you_mean(key, known)));
}

std::string table(const char* heading, const ExportCard::Facts& facts) {
  if (facts.empty()) return "";
  std::string text = fmt::format("| {} | |\n| --- | --- |\n", heading);
  for (const auto& [name, value] : facts) text += fmt::format("| {} | {} |\n", name, value);
  return text;
}

// A section, if there is something to say.
std::string section(const char* title, const std::string& text) {
  const std::string said = trimmed(text);
  return said.empty() ? "" : fmt::format("\n## {}\n\n{}\n", title, said);
}

std::string toml_block(const std::string& toml) {
  return toml.empty() ? "" : fmt::format("```toml\n{}```", toml);
}

}  // namespace

ExportCard ExportCard::read(std::span<const fs::path> files) {
  ExportCard card;
  for (const fs::path& file : files) {
    try {
      const toml::table table = parse_toml(read_file(file, kMostCardBytes), file.string());
      for (const auto& [key, node] : table) read_key(card, file, key.str(), node);
    } catch (const toml::parse_error& error) {
      throw UsageError(fmt::format("{}:{}: {}", file.string(), error.source().begin.line,
                                   std::string(error.description())));
    }
  }
  require_option(card.attribution.find('\n') == std::string::npos,
                 "the attribution of a card is one line: longer texts belong to 'licence'");
  require_option(card.title.find('\n') == std::string::npos, "the title of a card is one line");
  return card;
}

std::string ExportCard::markdown(const Facts& facts, const Facts& about_training,
                                 const std::string& recipe, const std::string& options) const {
  std::string text = fmt::format("# {}\n", title);
  for (const std::string& part : {description, table("model", facts)})
    if (!part.empty()) text += "\n" + trimmed(part) + "\n";
  text += section("Use", use) + section("Scores", scores) + section("Speed", speed);
  // A table as every model's card has it: facts_of_card() finds it there again.
  text += section("Training", training + "\n\n" + table("training", about_training));
  text += section("Limits", limits) + section("Environment", environment);
  text += section("Licence", licence.empty() ? attribution : licence);
  text += section("Recipe", toml_block(recipe)) + section("Options", toml_block(options));
  return text;
}

}  // namespace tessera
