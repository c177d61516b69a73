#include "choices.h"
#include "command.h"

#include "completion_scripts.h"

#include <tessera/base/enum_names.h>

#include <iostream>
#include <memory>
#include <string>

namespace tessera::app {
namespace {

enum class Shell { bash, zsh, fish };

}  // namespace
}  // namespace tessera::app

template <>
struct tessera::EnumNames<tessera::app::Shell> {
  using Shell = tessera::app::Shell;
  static constexpr std::string_view what = "shell";
  static constexpr std::array<std::pair<Shell, std::string_view>, 3> values{
      {{Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}}};
};

namespace tessera::app {
namespace {

std::string script_for(Shell shell, const Completable& all) {
  switch (shell) {
    case Shell::bash:
      return bash_completion(all);
    case Shell::zsh:
      return zsh_completion(all);
    case Shell::fish:
      return fish_completion(all);
  }
  return "";
}

}  // namespace

void add_completion(CLI::App& program) {
  CLI::App* completion = program.add_subcommand(
      "completion", "print a script that lets a shell complete commands, flags, values and keys");
  completion->footer(
      "An installed program has the scripts where the shells look for them. For one that is not\n"
      "installed:\n"
      "  source <(tessera completion bash)          # in ~/.bashrc\n"
      "  source <(tessera completion zsh)           # in ~/.zshrc, after compinit\n"
      "  tessera completion fish | source           # in ~/.config/fish/config.fish");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "the shell that is to read it")
      ->required()
      ->option_text(choices<Shell>());
  completion->callback([shell, &program] {
    std::cout << script_for(parse_name<Shell>(*shell),
                            {declared(program), recipe_keys(), flow_keys()});
  });
}

}  // namespace tessera::app
