#include "corpus/shared_pairs.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tessera::corpus {
namespace {

// A pair with an empty side does not count: many corpora have some, and they are not trained on.
bool counts(std::string_view source, std::string_view target) {
  return !source.empty() && !target.empty();
}

uint64_t hash_of(std::string_view source, std::string_view target) {
  const uint64_t seed = XXH3_64bits(source.data(), source.size());
  return XXH3_64bits_withSeed(target.data(), target.size(), seed);
}

}  // namespace

void SharedPairs::hold_out(const std::string& split, std::string_view source,
                           std::string_view target) {
  const uint64_t hash = counts(source, target) ? hash_of(source, target) : 0;
  held_out_[split].push_back(hash);
  if (hash != 0) trained_.try_emplace(hash, 0);
}

void SharedPairs::train(int64_t line, std::string_view source, std::string_view target) {
  if (trained_.empty()) return;
  const auto found = trained_.find(hash_of(source, target));
  if (found != trained_.end() && found->second == 0) found->second = line;
}

SharedPairs::Found SharedPairs::in(const std::string& split) const {
  Found found;
  const auto hashes = held_out_.find(split);
  if (hashes == held_out_.end()) return found;
  for (const uint64_t hash : hashes->second) {
    ++found.pairs;
    const auto trained = trained_.find(hash);
    if (trained == trained_.end() || trained->second == 0) continue;
    if (found.shared++ > 0) continue;
    found.line = found.pairs;
    found.training_line = trained->second;
  }
  return found;
}

}  // namespace tessera::corpus
