#include "corpus/corpus_writer.h"

#include "base/require.h"
#include "files/file_name.h"
#include "files/hash.h"

#include <tessera/version.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace tessera::corpus {
namespace {

namespace fs = std::filesystem;

// Appends to a file through a buffer.
class OutputFile {
 public:
  explicit OutputFile(fs::path path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw file_error("write", path_, errno);
    buffer_.reserve(kBuffer);
  }
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > kBuffer) flush();
    buffer_.append(bytes);
  }

  template <class T>
  void write_numbers(std::span<const T> numbers) {
    write({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  }

  void close() {
    flush();
    if (::close(std::exchange(descriptor_, -1)) != 0) throw file_error("write", path_, errno);
  }

 private:
  static constexpr size_t kBuffer = 1 << 18;

  void flush() {
    for (std::string_view rest = buffer_; !rest.empty();) {
      const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw file_error("write", path_, errno);
      rest.remove_prefix(static_cast<size_t>(written));
    }
    buffer_.clear();
  }

  fs::path path_;
  int descriptor_;
  std::string buffer_;
};

// One side of a split.
class SideFiles {
 public:
  SideFiles(const fs::path& folder, const std::string& split, const std::string& side,
            bool keep_lines)
      : ids_(folder / ids_file(split, side)), offsets_(folder / offsets_file(split, side)) {
    if (keep_lines) lines_.emplace(folder / lines_file(split, side));
    write_end();
  }

  void add(std::string_view line, std::span<const text::Id> sentence) {
    static constexpr text::Id kEnd = text::Dictionary::kEos;
    ids_.write_numbers(sentence);
    ids_.write_numbers(std::span(&kEnd, 1));
    total_ += static_cast<int64_t>(sentence.size()) + 1;
    write_end();
    if (!lines_) return;
    require(line.find('\n') == line.npos, "a line of a corpus cannot hold a line break");
    lines_->write(line);
    lines_->write("\n");
  }

  void close() {
    ids_.close();
    offsets_.close();
    if (lines_) lines_->close();
  }

 private:
  void write_end() { offsets_.write_numbers(std::span<const int64_t>(&total_, 1)); }

  OutputFile ids_, offsets_;
  std::optional<OutputFile> lines_;
  int64_t total_ = 0;
};

constexpr OutputFolder::Kind kCorpus{
    "a corpus",
    [](const fs::path& folder) {
      std::error_code ignored;
      return fs::exists(folder / Manifest::kFileName, ignored);
    },
    [](const fs::path& folder) { return Manifest::load(folder).file_names(); }};

}  // namespace

struct CorpusWriter::SplitFiles {
  SideFiles source, target;
};

void CorpusWriter::check_folder(const fs::path& folder, Existing existing) {
  OutputFolder::check(folder, kCorpus, existing);
}

CorpusWriter::CorpusWriter(const fs::path& folder, const text::Tokenizer& tokenizer,
                           Existing existing)
    : folder_(folder, kCorpus, existing) {
  manifest_.tessera_version = version();
  manifest_.symbols = tokenizer.dictionary().size();
  target_counts_.resize(static_cast<size_t>(manifest_.symbols));
  tokenizer.save(folder_.path());
}

CorpusWriter::~CorpusWriter() = default;

void CorpusWriter::begin_split(const std::string& name) {
  end_split();
  require_file_name(name, "the name of a split");
  require(!manifest_.splits.contains(name), "the split '{}' is there already", name);
  const bool keep_lines = name != "train";
  files_.reset(new SplitFiles{{folder_.path(), name, "src", keep_lines},
                              {folder_.path(), name, "tgt", keep_lines}});
  manifest_.splits[name] = {};
  split_ = name;
}

SplitCounts& CorpusWriter::counts() {
  require(!split_.empty(), "no split was begun");
  return manifest_.splits.at(split_);
}

void CorpusWriter::add(std::string_view source_line, std::string_view target_line,
                       std::span<const text::Id> source, std::span<const text::Id> target) {
  SplitCounts& counted = counts();
  files_->source.add(source_line, source);
  files_->target.add(target_line, target);
  ++counted.kept;
  counted.source_tokens += static_cast<int64_t>(source.size()) + 1;
  counted.target_tokens += static_cast<int64_t>(target.size()) + 1;
  counted.source_unknown += std::count(source.begin(), source.end(), text::Dictionary::kUnk);
  counted.target_unknown += std::count(target.begin(), target.end(), text::Dictionary::kUnk);
  if (split_ != "train") return;
  for (const text::Id id : target) ++target_counts_.at(static_cast<size_t>(id));
  ++target_counts_[text::Dictionary::kEos];
}

void CorpusWriter::end_split() {
  if (!files_) return;
  files_->source.close();
  files_->target.close();
  files_.reset();
  if (split_ != "train") return;
  OutputFile counts(folder_.path() / kTargetCountsFile);
  counts.write_numbers(std::span<const int64_t>(target_counts_));
  counts.close();
}

Manifest CorpusWriter::commit(std::map<std::string, std::string> options,
                              const Languages& languages) {
  end_split();
  manifest_.languages = languages;
  manifest_.options = std::move(options);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path()))
    manifest_.files[entry.path().filename()] = {entry.file_size(), file_hash(entry.path())};
  manifest_.save(folder_.path());
  folder_.commit();
  return manifest_;
}

}  // namespace tessera::corpus
