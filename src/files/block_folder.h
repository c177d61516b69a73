#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace tessera {

// The share of one of several processes in a job that is cut into blocks.
struct Shard {
  int64_t index = 0, count = 1;  // process `index` of `count`, from 0

  bool owns(int64_t block) const { return block % count == index; }

  // "2/7": the second of seven. Throws UsageError for anything else.
  static Shard parse(const std::string& text);
};

// A folder that several processes fill with the blocks of one job, in any order: job.json, and
// block-00000000.txt, ... A block appears when it is complete, so any process may die and be
// started again.
class BlockFolder {
 public:
  // Makes the folder, or joins those who fill it.
  //   job     what is made, and of what: the same for all
  //   ending  of the blocks: "txt"
  // Throws Error if the folder holds another job (it names what differs) or anything else.
  BlockFolder(std::filesystem::path folder, const nlohmann::ordered_json& job, std::string ending);

  bool has(int64_t block) const;
  void write(int64_t block, std::string_view bytes) const;

  // To be called by every process that knows how many blocks there are.
  void set_count(int64_t blocks) const;

  // The job of a folder. Throws Error if there is none.
  static nlohmann::json job_of(const std::filesystem::path& folder);

  // Hands over all blocks in order. Throws Error that says which are missing, before anything else.
  static void join(const std::filesystem::path& folder,
                   const std::function<void(std::string_view bytes)>& take);

 private:
  std::filesystem::path folder_;
  std::string ending_;
};

}  // namespace tessera
