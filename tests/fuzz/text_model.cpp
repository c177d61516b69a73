#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "seq2seq/model_folder.h"
#include "seq2seq/tiny_model.h"

namespace tessera::fuzz {

// The weights are those of a small model and fit the seeds.
void fuzz_text_model(std::string_view input) {
  static const bool written = [] {
    test::write_tiny_model(work_folder());
    return true;
  }();
  (void)written;
  put_parts(parts_of(input), {kModelConfigFile, "tokenizer.json", "dict.txt", "manifest.json"});
  attempt([&] { seq2seq::load_model_folder(work_folder(), at::kCPU, nn::Precision::float32); });
}

}  // namespace tessera::fuzz
