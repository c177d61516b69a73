#include "fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <iterator>
#include <span>
#include <sstream>
#include <utility>

namespace tessera::fuzz {
namespace {

constexpr size_t kMostInputs = 2000;
constexpr size_t kMostBytes = size_t{1} << 17;  // of an input, unless its seed is larger
constexpr size_t kMostWords = 4096;

// Replacements for a number or a word of a text.
const std::vector<std::string>& telling_texts() {
  static const std::vector<std::string> texts = [] {
    std::istringstream all(
        "0 1 -1 2 1.5 -0.0 1e308 -1e308 1e400 1e-320 nan inf 255 65536 1000000 2147483647 "
        "4294967296 281474976710656 9223372036854775807 -9223372036854775808 "
        "18446744073709551615 18446744073709551616 null true false [] {} \"\" \"\\u0000\" "
        "[[]] {\"a\":1} - -- .. /");
    return std::vector<std::string>(std::istream_iterator<std::string>(all), {});
  }();
  return texts;
}

// Bytes that mean something to one format or another.
constexpr char kTelling[] =
    "\0\1\n\r\t \"'\\,:;=.-+@#<>&{}[]()/%019azA\x7f\x80\xbf\xc0\xed\xf4\xff";
constexpr std::string_view kBytes(kTelling, sizeof kTelling - 1);

bool is_word(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_' || byte == '-' ||
         byte == '.';
}

// Where a run of bytes of a kind begins and ends.
struct Range {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

// Changes an input in place.
class Change {
 public:
  Change(std::string& input, RandomStream& random, std::span<const std::string> others,
         std::span<const std::string> words)
      : input_(input), random_(random), others_(others), words_(words) {}

  void one() {
    using Step = void (Change::*)();
    static constexpr std::array<Step, 18> kSteps{
        &Change::flip_bit,      &Change::set_byte,    &Change::insert_bytes, &Change::remove_range,
        &Change::copy_range,    &Change::repeat,      &Change::splice,       &Change::take_over,
        &Change::set_number,    &Change::add_number,  &Change::change_digit, &Change::change_number,
        &Change::change_number, &Change::change_word, &Change::change_word,  &Change::change_line,
        &Change::cut_off,       &Change::set_number};
    (this->*kSteps[below(kSteps.size())])();
  }

 private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random_.below(bound); }
  size_t place() { return below(input_.size() + 1); }
  // Small lengths are more likely than large ones.
  size_t length(size_t most) { return below(std::min(most, size_t{1} << below(17)) + 1); }
  const std::string& text() { return telling_texts()[below(telling_texts().size())]; }
  const std::string& other() { return others_[below(others_.size())]; }

  Range range() {
    const size_t begin = place();
    return {begin, begin + length(input_.size() - begin)};
  }

  // The bytes of a kind around a random place, or the next ones after it.
  template <class Kind>
  Range run_of(const Kind& is_of_kind) {
    const auto from = input_.begin() + static_cast<ptrdiff_t>(place());
    auto begin = std::find_if(from, input_.end(), is_of_kind);
    const auto end = std::find_if_not(begin, input_.end(), is_of_kind);
    while (begin != input_.begin() && begin != input_.end() && is_of_kind(*(begin - 1))) --begin;
    return {static_cast<size_t>(begin - input_.begin()), static_cast<size_t>(end - input_.begin())};
  }

  void replace(const Range& range, std::string_view by) {
    input_.replace(range.begin, range.size(), by);
  }

  void flip_bit() {
    if (!input_.empty()) input_[below(input_.size())] ^= static_cast<char>(1 << below(8));
  }

  void set_byte() {
    if (!input_.empty())
      input_[below(input_.size())] =
          below(2) == 0 ? kBytes[below(kBytes.size())] : static_cast<char>(below(256));
  }

  void insert_bytes() {
    std::string bytes(1 + below(8), '\0');
    for (char& byte : bytes)
      byte = below(2) == 0 ? kBytes[below(kBytes.size())] : static_cast<char>(below(256));
    input_.insert(place(), bytes);
  }

  void remove_range() { replace(range(), ""); }

  void copy_range() {
    const Range from = range();
    input_.insert(place(), std::string(input_, from.begin, from.size()));
  }

  // Makes deep nests and long lists.
  void repeat() {
    const size_t begin = place();
    const std::string piece = input_.substr(begin, 1 + below(8));
    if (piece.empty()) return;
    const size_t times = size_t{1} << below(below(8) == 0 ? 17 : 8);
    std::string all;
    while (all.size() < std::min(times * piece.size(), kMostBytes)) all += piece;
    input_.insert(begin, all);
  }

