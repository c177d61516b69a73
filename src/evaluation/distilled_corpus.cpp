#include "evaluation/distilled_corpus.h"

#include "base/log.h"
#include "base/require.h"
#include "corpus/corpus_writer.h"
#include "files/files.h"
#include "files/folder_lock.h"
#include "files/output_folder.h"
#include "files/own_file.h"
#include "text_metric/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace tessera::evaluation {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<text::Id>;

constexpr int64_t kChunk = 4096;  // lines that are written together
constexpr const char* kKeyOption = "distilled";
constexpr const char* kTrain = "train";

std::span<const text::Id> without_end(std::span<const text::Id> ids) {
  return ids.first(ids.size() - 1);
}

// Finished targets, in files of kChunk lines of numbers. Only one distillation at a time works on
// them, or several that each make a share.
class Partial {
 public:
  using Sharing = FolderLock::Sharing;

  Partial(const fs::path& out, const std::string& key, Sharing sharing)
      : folder_(full_path(out) += ".partial"),
        lock_((make_folder(), lock_file()), "distillation",
              "wait for its end or stop it, or choose another folder", sharing) {
    const bool begun = is_there(mark());
    if (begun && read_file(mark()) == key) return;
    if (sharing != Sharing::none) {
      if (begun)
        throw Error(
            fmt::format("the work begun in '{}' is by another teacher or with other options",
                        folder_.string()),
            "choose another folder, or give all processes the same command");
      write_file_atomically(mark(), key);
      return;
    }
    if (begun)
      log::info(
          "the work begun in '{}' is by another teacher or with other options: starting again",
          folder_.string());
    clear();
    write_file_atomically(mark(), key);
  }

  bool has(int64_t first) const { return is_there(file(first)); }

  void write(int64_t first, const std::vector<Ids>& targets) const {
    std::string text;
    for (const Ids& target : targets) {
      for (const text::Id id : target) text += fmt::format("{} ", id);
      text += '\n';
    }
    write_file_atomically(file(first), text);
  }

  std::vector<Ids> read(int64_t first, int64_t count) const {
    std::vector<Ids> targets;
    std::istringstream lines(read_file(file(first)));
    for (std::string line; std::getline(lines, line);) {
      Ids& ids = targets.emplace_back();
      std::istringstream numbers(line);
      for (text::Id id = 0; numbers >> id;) ids.push_back(id);
    }
    require(static_cast<int64_t>(targets.size()) == count,
            "'{}' is damaged: remove it and start again", file(first).string());
    return targets;
  }

  void remove() const { remove_tree(folder_); }

 private:
  // Throws Error if the folder has files that are not ours. The lock is the first file we make in
  // it.
  void make_folder() const {
    refuse_link(folder_);  // clear() removes what is in the folder
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw file_error("make the folder", folder_, failure.value());
    require(fs::is_empty(folder_, failure) || is_there(lock_file()) || is_there(mark()),
            "'{}' is needed for unfinished targets, but holds other files: move it away",
            folder_.string());
  }

  // Removes everything except the lock.
  void clear() const {
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path() != lock_file())
        require(remove_tree(entry.path()), "cannot remove '{}'", entry.path().string());
  }

  fs::path file(int64_t first) const { return folder_ / fmt::format("targets-{:08}", first); }
  fs::path mark() const { return folder_ / "key"; }
  fs::path lock_file() const { return folder_ / "lock"; }

  fs::path folder_;
  FolderLock lock_;
};

// Returns how many lines the share has.
int64_t generate_missing(const corpus::Split& split, const Teacher& teacher, const Partial& partial,
                         const Shard& share, const std::function<void(int64_t)>& progress) {
  int64_t lines = 0;
  for (int64_t first = 0; first < split.size(); first += kChunk) {
    if (!share.owns(first / kChunk)) continue;
    const int64_t count = std::min(kChunk, split.size() - first);
    lines += count;
    if (!partial.has(first)) {
      std::vector<Ids> sources;
      for (int64_t k = 0; k < count; ++k) {
        const auto source = split.source(first + k);
        sources.emplace_back(source.begin(), source.end());
      }
      partial.write(first, teacher(sources, first));
    }
    if (progress) progress(count);
  }
  return lines;
}

// Collects what the report says.
class Comparison {
 public:
  explicit Comparison(const text::Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    options_.tokenization = text_metric::usual_tokenization(tokenizer.raw());
  }

  void add(std::span<const text::Id> written, std::span<const text::Id> real) {
    ++report_.lines;
    report_.left_out += written.empty();
    identical_ += std::equal(written.begin(), written.end(), real.begin(), real.end());
    written_tokens_ += static_cast<int64_t>(written.size()) + 1;
    real_tokens_ += static_cast<int64_t>(real.size()) + 1;
    const std::string line = tokenizer_.decode(written), reference = tokenizer_.decode(real);
    const std::string_view view = reference;
    bleu_ += text_metric::bleu_statistics(line, std::span(&view, 1), options_);
  }

