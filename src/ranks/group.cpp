#include "ranks/group.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "ranks/c10d_group.h"

#include <fmt/format.h>

#include <exception>

namespace tessera::ranks {
namespace {

class Alone final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(const at::Tensor&) override {}
  void broadcast(const at::Tensor&) override {}
  std::vector<std::string> gather(const std::string& mine) override { return {mine}; }
  bool agree_to_stop(int64_t, bool wanted) override { return wanted; }
};

// What a process tells the others after some work: a letter, then a message.
constexpr char kDone = 'd', kGivenUp = 'g', kFailed = 'f';

std::string outcome_of(const std::exception_ptr& failure) {
  if (!failure) return {kDone};
  try {
    std::rethrow_exception(failure);
  } catch (const GivenUp&) {
    return {kGivenUp};
  } catch (const std::exception& error) {
    return kFailed + std::string(error.what());
  } catch (...) {
    return kFailed + std::string("for an unknown reason");
  }
}

std::exception_ptr failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const LostProcess&) {
    throw;  // the others see it, too
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

// Waits for all, and throws if any has a failure.
void share_failure(Group& group, const std::exception_ptr& failure) {
  const std::vector<std::string> outcomes = group.gather(outcome_of(failure));
  if (failure) std::rethrow_exception(failure);
  for (size_t k = 0; k < outcomes.size(); ++k)
    if (outcomes[k].front() == kFailed)
      throw Error(
          fmt::format("process {} of {} failed: {}", k, group.size(), outcomes[k].substr(1)));
  for (const std::string& outcome : outcomes)
    if (outcome.front() == kGivenUp) throw GivenUp();
}

}  // namespace

Group& alone() {
  static Alone group;
  return group;
}

std::unique_ptr<Group> meet(const RankOptions& options, at::Device device) {
  require_option(options.size >= 1 && 0 <= options.rank && options.rank < options.size,
                 "there is no process {} among {}: they are numbered from 0", options.rank,
                 options.size);
  if (options.size == 1) return std::make_unique<Alone>();
  require_option(1 <= options.port && options.port <= 65535,
                 "a port is a number from 1 to 65535, got {}", options.port);
  if (options.rank == 0)
    log::info("waiting for {} to meet at {}:{}",
              counted(options.size - 1, "other process", "other processes"), options.address,
              options.port);
  return meet_by_c10d(options, device);
}

void together(Group& group, const std::function<void()>& work) {
  if (group.alone()) return work();
  share_failure(group, failure_of(work));
}

void first_then_others(Group& group, const std::function<void()>& work) {
  if (group.alone()) return work();
  share_failure(group, group.first() ? failure_of(work) : nullptr);
  share_failure(group, group.first() ? nullptr : failure_of(work));
}

}  // namespace tessera::ranks
