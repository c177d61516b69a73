#include "base/log.h"
#include "base/nearest_name.h"
#include "base/visible_text.h"
#include "command.h"
#include "console.h"
#include "kernels/device.h"
#include "option_checks.h"
#include "stop_signal.h"
#include "tensor/device.h"
#include "tensor/out_of_memory.h"
#include "terminal.h"

#include <tessera/base/error.h>
#include <tessera/ranks/lost_process.h>
#include <tessera/tensor/value_checks.h>
#include <tessera/version.h>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using tessera::app::GlobalOptions;
using tessera::app::whole_number;

constexpr int kDone = 0, kFailed = 1, kWrongUsage = 2;
constexpr int kStartAgain = 75;         // EX_TEMPFAIL: a restart cures it
constexpr int kUnread = 128 + SIGPIPE;  // the exit code a shell reports for SIGPIPE

constexpr const char* kVersionHelp =
    "print versions of tessera, LibTorch and CUDA, and the instruction sets in use";

std::string version_text() {
  return "tessera " + tessera::version() + "\n" + tessera::build_summary();
}

void add_global_options(CLI::App& program, GlobalOptions& globals) {
  program.fallthrough();
  program.add_option("--device", globals.device, "where to compute")
      ->type_name("auto|cpu|cuda|cuda:N")
      ->capture_default_str();
  program
      .add_option(
          "--threads", globals.threads,
          "CPU threads (0: as many as LibTorch chooses; use fewer beside other busy programs)")
      ->capture_default_str()
      ->check(whole_number(0, 1024));
  program.add_option("--seed", globals.seed, "seed of all random numbers")
      ->capture_default_str()
      ->check(whole_number(0));
  program.add_flag("-q,--quiet", globals.quiet, "print warnings and errors only");
  program.add_flag("--json", globals.json, "print results as JSON");
  program.set_version_flag("-V,--version", version_text, kVersionHelp);
}

void report(const tessera::Error& error, const std::string& name = {}) {
  std::cerr << name << tessera::app::painted(tessera::app::Paint::red, "error:") << ' '
            << tessera::visible(error.what()) << '\n';
  if (!error.hint().empty()) std::cerr << "hint: " << tessera::visible(error.hint()) << '\n';
}

// Used if nothing more precise is known.
tessera::Error not_enough_memory() {
  return tessera::Error("there is not enough memory",
                        "smaller files, a smaller model or smaller batches need less; `tessera "
                        "train --dry-run` says how much a run takes");
}

// For an unforeseen error, with the first line of the library's message.
tessera::Error unforeseen(std::string what) {
  what.erase(std::min(what.find('\n'), what.size()));
  return tessera::Error("unexpected error: " + what,
                        "please report it, with the command and what it was given");
}

tessera::UsageError unknown_command(const CLI::App& program, const std::string& word) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return tessera::UsageError(
      "there is no command '" + word + "'" + tessera::did_you_mean(word, names),
      "`tessera --help` lists them");
}

tessera::UsageError wrong_arguments(const CLI::App& program, const CLI::ParseError& error) {
  std::string command = "tessera";
  for (const CLI::App* each = &program; !each->get_subcommands().empty();) {
    each = each->get_subcommands().front();
    command += " " + each->get_name();
  }
  return tessera::UsageError(error.what(), "`" + command + " --help` says what there is");
}

// `help COMMAND` and `version`, for those who do not try dashes first.
void add_help_and_version(CLI::App& program) {
  CLI::App* help = program.add_subcommand("help", "say what a command does: tessera help train");
  auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *words, "the command; none: all of them")->option_text("COMMAND");
  help->callback([words, &program] {
    const CLI::App* named = &program;
    std::string name = program.get_name();
    for (const std::string& word : *words) {
      const auto commands = named->get_subcommands([](const CLI::App*) { return true; });
      const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* each) {
        return each->get_name() == word;
      });
      if (found == commands.end()) throw unknown_command(*named, word);
      named = *found;
      name += " " + word;
    }
    std::cout << program.get_formatter()->make_help(named, name, CLI::AppFormatMode::Normal);
  });
  program.add_subcommand("version", kVersionHelp)->callback([] {
    std::cout << version_text() << '\n';
  });
}