  DistillationReport report() {
    const text_metric::BleuScore bleu = text_metric::bleu_of(bleu_, options_);
    report_.bleu = bleu.score;
    report_.bleu_line = text_metric::bleu_line(bleu, text_metric::bleu_signature(options_));
    report_.length_ratio = static_cast<double>(written_tokens_) / static_cast<double>(real_tokens_);
    report_.identical = static_cast<double>(identical_) / static_cast<double>(report_.lines);
    return report_;
  }

 private:
  const text::Tokenizer& tokenizer_;
  text_metric::BleuOptions options_;
  text_metric::BleuStatistics bleu_;
  DistillationReport report_;
  int64_t identical_ = 0, written_tokens_ = 0, real_tokens_ = 0;
};

void copy_split(corpus::CorpusWriter& writer, const std::string& name, const corpus::Split& split) {
  writer.begin_split(name);
  const auto sources = split.source_lines(), targets = split.target_lines();
  for (int64_t k = 0; k < split.size(); ++k) {
    ++writer.counts().read;
    writer.add(sources[k], targets[k], without_end(split.source(k)), without_end(split.target(k)));
  }
}

// Whether there is a finished corpus with that key. Throws Error if there is another one.
bool is_finished(const fs::path& out, const std::string& key) {
  if (!is_there(out / corpus::Manifest::kFileName)) return false;
  const auto options = corpus::Manifest::load(out).options;
  const auto found = options.find(kKeyOption);
  if (found != options.end() && found->second == key) return true;
  throw Error(fmt::format("'{}' holds a corpus of another teacher, or one made with other options",
                          out.string()),
              "choose another folder, or remove this one");
}

// The report of a distillation that was finished earlier.
DistillationReport report_of(const corpus::Corpus& corpus, const fs::path& out) {
  const corpus::Split& real = corpus.split(kTrain);
  const corpus::Corpus made = corpus::Corpus::open(out);
  const corpus::Split& written = made.split(kTrain);
  Comparison comparison(corpus.tokenizer());
  // If pairs were left out, the others are found by their sources.
  int64_t next = 0;
  for (int64_t k = 0; k < real.size(); ++k) {
    const auto source = real.source(k);
    const bool there = next < written.size() &&
                       std::equal(source.begin(), source.end(), written.source(next).begin(),
                                  written.source(next).end());
    comparison.add(there ? without_end(written.target(next)) : std::span<const text::Id>(),
                   without_end(real.target(k)));
    next += there;
  }
  return comparison.report();
}

}  // namespace

DistillationReport write_distilled(const corpus::Corpus& corpus, const Teacher& teacher,
                                   const std::string& key, const fs::path& out,
                                   const std::function<void(int64_t)>& progress) {
  if (is_finished(out, key)) return report_of(corpus, out);
  corpus::CorpusWriter::check_folder(out, corpus::CorpusWriter::Existing::refuse);
  const Partial partial(out, key, Partial::Sharing::none);
  const corpus::Split& train = corpus.split(kTrain);
  generate_missing(train, teacher, partial, Shard(), progress);

  Comparison comparison(corpus.tokenizer());
  corpus::CorpusWriter writer(out, corpus.tokenizer());
  writer.begin_split(kTrain);
  for (int64_t first = 0; first < train.size(); first += kChunk) {
    const int64_t count = std::min(kChunk, train.size() - first);
    const std::vector<Ids> targets = partial.read(first, count);
    for (int64_t k = 0; k < count; ++k) {
      const auto& written = targets[k];
      ++writer.counts().read;
      comparison.add(written, without_end(train.target(first + k)));
      if (written.empty())
        ++writer.counts().empty;
      else
        writer.add("", "", without_end(train.source(first + k)), written);
    }
  }
  for (const auto& [name, counts] : corpus.manifest().splits)
    if (name != kTrain) copy_split(writer, name, corpus.split(name));
  auto options = corpus.manifest().options;
  options[kKeyOption] = key;
  writer.commit(options, corpus.manifest().languages);
  partial.remove();
  return comparison.report();
}

int64_t write_distilled_share(const corpus::Corpus& corpus, const Teacher& teacher,
                              const std::string& key, const fs::path& out, const Shard& share,
                              const std::function<void(int64_t)>& progress) {
  const corpus::Split& train = corpus.split(kTrain);
  if (is_finished(out, key)) return 0;
  corpus::CorpusWriter::check_folder(out, corpus::CorpusWriter::Existing::refuse);
  const Partial partial(out, key, Partial::Sharing::with_its_like);
  return generate_missing(train, teacher, partial, share, progress);
}

}  // namespace tessera::evaluation
