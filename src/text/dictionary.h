#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::text {

using Id = int32_t;

// The symbols of a language pair and their numbers. The first four are special and not in the file,
// as in fairseq: <s> <pad> </s> <unk>.
class Dictionary {
 public:
  static constexpr Id kBos = 0, kPad = 1, kEos = 2, kUnk = 3;
  static constexpr Id kSpecials = 4;

  Dictionary();  // the specials alone

  // Lines "symbol count", most frequent first, as fairseq writes and reads them. Its flag
  // "symbol count #fairseq:overwrite" gives a symbol that is there already (a special, say) a new
  // number. Throws Error, with file and line, for what is wrong in the file.
  static Dictionary load(const std::filesystem::path& path);
  void save(const std::filesystem::path& path) const;

  // From counts, in descending order of count (ties: by symbol), at most `size` with the specials.
  // Symbols with the name of a special one are left out.
  static Dictionary from_counts(const std::unordered_map<std::string, int64_t>& counts,
                                int64_t size);

  // A symbol that is there already gets `count` more and keeps its number.
  Id add(std::string symbol, int64_t count);
  Id id(std::string_view symbol) const;  // kUnk if unknown
  const std::string& symbol(Id id) const;
  int64_t count(Id id) const;  // 0 for the specials
  int64_t size() const;        // specials included

  // How another dictionary differs, for people: "symbol 17 is 'cat', there 'dog'". Nothing if both
  // have the same symbols under the same numbers.
  std::optional<std::string> difference(const Dictionary& other) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  Id append(std::string symbol, int64_t count);  // a new number, whether or not the symbol is there

  std::vector<std::string> symbols_;
  std::vector<int64_t> counts_;
  std::unordered_map<std::string, Id, Hash, std::equal_to<>> ids_;
};

}  // namespace tessera::text