  void splice() {
    const std::string& end = other();
    const size_t cut = place();
    // Two inputs fit together best if both are cut at the same place.
    const size_t from = below(2) == 0 ? std::min(cut, end.size()) : below(end.size() + 1);
    input_.replace(cut, std::string::npos, end, from);
  }

  void take_over() {
    const std::string& from = other();
    const size_t begin = below(from.size() + 1);
    const std::string taken = from.substr(begin, length(from.size() - begin));
    below(2) == 0 ? input_.insert(place(), taken) : input_.replace(place(), taken.size(), taken);
  }

  // Changes a number of 1, 2, 4 or 8 bytes, little-endian or big-endian.
  template <class Use>
  void with_number(const Use& use) {
    const size_t size = size_t{1} << below(4);
    if (input_.size() < size) return;
    size_t begin = below(input_.size() - size + 1);
    if (below(2) == 0) begin -= begin % size;
    const bool reversed = below(4) == 0;
    std::array<char, 8> bytes{};
    std::memcpy(bytes.data(), input_.data() + begin, size);
    if (reversed) std::reverse(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    uint64_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    number = use(number);
    std::memcpy(bytes.data(), &number, sizeof number);
    if (reversed) std::reverse(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    std::memcpy(input_.data() + begin, bytes.data(), size);
  }

  // A power of two or a neighbour: something may overflow, or nearly.
  void set_number() {
    with_number([&](uint64_t) { return (uint64_t{1} << below(64)) + below(3) - 1; });
  }

  void add_number() {
    with_number([&](uint64_t number) { return number + below(33) - 16; });
  }

  void change_digit() {
    const Range found = run_of([](char byte) { return byte >= '0' && byte <= '9'; });
    if (found.size() > 0)
      input_[found.begin + below(found.size())] = static_cast<char>('0' + below(10));
  }

  void change_number() {
    const Range found = run_of([](char byte) { return byte >= '0' && byte <= '9'; });
    if (found.size() > 0)
      replace(found, below(16) == 0 ? std::string(1 + below(500), '9') : text());
  }

  void change_word() {
    const Range found = run_of(is_word);
    if (found.size() == 0) return;
    if (words_.empty() || below(4) == 0)
      replace(found, text());
    else
      replace(found, words_[below(words_.size())]);
  }

  // Copies a line to another place, removes it, or repeats it.
  void change_line() {
    const Range found = run_of([](char byte) { return byte != '\n'; });
    const std::string line = input_.substr(found.begin, found.size()) + "\n";
    switch (below(3)) {
      case 0:
        input_.insert(run_of([](char byte) { return byte != '\n'; }).begin, line);
        break;
      case 1:
        replace({found.begin, std::min(found.end + 1, input_.size())}, "");
        break;
      default:
        for (size_t k = below(below(4) == 0 ? 2000 : 8); k > 0 && input_.size() < kMostBytes; --k)
          input_.insert(found.begin, line);
    }
  }

  void cut_off() { input_.resize(below(2) == 0 ? place() : input_.size() - length(input_.size())); }

  std::string& input_;
  RandomStream& random_;
  std::span<const std::string> others_, words_;
};

}  // namespace

Mutator::Mutator(uint64_t seed, std::vector<std::string> inputs)
    : inputs_(std::move(inputs)), seed_(seed) {
  if (inputs_.empty()) inputs_.emplace_back();
  for (const std::string& input : inputs_)
    for (auto begin = input.begin(); begin != input.end() && words_.size() < kMostWords;) {
      begin = std::find_if(begin, input.end(), is_word);
      const auto end = std::find_if_not(begin, input.end(), is_word);
      if (begin != end) words_.emplace_back(begin, end);
      begin = end;
    }
  std::sort(words_.begin(), words_.end());
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
}

std::string Mutator::make(uint64_t number) const {
  RandomStream random({seed_, Purpose::test, 0}, number);
  const std::string& first = inputs_[random.below(inputs_.size())];
  const size_t most = std::max(first.size(), kMostBytes);
  std::string input = first;
  Change change(input, random, inputs_, words_);
  for (uint64_t changes = 1 + random.below(random.below(2) == 0 ? 2 : 8); changes > 0; --changes)
    change.one();
  if (input.size() > most) input.resize(most);
  return input;
}

void Mutator::keep(std::string input) {
  if (inputs_.size() < kMostInputs) inputs_.push_back(std::move(input));
}

}  // namespace tessera::fuzz
