#include <tessera/base/error.h>
#include <tessera/evaluation/text_evaluation.h>

#include <iostream>

int main(int argc, char** argv) try {
  const tessera::Engine engine(argc > 1 ? argv[1] : "runs/m30k");
  const std::vector<std::string> sources{"a b c d", "z y x"}, references{"d c b a", "x y z"};
  const tessera::TextEvaluation found = tessera::evaluate_texts(
      engine, sources, references, {.scores = {.metrics = {"bleu", "chrf"}}});
  for (const tessera::TextScore& score : found.scores) std::cout << score.line << '\n';
  std::cout << found.nfe << " network calls, " << found.texts_per_second() << " texts a second\n";
} catch (const tessera::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  if (!error.hint().empty()) std::cerr << "hint: " << error.hint() << '\n';
  return 1;
}
