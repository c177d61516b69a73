#include "serve/interfaces/languages.h"

#include "serve/ascii.h"

#include <algorithm>
#include <array>

namespace tessera::serve {
namespace {

struct LanguageName {
  std::string_view code, name;
};

// Sorted by code (ISO 639-1).
constexpr auto kLanguageNames = std::to_array<LanguageName>({{"af", "Afrikaans"},
                                                             {"am", "Amharic"},
                                                             {"ar", "Arabic"},
                                                             {"az", "Azerbaijani"},
                                                             {"be", "Belarusian"},
                                                             {"bg", "Bulgarian"},
                                                             {"bn", "Bengali"},
                                                             {"bs", "Bosnian"},
                                                             {"ca", "Catalan"},
                                                             {"cs", "Czech"},
                                                             {"cy", "Welsh"},
                                                             {"da", "Danish"},
                                                             {"de", "German"},
                                                             {"el", "Greek"},
                                                             {"en", "English"},
                                                             {"eo", "Esperanto"},
                                                             {"es", "Spanish"},
                                                             {"et", "Estonian"},
                                                             {"eu", "Basque"},
                                                             {"fa", "Persian"},
                                                             {"fi", "Finnish"},
                                                             {"fr", "French"},
                                                             {"ga", "Irish"},
                                                             {"gl", "Galician"},
                                                             {"gu", "Gujarati"},
                                                             {"he", "Hebrew"},
                                                             {"hi", "Hindi"},
                                                             {"hr", "Croatian"},
                                                             {"hu", "Hungarian"},
                                                             {"hy", "Armenian"},
                                                             {"id", "Indonesian"},
                                                             {"is", "Icelandic"},
                                                             {"it", "Italian"},
                                                             {"ja", "Japanese"},
                                                             {"ka", "Georgian"},
                                                             {"kk", "Kazakh"},
                                                             {"km", "Khmer"},
                                                             {"kn", "Kannada"},
                                                             {"ko", "Korean"},
                                                             {"ky", "Kyrgyz"},
                                                             {"la", "Latin"},
                                                             {"lb", "Luxembourgish"},
                                                             {"lo", "Lao"},
                                                             {"lt", "Lithuanian"},
                                                             {"lv", "Latvian"},
                                                             {"mk", "Macedonian"},
                                                             {"ml", "Malayalam"},
                                                             {"mn", "Mongolian"},
                                                             {"mr", "Marathi"},
                                                             {"ms", "Malay"},
                                                             {"mt", "Maltese"},
                                                             {"my", "Burmese"},
                                                             {"nb", "Norwegian Bokmål"},
                                                             {"ne", "Nepali"},
                                                             {"nl", "Dutch"},
                                                             {"nn", "Norwegian Nynorsk"},
                                                             {"no", "Norwegian"},
                                                             {"pa", "Punjabi"},
                                                             {"pl", "Polish"},
                                                             {"ps", "Pashto"},
                                                             {"pt", "Portuguese"},
                                                             {"ro", "Romanian"},
                                                             {"ru", "Russian"},
                                                             {"si", "Sinhala"},
                                                             {"sk", "Slovak"},
                                                             {"sl", "Slovenian"},
                                                             {"so", "Somali"},
                                                             {"sq", "Albanian"},
                                                             {"sr", "Serbian"},
                                                             {"sv", "Swedish"},
                                                             {"sw", "Swahili"},
                                                             {"ta", "Tamil"},
                                                             {"te", "Telugu"},
                                                             {"tg", "Tajik"},
                                                             {"th", "Thai"},
                                                             {"tk", "Turkmen"},
                                                             {"tl", "Tagalog"},
                                                             {"tr", "Turkish"},
                                                             {"tt", "Tatar"},
                                                             {"uk", "Ukrainian"},
                                                             {"ur", "Urdu"},
                                                             {"uz", "Uzbek"},
                                                             {"vi", "Vietnamese"},
                                                             {"wa", "Walloon"},
                                                             {"yi", "Yiddish"},
                                                             {"yo", "Yoruba"},
                                                             {"zh", "Chinese"},
                                                             {"zu", "Zulu"}});

}  // namespace

std::string language_code(std::string_view code) {
  std::string result = lower_ascii(code);
  std::ranges::replace(result, '_', '-');
  return result;
}

std::string_view base_language(std::string_view code) {
  return code.substr(0, code.find('-'));
}

std::string language_name(std::string_view code) {
  const std::string_view base = base_language(code);
  const auto found = std::ranges::lower_bound(kLanguageNames, base, {}, &LanguageName::code);
  if (found == kLanguageNames.end() || found->code != base) return std::string(code);
  if (base == code) return std::string(found->name);
  return std::string(found->name) + " (" + std::string(code.substr(base.size() + 1)) + ")";
}

std::vector<std::string> languages_of(const Service& service) {
  std::vector<std::string> languages;
  const auto add = [&](const std::string& code) {
    if (std::ranges::find(languages, code) == languages.end()) languages.push_back(code);
  };
  for (const ModelFacts& model : service.models())
    if (knows_its_languages(model)) add(model.source);
  for (const ModelFacts& model : service.models())
    if (knows_its_languages(model)) add(model.target);
  return languages;
}

bool knows_its_languages(const ModelFacts& model) {
  return !model.makes_images && !model.source.empty() && !model.target.empty();
}

bool translates(const Service& service, std::string_view source, std::string_view target) {
  return std::ranges::any_of(service.models(), [&](const ModelFacts& model) {
    return knows_its_languages(model) && model.source == source && model.target == target;
  });
}

}  // namespace tessera::serve
