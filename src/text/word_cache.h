#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tessera::text {

// Remembers what was computed for a word. Bounded: it has several parts, and a full part is emptied
// and fills again with recent words. Safe to use from several threads, which seldom meet in one
// part.
template <class Value>
class WordCache {
 public:
  // Calls use(value); the value of a new word comes from make(). `use` must be quick and must not
  // call get().
  template <class Make, class Use>
  void get(std::string_view word, const Make& make, const Use& use) {
    if (word.size() > kLongestWord) return use(make());
    Part& part = parts_[(std::hash<std::string_view>{}(word) >> 32) % kParts];
    {
      const std::lock_guard lock(part.mutex);
      const auto found = part.values.find(word);
      if (found != part.values.end()) return use(found->second);
    }
    Value value = make();
    use(value);
    const std::lock_guard lock(part.mutex);
    if (part.values.size() >= kWordsPerPart) part.values.clear();
    part.values.emplace(word, std::move(value));
  }

 private:
  static constexpr size_t kParts = 32, kWordsPerPart = 8192, kLongestWord = 256;

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct alignas(64) Part {
    std::mutex mutex;
    std::unordered_map<std::string, Value, Hash, std::equal_to<>> values;
  };
  std::array<Part, kParts> parts_;
};

}  // namespace tessera::text
