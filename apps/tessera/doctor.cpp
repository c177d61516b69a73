#include "base/numerals.h"
#include "base/require.h"
#include "command.h"
#include "kernels/cpu/row_scan.h"
#include "kernels/device.h"
#include "machine.h"
#include "print_json.h"
#include "self_check.h"
#include "shipped_models.h"
#include "tensor/device.h"
#include "tensor/machine_memory.h"

#include <tessera/base/enum_names.h>
#include <tessera/serve/server.h>
#include <tessera/version.h>

#include <strings.h>
#include <unistd.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/headeronly/version.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace tessera::app {

enum class Health { ok, warning, problem };

}  // namespace tessera::app

template <>
struct tessera::EnumNames<tessera::app::Health> {
  using Health = tessera::app::Health;
  static constexpr std::string_view what = "health";
  static constexpr std::array<std::pair<Health, std::string_view>, 3> values{
      {{Health::ok, "ok"}, {Health::warning, "warning"}, {Health::problem, "problem"}}};
};

namespace tessera::app {
namespace {

struct Finding {
  Health health = Health::ok;
  std::string name, text;
  std::string advice = {};  // if something is wrong
};

using Findings = std::vector<Finding>;

constexpr uint64_t kMebibyte = uint64_t{1} << 20, kGibibyte = uint64_t{1} << 30;

bool libtorch_has_cuda() {
  return at::show_config().find("CUDA Runtime") != std::string::npos;
}

void add_versions(Findings& findings) {
  findings.push_back({Health::ok, "tessera", version()});
  findings.push_back(
      {Health::ok, "LibTorch",
       fmt::format("{}, {}", TORCH_VERSION, libtorch_has_cuda() ? "with CUDA" : "CPU only")});
}

void add_cpu(Findings& findings) {
  const std::string kernels(kernels::cpu::row_scan().name);
  const int threads = at::get_num_threads();
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  Finding finding{Health::ok, "CPU",
                  fmt::format("{} threads on {} cores; instruction set of our kernels: {}, of "
                              "LibTorch: {}",
                              threads, cores, kernels, at::get_cpu_capability())};
  if (cores > 0 && threads > cores) {
    finding.health = Health::warning;
    finding.advice =
        "more threads than cores slow each other down: lower --threads or "
        "OMP_NUM_THREADS";
  }
  findings.push_back(finding);
}

// Whether waiting threads spin or sleep: the OpenMP library reads this setting when it is loaded.
void add_waiting_threads(Findings& findings) {
  const auto is_set = [](const char* name, const char* value) {
    const char* found = std::getenv(name);
    return found != nullptr && strcasecmp(found, value) == 0;
  };
  Finding finding{Health::ok, "threads", "sleep while they wait"};
  if (!is_set("OMP_WAIT_POLICY", "passive") && !is_set("GOMP_SPINCOUNT", "0")) {
    finding.health = Health::warning;
    finding.text = "spin while they wait: beside other programs everything gets much slower";
    finding.advice =
        "set OMP_WAIT_POLICY=PASSIVE in the environment, also for programs of your own that use "
        "the library";
  }
  findings.push_back(finding);
}

void add_memory(Findings& findings) {
  const Memory found = machine_memory();
  if (found.total == 0) {
    findings.push_back({Health::warning, "memory", "the system does not say how much there is",
                        "make sure /proc is mounted"});
    return;
  }
  Finding finding{Health::ok, "memory",
                  fmt::format("{}, {} of it free", bytes_text(static_cast<double>(found.total)),
                              bytes_text(static_cast<double>(found.available)))};
  if (found.available < 2 * kGibibyte) {
    finding.health = Health::warning;
    finding.advice =
        "training wants 2 GiB or more: end other programs, or use a small recipe and "
        "small batches";
  }
  findings.push_back(finding);
}

void add_disk(Findings& findings) {
  std::error_code failure;
  const auto space = std::filesystem::space(".", failure);
  if (failure) {
    findings.push_back({Health::warning, "disk", "the current folder: " + failure.message(),
                        "change to a folder that exists"});
    return;
  }
  Finding finding{Health::ok, "disk",
                  fmt::format("{} free in the current folder",
                              bytes_text(static_cast<double>(space.available)))};
  if (access(".", W_OK) != 0) {
    finding.health = Health::warning;
    finding.text += ", which cannot be written to";
    finding.advice = "change to a folder of your own, or name one with train.out and --out";
  } else if (space.available < 2 * kGibibyte) {
    finding.health = space.available < 64 * kMebibyte ? Health::problem : Health::warning;
    finding.advice =
        "a checkpoint takes 16 bytes a parameter (0.6 GiB for 37M): make room, or "
        "choose another folder";
  }
  findings.push_back(finding);
}

void add_lzma(Findings& findings) {
#ifdef TESSERA_HAS_LZMA
  findings.push_back({Health::ok, "lzma", "built in: .xz files are read"});
#else
  findings.push_back({Health::warning, "lzma", "not built in: .xz files cannot be read",
                      "install liblzma-dev and build again, or unpack such files first"});
#endif
}

void add_models(Findings& findings) {
  std::vector<std::string> names;
  for (const std::filesystem::path& folder : shipped_models()) names.push_back(folder.filename());
  findings.push_back(
      {Health::ok, "models",
       names.empty() ? "none came with this program"
                     : fmt::format("{} (used where no model is named)", fmt::join(names, ", "))});
}

void add_server(Findings& findings) {
  if (Server::is_built_in())
    findings.push_back({Health::ok, "server", "built in: tessera serve"});
  else
    findings.push_back({Health::warning, "server", "not built in: no tessera serve",
                        "install libcpp-httplib-dev and pkg-config, and build again"});
}

// Why no CUDA device is in use.
Finding absent_cuda() {
  Finding finding{Health::ok, "CUDA", "no device; everything is computed on the CPU"};
  if (kernels::cuda::built_in()) {
    finding.health = Health::warning;
    finding.text = fmt::format("built in, but no device can be used ({}); the CPU is",
                               kernels::cuda::why_no_device());
    finding.advice = has_nvidia_driver()
                         ? "compare the driver's version (nvidia-smi) with LibTorch's CUDA, and "
                           "look at CUDA_VISIBLE_DEVICES"
                         : "install the NVIDIA driver if there is a device";
  } else if (has_nvidia_driver()) {
    finding.health = Health::warning;
    finding.text =
        libtorch_has_cuda()
            ? "there is an NVIDIA driver, but no CUDA kernels are built in; the CPU is "
              "used"
            : "there is an NVIDIA driver, but this LibTorch has no CUDA; the CPU is used";
    finding.advice =
        "build again with a LibTorch that has CUDA, with nvcc on the PATH and "
        "-DTESSERA_CUDA=ON";
  }
  return finding;
}

// One line per device; those that can be used are added to `usable`.
void add_cuda(Findings& findings, std::vector<at::Device>& usable) {
  const int count = cuda_device_count();
  if (count == 0) findings.push_back(absent_cuda());
  for (int index = 0; index < count; ++index) {
    Finding finding{Health::ok, fmt::format("cuda:{}", index), ""};
    try {
      const auto facts = kernels::cuda::facts_of(index);
      finding.text =
          fmt::format("{}, {}, {} of it free, compute capability {}.{}", facts.name,
                      bytes_text(static_cast<double>(facts.total_bytes)),
                      bytes_text(static_cast<double>(facts.free_bytes)), facts.major, facts.minor);
      if (kernels::cuda::has_code_for(index)) {
        usable.emplace_back(at::kCUDA, static_cast<c10::DeviceIndex>(index));
        if (!kernels::cuda::has_hopper_code_for(index))
          finding.text += "; without the kernels for 9.0 and later, which are faster";
      } else {
        finding.health = Health::warning;
        finding.text += ": too old for our kernels, so not used";
        finding.advice = "they need compute capability 8.0 (Ampere) or later";
      }
    } catch (const std::exception& failure) {
      finding.health = Health::problem;
      finding.text = failure.what();
      finding.advice = "see whether nvidia-smi works and the device is free";
    }
    findings.push_back(finding);
  }
}

void add_self_check(Findings& findings, const std::string& name,
                    const std::function<void()>& check) {
  Finding finding{Health::ok, name, "right"};
  try {
    check();
  } catch (const c10::Error& failure) {
    finding.health = Health::problem;
    finding.text = failure.what_without_backtrace();
  } catch (const std::exception& failure) {
    finding.health = Health::problem;
    finding.text = failure.what();
  }
  if (finding.health == Health::problem)
    finding.advice = "do not trust results from this device: report it with this whole output";
  findings.push_back(finding);
}

void add_self_checks(Findings& findings, at::Device device) {
  const std::string where = device.str();
  add_self_check(findings, where + " boundary", [&] { check_boundary(device); });
  add_self_check(findings, where + " float32", [&] { check_matmul(device, at::kFloat); });
  add_self_check(findings, where + " bfloat16", [&] { check_matmul(device, at::kBFloat16); });
}

Findings examine() {
  Findings findings;
  add_versions(findings);
  add_cpu(findings);
  add_waiting_threads(findings);
  add_memory(findings);
  add_disk(findings);
  add_lzma(findings);
  add_models(findings);
  add_server(findings);
  std::vector<at::Device> devices{at::kCPU};
  add_cuda(findings, devices);
  for (const at::Device device : devices) add_self_checks(findings, device);
  return findings;
}

void print_text(const Findings& findings) {
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  for (const Finding& finding : findings) {
    std::cout << fmt::format("{:<8} {:<{}}  {}\n", name_of(finding.health), finding.name, width,
                             finding.text);
    if (!finding.advice.empty())
      std::cout << fmt::format("{:<8} {:<{}}  advice: {}\n", "", "", width, finding.advice);
  }
}

void print_as_json(const Findings& findings, bool usable) {
  nlohmann::ordered_json json{{"usable", usable}, {"findings", nlohmann::ordered_json::array()}};
  for (const Finding& finding : findings)
    json["findings"].push_back({{"health", name_of(finding.health)},
                                {"name", finding.name},
                                {"text", finding.text},
                                {"advice", finding.advice}});
  print_json(json);
}

void run_doctor(const GlobalOptions& globals) {
  const Findings findings = examine();
  const auto problems = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.health == Health::problem;
  });
  if (globals.json)
    print_as_json(findings, problems == 0);
  else
    print_text(findings);
  require(problems == 0, "{} found: tessera cannot be relied on here",
          counted(problems, "problem"));
}

}  // namespace

void add_doctor(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* doctor = program.add_subcommand(
      "doctor",
      "check this machine: what it has, what is missing, and whether it computes correctly");
  doctor->footer(
      "Every line begins with ok, warning or problem. Ends with 1 if there is a problem.");
  doctor->callback([&globals] { run_doctor(globals); });
}

}  // namespace tessera::app