// Freed memory is kept for the next tensors. To give it back to the system and take it again costs
// a tenth of a training update on a CPU. Environment variables take precedence.
void keep_freed_memory() {
#ifdef __GLIBC__
  if (std::getenv("MALLOC_TRIM_THRESHOLD_") == nullptr) ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  if (std::getenv("MALLOC_MMAP_THRESHOLD_") == nullptr) ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

// Whether the reader of our output has had enough (`| head`).
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

int run(int argc, char** argv, tessera::app::Console& console) {
  GlobalOptions globals;
  globals.console = &console;
  CLI::App program(
      "Diffusion models of discrete data, with noise paths that start at the borders of the "
      "discrete cells",
      "tessera");
  add_global_options(program, globals);
  program.require_subcommand(1);
  program.parse_complete_callback([&] {
    if (globals.quiet) console.set_level(tessera::app::Console::Level::quiet);
    if (globals.threads > 0) at::set_num_threads(globals.threads);
    tessera::parse_device(globals.device);
  });
  tessera::app::add_prepare(program, globals);
  tessera::app::add_train(program, globals);
  tessera::app::add_generate(program, globals);
  tessera::app::add_sample(program, globals);
  tessera::app::add_evaluate(program, globals);
  tessera::app::add_experiment(program, globals);
  tessera::app::add_distill(program, globals);
  tessera::app::add_inspect(program, globals);
  tessera::app::add_report(program, globals);
  tessera::app::add_average(program, globals);
  tessera::app::add_export(program, globals);
  tessera::app::add_score(program, globals);
  tessera::app::add_score_model(program, globals);
  tessera::app::add_fid(program, globals);
  tessera::app::add_serve(program, globals);
  tessera::app::add_bpe(program);
  tessera::app::add_options(program);
  tessera::app::add_doctor(program, globals);
  tessera::app::add_flow(program, globals);
  tessera::app::add_bench(program, globals);
  tessera::app::add_completion(program);
  tessera::app::add_man(program);
  add_help_and_version(program);

  try {
    program.parse(argc, argv);
    tessera::raise_deferred_errors();
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ParseError& error) {
    if (const auto unknown = program.remaining();
        program.get_subcommands().empty() && !unknown.empty())
      report(unknown_command(program, unknown.front()));
    else
      report(wrong_arguments(program, error));
    return kWrongUsage;
  } catch (const tessera::app::Stopped& stopped) {  // by a signal, after saving
    tessera::log::info("{}", stopped.what());
    return stopped.exit_code();
  } catch (const tessera::LostProcess& error) {
    report(error, console.name());
    return kStartAgain;
  } catch (const tessera::UsageError& error) {
    report(error, console.name());
    return kWrongUsage;
  } catch (const tessera::Error& error) {
    report(error, console.name());
    return kFailed;
  } catch (const c10::Error& error) {  // its what() carries a backtrace
    if (tessera::is_out_of_memory(error))
      report(not_enough_memory());
    else
      report(unforeseen(error.what_without_backtrace()));
    return kFailed;
  } catch (const std::bad_alloc&) {
    report(not_enough_memory());
    return kFailed;
  } catch (const std::length_error&) {  // more elements than a container can have
    report(not_enough_memory());
    return kFailed;
  } catch (const std::system_error& error) {
    if (error.code().value() == EPIPE && reader_is_gone()) return kUnread;
    report(unforeseen(error.what()));
    return kFailed;
  } catch (const std::exception& error) {
    report(unforeseen(error.what()));
    return kFailed;
  }
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe becomes a failed write, seen below
  std::signal(SIGXFSZ, SIG_IGN);
  // For comparisons on a newer GPU (docs/gpus.md).
  if (std::getenv("TESSERA_OLDER_GPU") != nullptr)
    tessera::kernels::cuda::set_hopper_kernels(false);
  tessera::app::Console console;
  console.listen();
  int status = run(argc, argv, console);
  std::cout.flush();
  if (!std::cout || std::fflush(stdout) != 0 || std::ferror(stdout)) {
    const bool unread = reader_is_gone();
    if (!unread) report(tessera::Error("cannot write to standard output"));
    if (status == kDone) status = unread ? kUnread : kFailed;
  }
  // LibTorch takes 0.1 s to clean up.
  std::_Exit(status);
}
