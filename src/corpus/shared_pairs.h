#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::corpus {

// Finds pairs of held-out splits that are also trained on: scores on them mean little. Holds a hash
// of every held-out pair, nothing of the training pairs.
class SharedPairs {
 public:
  // Add all pairs of the held-out splits first, line by line; then those of training.
  void hold_out(const std::string& split, std::string_view source, std::string_view target);
  void train(int64_t line, std::string_view source, std::string_view target);  // lines from 1

  struct Found {
    int64_t pairs = 0, shared = 0;        // of the split; of these, also trained on
    int64_t line = 0, training_line = 0;  // an example; 0: there is none
  };
  Found in(const std::string& split) const;

 private:
  std::map<std::string, std::vector<uint64_t>> held_out_;  // by split: hashes, in order
  std::unordered_map<uint64_t, int64_t> trained_;  // by hash: first line in training, 0: none
};

}  // namespace tessera::corpus
