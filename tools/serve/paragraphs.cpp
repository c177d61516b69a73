#include "serve/paragraphs.h"

#include "base/require.h"
#include "base/visible_text.h"
#include "serve/interfaces/languages.h"
#include "serve/markup.h"
#include "serve/refusal.h"
#include "text/sentences.h"
#include "text/utf8.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tessera::serve {
namespace {

bool has_letters(std::string_view text) {
  const std::u32string characters = text::decode_utf8(text);
  return std::ranges::any_of(characters, [](char32_t c) {
    return text::character_class(c) == text::CharacterClass::letter;
  });
}

// A stretch of a passage: something that stays, or a sentence that is translated.
struct Stretch {
  std::string text = {};                // that stays
  std::optional<size_t> sentence = {};  // its number among those of the job
};

// Takes passages apart, and numbers their sentences. Equal sentences are one: a translation is a
// function of the sentence and the options.
class Dissection {
 public:
  explicit Dissection(const PassageOptions& options) : options_(options) {}

  std::vector<Stretch> stretches_of(const Passage& passage) {
    std::vector<Stretch> stretches;
    if (!passage.html) {
      add_text(passage.text, options_.line_ends, as_it_is, stretches);
      return stretches;
    }
    for (const MarkupPiece& piece : parse_markup(passage.text)) {
      if (piece.is_text && has_letters(piece.text))
        add_text(piece.text, options_.line_ends && piece.line_ends_count, html_of, stretches);
      else
        stretches.push_back({std::string(piece.source)});
    }
    return stretches;
  }

  std::vector<std::string> sentences;

 private:
  using Written = std::string(std::string_view text);
  static std::string as_it_is(std::string_view text) { return std::string(text); }

  void add_text(std::string_view text, bool line_ends, Written* written,
                std::vector<Stretch>& stretches) {
    text::SentenceSplit split = text::split_sentences(text, {.line_ends = line_ends});
    if (!options_.split) split = as_one(split);
    for (size_t k = 0; k < split.gaps.size(); ++k) {
      stretches.push_back({written(split.gaps[k])});
      if (k == split.sentences.size()) break;
      std::string& sentence = split.sentences[k];
      if (has_letters(sentence))
        stretches.push_back({.sentence = number_of(std::move(sentence))});
      else
        stretches.push_back({written(sentence)});
    }
  }

  static text::SentenceSplit as_one(const text::SentenceSplit& split) {
    if (split.sentences.size() < 2) return split;
    std::string whole = split.sentences.front();
    for (size_t k = 1; k < split.sentences.size(); ++k) whole += split.gaps[k] + split.sentences[k];
    return {{std::move(whole)}, {split.gaps.front(), split.gaps.back()}};
  }

  size_t number_of(std::string sentence) {
    const auto [place, is_new] = numbers_.try_emplace(sentence, sentences.size());
    if (is_new) sentences.push_back(std::move(sentence));
    return place->second;
  }

  PassageOptions options_;
  std::unordered_map<std::string, size_t> numbers_;
};

// The translation of a sentence, then the candidates that differ from it, best first.
std::vector<std::string> choices_of(const TextResult& result) {
  std::vector<std::string> choices{result.text};
  for (const size_t place : result.ranking) {
    const std::string& text = result.candidates.at(place).text;
    if (!text.empty() && std::ranges::find(choices, text) == choices.end()) choices.push_back(text);
  }
  return choices;
}

// Puts a passage together, with choice `level` of every sentence that has so many.
std::string put_together(const std::vector<Stretch>& stretches, bool html, size_t level,
                         const std::vector<std::vector<std::string>>& choices) {
  std::string text;
  for (const Stretch& stretch : stretches) {
    if (!stretch.sentence) {
      text += stretch.text;
      continue;
    }
    const std::vector<std::string>& own = choices[*stretch.sentence];
    const std::string& chosen = own[level < own.size() ? level : 0];
    text += html ? html_of(chosen) : chosen;
  }
  return text;
}

// What a client wrote, short enough for a message.
std::string shown(const std::string& text) {
  constexpr size_t kMost = 40;
  return visible(text.size() <= kMost ? text : text.substr(0, kMost) + "...");
}

}  // namespace

TranslatedPassages translate_passages(Service& service, const std::vector<Passage>& passages,
                                      const PassageOptions& options, TextJob job) {
  Dissection dissection(options);
  std::vector<std::vector<Stretch>> stretches;
  for (const Passage& passage : passages) stretches.push_back(dissection.stretches_of(passage));

  TranslatedPassages translated;
  job.texts = std::move(dissection.sentences);
  if (!job.texts.empty()) {
    const size_t wanted = job.texts.size();
    TextAnswer answer = service.translate(std::move(job));
    require(answer.results.size() == wanted, "there are {} results of {} sentences",
            answer.results.size(), wanted);
    translated.results = std::move(answer.results);
    translated.times = answer.times;
  }
  std::vector<std::vector<std::string>> choices;
  for (const TextResult& result : translated.results) choices.push_back(choices_of(result));

  for (size_t k = 0; k < passages.size(); ++k) {
    const auto composed = [&](size_t level) {
      return put_together(stretches[k], passages[k].html, level, choices);
    };
    TranslatedPassage passage{.text = composed(0)};
    size_t levels = 1;
    for (const Stretch& stretch : stretches[k]) {
      if (!stretch.sentence) continue;
      passage.sentences.push_back(*stretch.sentence);
      levels = std::max(levels, choices[*stretch.sentence].size());
    }
    const auto wanted = static_cast<size_t>(std::max<int64_t>(options.alternatives, 0));
    for (size_t level = 1; level < levels && passage.alternatives.size() < wanted; ++level) {
      std::string other = composed(level);
      const auto& before = passage.alternatives;
      if (other != passage.text && std::ranges::find(before, other) == before.end())
        passage.alternatives.push_back(std::move(other));
    }
    translated.passages.push_back(std::move(passage));
  }
  return translated;
}

size_t model_for(const Service& service, const std::string& source, const std::string& target) {
  const std::string from = source == "auto" ? std::string() : language_code(source);
  const std::string to = language_code(target);
  const std::span<const ModelFacts> models = service.models();
  const auto exact = [](std::string_view wanted, std::string_view code) {
    return wanted.empty() || wanted == code;
  };
  const auto alike = [](std::string_view wanted, std::string_view code) {
    return wanted.empty() || (!code.empty() && base_language(wanted) == base_language(code));
  };
  std::vector<std::string> pairs;
  for (const bool exactly : {true, false}) {
    for (size_t k = 0; k < models.size(); ++k) {
      const ModelFacts& model = models[k];
      if (model.makes_images) continue;
      const bool fits = exactly ? exact(from, model.source) && exact(to, model.target)
                                : alike(from, model.source) && alike(to, model.target);
      if (fits) return k;
      if (exactly && knows_its_languages(model))
        pairs.push_back(fmt::format("{} to {}", model.source, model.target));
    }
  }
  const std::string wanted =
      fmt::format("{}{}", from.empty() ? "" : fmt::format(" from '{}'", shown(source)),
                  to.empty() ? "" : fmt::format(" to '{}'", shown(target)));
  throw Refusal(400, fmt::format("no model here translates texts{}", wanted),
                pairs.empty() ? "the languages of the models are not known"
                              : fmt::format("there is {}", fmt::join(pairs, ", ")));
}

}  // namespace tessera::serve
