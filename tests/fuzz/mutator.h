#pragma once

#include <tessera/tensor/random.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::fuzz {

// Makes damaged inputs from good ones. The result depends only on the seed, the number and the
// inputs kept so far.
class Mutator {
 public:
  //   inputs  the seeds; may be empty
  Mutator(uint64_t seed, std::vector<std::string> inputs);

  // An input with one change or several.
  std::string make(uint64_t number) const;

  // Adds an input to start from. Their number is limited.
  void keep(std::string input);

 private:
  std::vector<std::string> inputs_;
  std::vector<std::string> words_;  // of all seeds
  uint64_t seed_;
};

}  // namespace tessera::fuzz
