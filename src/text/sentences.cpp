#include "text/sentences.h"

#include "text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace tessera::text {
namespace {

using View = std::u32string_view;

bool is_one_of(char32_t c, View set) {
  return set.find(c) != View::npos;
}

template <size_t size>
bool contains(const std::array<View, size>& list, View word) {
  return std::ranges::find(list, word) != list.end();
}

bool is_blank(char32_t c) {
  return character_class(c) == CharacterClass::blank;
}

bool is_line_end(char32_t c) {
  return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
}

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_letter(char32_t c) {
  return character_class(c) == CharacterClass::letter;
}

bool is_upper(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU || category(c) == UTF8PROC_CATEGORY_LT;
}

bool is_digit(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}

constexpr View kEnds = U".?!…‽؟۔।";
constexpr View kWideEnds = U"。！？";               // no blank behind them
constexpr View kClosing = U"\"'”’»›“‘«‹)]}」』》";  // “ ‘ « ‹ close in German
constexpr View kOpening = U"\"'“‘«‹„‚»›”’([{¿¡「『《–—-•";

bool is_end(char32_t c) {
  return is_one_of(c, kEnds) || is_one_of(c, kWideEnds);
}

// Where a word begins behind something else than a blank.
constexpr View kBeforeWord = U"\"“„«»‹›‚([{¿¡–—/";

// Abbreviations that something always follows, so that their dot never ends a sentence.
constexpr auto kBeforeWords = std::to_array<View>(
    {// German
     U"Dr", U"Prof", U"Hr", U"Hrn", U"Fr", U"Frl", U"Dipl", U"Ing", U"Mag", U"St", U"bzw", U"vgl",
     U"Vgl", U"sog", U"bspw", U"insb", U"inkl", U"exkl", U"einschl", U"zzgl", U"bzgl", U"ggf",
     U"Ggf", U"evtl", U"Evtl", U"ca", U"Ca", U"geb", U"gegr", U"hrsg", U"Hrsg",
     // English
     U"Mr", U"Mrs", U"Ms", U"Messrs", U"Rev", U"Hon", U"Gen", U"Col", U"Capt", U"Lt", U"Sgt",
     U"Gov", U"Sen", U"Rep", U"Mt", U"vs", U"cf", U"approx", U"viz",
     // French
     U"Mme", U"Mmes", U"Mlle", U"Mlles", U"MM", U"Mgr", U"env", U"av", U"apr", U"éd", U"ex",
     // Spanish
     U"Sr", U"Sra", U"Sres", U"Srta", U"Dra", U"Ud", U"Uds", U"Vd", U"Vds", U"Dña", U"Excmo", U"ej",
     U"EE"});

// Abbreviations that a number follows.
constexpr auto kBeforeNumbers = std::to_array<View>(
    {U"Nr",   U"Nrn",  U"No",   U"Nos",  U"no",  U"nos", U"nr",   U"num",  U"núm", U"Núm",
     U"Abb",  U"Abs",  U"Art",  U"art",  U"Bd",  U"Fig", U"fig",  U"Kap",  U"Tab", U"Vol",
     U"vol",  U"Bl",   U"Str",  U"Tel",  U"tel", U"Tél", U"tél",  U"pp",   U"pág", U"págs",
     U"cap",  U"Cap",  U"chap", U"Chap", U"Ch",  U"ch",  U"sec",  U"Sec",  U"eq",  U"Eq",
     U"Aufl", U"max",  U"min",  U"mind", U"Jan", U"Feb", U"Febr", U"Mar",  U"Apr", U"Aug",
     U"Sep",  U"Sept", U"Okt",  U"Oct",  U"Nov", U"Dez", U"Dec",  U"janv", U"juil"});

// What follows the number of a date or another ordinal number in German: "3. Oktober".
constexpr auto kAfterOrdinals = std::to_array<View>(
    {U"Januar",     U"Jänner",      U"Februar",      U"März",        U"April",     U"Mai",
     U"Juni",       U"Juli",        U"August",       U"September",   U"Oktober",   U"November",
     U"Dezember",   U"Jahrhundert", U"Jahrhunderts", U"Jahrtausend", U"Weltkrieg", U"Weltkriegs",
     U"Klasse",     U"Stock",       U"Etage",        U"Platz",       U"Rang",      U"Mal",
     U"Tag",        U"Tages",       U"Geburtstag",   U"Jahrestag",   U"Auflage",   U"Kapitel",
     U"Bundesliga", U"Liga",        U"Runde",        U"Semester",    U"FC"});

class SentenceSplitter {
 public:
  SentenceSplitter(View text, const SentenceOptions& options) : text_(text), options_(options) {}

  SentenceSplit split() {
    SentenceSplit result;
    size_t end = 0;  // of the last sentence
    while (true) {
      const size_t begin = after_blanks(end);
      result.gaps.push_back(encode_utf8(text_.substr(end, begin - end)));
      if (begin == text_.size()) return result;
      end = sentence_end(begin);
      result.sentences.push_back(encode_utf8(text_.substr(begin, end - begin)));
    }
  }

