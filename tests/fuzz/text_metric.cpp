#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "text_metric/bleu.h"
#include "text_metric/chrf.h"
#include "text_metric/rouge.h"

#include <array>
#include <cmath>

namespace tessera::fuzz {
namespace {

bool is_percent(double score) {
  return score >= 0 && score <= 100 + 1e-6;
}

}  // namespace

void fuzz_text_metric(std::string_view input) {
  const Parts parts = parts_of(input);
  const std::string_view hypothesis = part(parts, "hypothesis");
  const std::array references{part(parts, "reference"), part(parts, "other")};
  for (const auto& [tokenization, name] : EnumNames<text_metric::Tokenization>::values) {
    for (const auto smoothing : {text_metric::Smoothing::exp, text_metric::Smoothing::none}) {
      const text_metric::BleuOptions options{
          .tokenization = tokenization, .lowercase = true, .smoothing = smoothing};
      attempt([&] {
        expect(is_percent(text_metric::sentence_bleu(hypothesis, references, options).score),
               "BLEU is from 0 to 100");
      });
    }
  }
  attempt([&] {
    expect(is_percent(text_metric::sentence_chrf(hypothesis, references, {.word_order = 2})),
           "chrF is from 0 to 100");
    for (const auto& measure : text_metric::sentence_rouge(hypothesis, references))
      expect(is_percent(measure.f1), "ROUGE is from 0 to 100");
  });
}

}  // namespace tessera::fuzz
