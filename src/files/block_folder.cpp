#include "files/block_folder.h"

#include "base/require.h"
#include "files/files.h"
#include "files/json_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>
#include <vector>

namespace tessera {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kJobFile = "job.json";
constexpr const char* kCountFile = "blocks.json";
constexpr int kFormat = 1;
constexpr int64_t kMostBlocks = 100000000;  // names have eight digits

fs::path block_file(const fs::path& folder, int64_t block, const std::string& ending) {
  return folder / fmt::format("block-{:08}.{}", block, ending);
}

// The first place at which two jobs differ: "seed is 1, not 2"; empty: nowhere.
std::string difference(const nlohmann::json& there, const nlohmann::json& here) {
  for (const auto& [key, value] : here.items()) {
    if (!there.contains(key) || there[key] == value || !value.is_object()) continue;
    if (const std::string within = difference(there[key], value); !within.empty())
      return key + "." + within;
  }
  for (const auto& [key, value] : here.items())
    if (!there.contains(key) || there[key] != value)
      return fmt::format("{} is {}, not {}", key,
                         there.contains(key) ? there[key].dump() : "missing", value.dump());
  for (const auto& [key, value] : there.items())
    if (!here.contains(key)) return fmt::format("{} is {}, and not given now", key, value.dump());
  return "";
}

// "3, 5 to 9"
std::string ranges(const std::vector<int64_t>& numbers) {
  std::vector<std::string> parts;
  constexpr size_t kShown = 10;
  for (size_t k = 0; k < numbers.size();) {
    size_t end = k;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (parts.size() == kShown) {
      parts.push_back("...");
      break;
    }
    parts.push_back(end == k ? fmt::format("{}", numbers[k])
                             : fmt::format("{} to {}", numbers[k], numbers[end]));
    k = end + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Shard Shard::parse(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto [slash, bad_index] = std::from_chars(text.data(), end, shard.index);
  bool good = bad_index == std::errc() && slash != end && *slash == '/';
  if (good) {
    const auto [stop, bad_count] = std::from_chars(slash + 1, end, shard.count);
    good = bad_count == std::errc() && stop == end && 1 <= shard.index &&
           shard.index <= shard.count && shard.count <= kMostBlocks;
  }
  require_option(good, "a shard is the number of a process and how many there are (2/7), got '{}'",
                 text);
  --shard.index;
  return shard;
}

BlockFolder::BlockFolder(fs::path folder, const Json& job, std::string ending)
    : folder_(std::move(folder)), ending_(std::move(ending)) {
  const fs::path file = folder_ / kJobFile;
  if (!is_there(file)) {
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw file_error("make the folder", folder_, failure.value());
    remove_leftovers(folder_);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      // Another process may be writing the file of the same job in this moment.
      const std::string name = entry.path().filename();
      require(name.starts_with('.') || name == kJobFile,
              "'{}' is not empty: choose a new folder for the blocks", folder_.string());
    }
    write_file_atomically(
        file, Json{{"format", kFormat}, {"ending", ending_}, {"job", job}}.dump(2) + "\n");
  }
  const nlohmann::json stored = read_json(file);
  try {
    require(stored.at("format").get<int>() <= kFormat,
            "'{}' was written by a newer version of tessera", file.string());
    const std::string differs = difference(stored.at("job"), nlohmann::json(job));
    if (!differs.empty())
      throw Error(
          fmt::format("'{}' holds the blocks of another job: {}", folder_.string(), differs),
          "choose another folder, or give all processes the same command");
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is damaged: {}", file.string(), json_problem(error)));
  }
}

bool BlockFolder::has(int64_t block) const {
  return is_there(block_file(folder_, block, ending_));
}

void BlockFolder::write(int64_t block, std::string_view bytes) const {
  require(0 <= block && block < kMostBlocks, "a job has at most {} blocks: make them larger",
          kMostBlocks);
  write_file_atomically(block_file(folder_, block, ending_), bytes);
}

void BlockFolder::set_count(int64_t blocks) const {
  write_file_atomically(folder_ / kCountFile, Json{{"blocks", blocks}}.dump() + "\n");
}

nlohmann::json BlockFolder::job_of(const fs::path& folder) {
  const fs::path file = folder / kJobFile;
  require(is_there(file), "'{}' holds no blocks: it has no {}", folder.string(), kJobFile);
  try {
    return read_json(file).at("job");
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is damaged: {}", file.string(), json_problem(error)));
  }
}

void BlockFolder::join(const fs::path& folder,
                       const std::function<void(std::string_view bytes)>& take) {
  const fs::path job = folder / kJobFile, count = folder / kCountFile;
  require(is_there(job), "'{}' holds no blocks: it has no {}", folder.string(), kJobFile);
  if (!is_there(count))
    throw Error(fmt::format("no process has come to the end of its input yet: '{}' has no {}",
                            folder.string(), kCountFile),
                "wait for one, or start it again: it goes on where it was");
  try {
    const std::string ending = read_json(job).at("ending").get<std::string>();
    const auto blocks = read_json(count).at("blocks").get<int64_t>();
    require(0 <= blocks && blocks < kMostBlocks, "'{}' is damaged: {} blocks", count.string(),
            blocks);
    std::vector<int64_t> missing;
    for (int64_t block = 0; block < blocks; ++block)
      if (!is_there(block_file(folder, block, ending))) missing.push_back(block);
    if (!missing.empty())
      throw Error(fmt::format("{} of {} blocks are missing in '{}': {}", missing.size(), blocks,
                              folder.string(), ranges(missing)),
                  "process I of N makes blocks I - 1, I - 1 + N, ...: start those that have not "
                  "ended again; they go on where they were");
    for (int64_t block = 0; block < blocks; ++block)
      take(MappedFile(block_file(folder, block, ending)).view());
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is damaged: {}", folder.string(), json_problem(error)));
  }
}

}  // namespace tessera