 private:
  size_t after_blanks(size_t place) const {
    while (place < text_.size() && is_blank(text_[place])) ++place;
    return place;
  }

  // The end of the sentence that begins at `begin`, without the blanks behind it.
  size_t sentence_end(size_t begin) const {
    size_t last = begin;  // behind the last character that is no blank
    for (size_t place = begin; place < text_.size();) {
      const char32_t c = text_[place];
      if (options_.line_ends && is_line_end(c)) return last;
      if (!is_end(c)) {
        ++place;
        if (!is_blank(c)) last = place;
        continue;
      }
      const size_t mark = place;
      while (place < text_.size() && is_end(text_[place])) ++place;
      const size_t closing = place;
      place = last = after_closing(closing);
      if (may_end(place) && !goes_on(begin, mark, closing, place)) return place;
    }
    return last;
  }

  size_t after_closing(size_t place) const {
    while (place < text_.size()) {
      if (is_one_of(text_[place], kClosing))
        ++place;
      else if (is_distant_quote(place))
        place += 2;
      else
        break;
    }
    return place;
  }

  // French sets a blank before its closing quote: "« Oui ! »".
  bool is_distant_quote(size_t place) const {
    return place + 1 < text_.size() && is_blank(text_[place]) && !is_line_end(text_[place]) &&
           is_one_of(text_[place + 1], U"»›") &&
           (place + 2 == text_.size() || !is_letter(text_[place + 2]));
  }

  // Whether a sentence may end before `place`, by what is around it.
  bool may_end(size_t place) const {
    if (place == text_.size() || is_one_of(text_[place - 1], kWideEnds)) return true;
    if (!is_blank(text_[place])) return false;
    const size_t next = after_blanks(place);
    if (next == text_.size()) return true;
    const char32_t c = text_[next];
    return is_upper(c) || is_digit(c) || category(c) == UTF8PROC_CATEGORY_LO ||
           is_one_of(c, kOpening);
  }

  // Whether marks that look like an end are within a sentence: those from `mark` to `closing`, with
  // closing quotes and brackets up to `end`.
  bool goes_on(size_t begin, size_t mark, size_t closing, size_t end) const {
    const size_t next = after_blanks(end);
    if (next == text_.size()) return false;
    const View marks = text_.substr(mark, closing - mark);
    // "Der Hund (welcher?) Anna gehört": brackets end a sentence that began with one.
    const View behind = text_.substr(closing, end - closing);
    if (behind.find_first_of(View(U")]}")) != View::npos && !is_one_of(text_[begin], U"([{"))
      return true;
    // "Der … Hund", "Der ... Hund": something is left out.
    if (marks != View(U".") && marks.find_first_not_of(View(U".…")) == View::npos && mark > begin &&
        is_blank(text_[mark - 1]))
      return true;
    return marks == View(U".") && is_abbreviation(begin, mark, next);
  }

  // Whether the dot at `dot` belongs to an abbreviation or an ordinal number.
  //   next  where the text goes on behind it
  bool is_abbreviation(size_t begin, size_t dot, size_t next) const {
    size_t word = dot;
    while (word > begin && !is_blank(text_[word - 1]) && !is_one_of(text_[word - 1], kBeforeWord))
      --word;
    const View token = text_.substr(word, dot - word);
    if (token.empty()) return false;
    if (std::ranges::all_of(token, is_digit))
      return token.size() <= 2 && (word == begin || is_ordinal_before(next));
    // "IV. Ende": the number of a chapter.
    if (word == begin && token.size() <= 4 && token.find_first_not_of(View(U"IVXLC")) == View::npos)
      return true;
    // A single letter, perhaps behind others: "z.B." as well as "z. B.". English "I" is a word.
    const bool single = token.size() == 1 || is_one_of(token[token.size() - 2], U".-");
    if (single && is_letter(token.back())) return token != View(U"I");
    const View last = token.substr(token.rfind(U'.') + 1);
    return contains(kBeforeWords, last) ||
           (is_digit(text_[next]) && contains(kBeforeNumbers, last));
  }

  bool is_ordinal_before(size_t next) const {
    size_t end = next;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    return contains(kAfterOrdinals, text_.substr(next, end - next));
  }

  View text_;
  SentenceOptions options_;
};

}  // namespace

SentenceSplit split_sentences(std::string_view text, const SentenceOptions& options) {
  const std::u32string characters = decode_utf8(text);
  return SentenceSplitter(characters, options).split();
}

std::string join_sentences(const SentenceSplit& split) {
  std::string text;
  for (size_t k = 0; k < split.sentences.size(); ++k) text += split.gaps[k] + split.sentences[k];
  return text + split.gaps.back();
}

}  // namespace tessera::text
