#include "text/line_reader.h"

#include "base/require.h"
#include "text/encoding_guess.h"
#include "text/utf8.h"

#include <algorithm>
#include <cstring>

namespace tessera::text {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr const char* kStandardInput = "standard input";
constexpr size_t kLongestLine = size_t{1} << 26;  // anything longer is not a line of text

}  // namespace

LineReader::LineReader(const std::filesystem::path& path, const LineReaderOptions& options)
    : name_(path == "-" ? kStandardInput : path.string()),
      options_(options),
      source_(ByteSource::open(path)),
      buffer_(kBufferBytes) {}

LineReader::~LineReader() = default;
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;

std::string LineReader::where() const {
  return fmt::format("{}:{}", name_, number_);
}

bool LineReader::next(std::string_view& line) {
  if (!take_line(line)) return false;
  ++number_;
  if (number_ == 1) line = without_mark(line);
  if (!options_.keep_carriage_return && !line.empty() && line.back() == '\r') line.remove_suffix(1);
  line = checked(line);
  return true;
}

bool LineReader::take_line(std::string_view& line) {
  size_t searched = 0;
  while (true) {
    const char* begin = buffer_.data() + begin_;
    const size_t size = end_ - begin_;
    if (const void* newline = std::memchr(begin + searched, '\n', size - searched)) {
      line = {begin, static_cast<size_t>(static_cast<const char*>(newline) - begin)};
      begin_ += line.size() + 1;
      had_newline_ = true;
      return true;
    }
    searched = size;
    if (refill()) continue;
    if (size == 0) return false;
    line = {buffer_.data() + begin_, size};
    begin_ = end_;
    had_newline_ = false;
    return true;
  }
}

// Reads more after the unread bytes: moves these to the front, and enlarges the buffer if a line
// fills it.
bool LineReader::refill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == kLongestLine)
    throw Error(
        fmt::format("{}:{}: a line of more than {} MiB", name_, number_ + 1, kLongestLine >> 20),
        "this is no text in lines: is it the file you mean?");
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const size_t got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  return got > 0;
}

std::string LineReader::cure(std::string_view encoding) const {
  const std::string replace =
      "--replace-invalid of prepare, generate and bpe puts U+FFFD in the place of such bytes";
  if (encoding.empty()) return replace;
  const bool plain = name_ != kStandardInput && !name_.ends_with(".gz") && !name_.ends_with(".xz");
  const std::string file = plain ? name_ : "FILE";
  const std::string convert =
      fmt::format("the text seems to be {}: `iconv -f {} -t UTF-8 {} > {}.utf8` converts it",
                  encoding, encoding, file, file);
  return encoding.starts_with("UTF-") ? convert : fmt::format("{}; or {}", convert, replace);
}

std::string_view LineReader::checked(std::string_view line) {
  const size_t nul = line.find('\0');
  const size_t invalid = find_invalid_utf8(line);
  if (nul == std::string_view::npos && invalid == std::string_view::npos) return line;
  if (!options_.replace_invalid || number_ == 1) {
    // Guesses from all that has been read, from this line on.
    const std::string_view encoding =
        guess_encoding({line.data(), static_cast<size_t>(buffer_.data() + end_ - line.data())});
    // UTF-16 cannot be repaired by replacing bytes.
    if (!options_.replace_invalid || encoding.starts_with("UTF-"))
      throw Error(
          fmt::format("{}: {} at byte {} of the line", where(),
                      nul < invalid ? "NUL byte" : "invalid UTF-8", std::min(nul, invalid) + 1),
          cure(encoding));
  }
  repaired_.clear();
  for (const char byte : replace_invalid_utf8(line)) {
    if (byte == '\0')
      append_utf8(repaired_, kReplacementCharacter);
    else
      repaired_ += byte;
  }
  return repaired_;
}

}  // namespace tessera::text
