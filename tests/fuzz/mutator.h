#pragma once

#include <tessera/tensor/random.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::fuzz {

// Makes damaged inputs of good ones. Which one is made depends on the seed, its number and the
// inputs there are, and on nothing else.
class Mutator {
 public:
  //   inputs  the seeds; may be empty
  Mutator(uint64_t seed, std::vector<std::string> inputs);

  // An input with one change or several.
  std::string make(uint64_t number) const;

  // One more input to begin with. Only so many are kept.
  void keep(std::string input);

 private:
  std::vector<std::string> inputs_;
  std::vector<std::string> words_;  // of all seeds
  uint64_t seed_;
};

}  // namespace tessera::fuzz
