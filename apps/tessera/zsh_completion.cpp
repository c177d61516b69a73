#include "completion_scripts.h"

#include <tessera/version.h>

#include <fmt/format.h>

namespace tessera::app {
namespace {

constexpr const char* kZshFunctions = R"ZSH(
# Offers words; what ends in '=' or ':' goes on.
_tessera_words() {
  local -a open=(${(M)@:#*[=:]}) closed=(${@:#*[=:]})
  local result=1
  (( $#open )) && compadd -S '' -a open && result=0
  (( $#closed )) && compadd -a closed && result=0
  return result
}

# Offers recipes, then configuration keys and their values.
#   $1  the function that has the keys
_tessera_settings() {
  local -a keys
  if compset -P 1 '*='; then
    _tessera_key_values ${IPREFIX%=}
    return
  fi
  _files -g '*.toml(-.)' && [[ -z $PREFIX ]] && return 0
  $1
  _describe -t keys 'configuration key' keys -S ''
}
)ZSH";

std::string zsh_escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != special.npos) result += '\\';
    result += c;
  }
  return result;
}

// What _arguments does for a value.
std::string zsh_action(const ValueForm& form) {
  std::vector<std::string> words;
  for (const std::string& word : form.words) words.push_back(zsh_escaped(word, ":\\"));
  if (form.keys != KeysOf::nothing)
    return form.keys == KeysOf::flow ? " _tessera_settings _tessera_flow_keys"
                                     : " _tessera_settings _tessera_recipe_keys";
  if (form.commands) return " _tessera_commands";
  if (form.list) return "_sequence compadd - " + with_blanks(words);
  if (!form.words.empty()) return " _tessera_words " + with_blanks(words);
  if (!form.ending.empty()) return "_files -g \"*." + form.ending + "(-.)\"";
  if (form.files) return "_files";
  if (form.folders) return "_files -/";
  return " ";
}

// ":FILE:_files"
std::string zsh_value(const DeclaredOption& option) {
  return fmt::format(":{}:{}", zsh_escaped(option.placeholder, ":\\"), zsh_action(option.form));
}

// The option as _arguments reads it, a line for each of its names.
std::string zsh_specification(const DeclaredOption& option, const std::string& indent) {
  std::string text;
  for (const std::string& name : option.names) {
    std::string spec;
    if (option.several)
      spec = "*";
    else if (option.names.size() > 1)
      spec = "(" + with_blanks(option.names) + ")";
    spec += name;
    if (!option.placeholder.empty()) spec += name.starts_with("--") ? "=" : "+";
    spec += "[" + zsh_escaped(short_help(option.help), "[]\\:") + "]";
    if (!option.placeholder.empty()) spec += zsh_value(option);
    text += " \\\n" + indent + shell_quoted(spec);
  }
  return text;
}

std::string zsh_specifications(const DeclaredCommand& command, const std::string& indent) {
  std::string text;
  for (const DeclaredOption& option : command.options) text += zsh_specification(option, indent);
  for (size_t k = 0; k < command.arguments.size(); ++k) {
    const DeclaredOption& argument = command.arguments[k];
    text += " \\\n" + indent +
            shell_quoted((argument.several ? "*" : std::to_string(k + 1)) + zsh_value(argument));
  }
  return text;
}

std::string zsh_function_name(const DeclaredCommand& command) {
  std::string name = "_tessera" + (command.words.empty() ? "" : "_of_" + command.words);
  for (char& c : name)
    if (c == ' ' || c == '-') c = '_';
  return name;
}

// Functions for a command and those below it.
std::string zsh_functions(const DeclaredCommand& command, const DeclaredCommand& program) {
  std::string text;
  for (const DeclaredCommand& each : command.commands) text += zsh_functions(each, program);
  const bool top = command.words.empty();
  const std::string name = zsh_function_name(command);
  const std::string of_all = top ? "" : " $_tessera_options";
  if (command.commands.empty())
    return fmt::format("\n{}() {{\n  _arguments -S{}{}\n}}\n", name, of_all,
                       zsh_specifications(command, "    "));

  text += fmt::format("\n{}_commands() {{\n  local -a commands=(", name);
  for (const DeclaredCommand& each : command.commands)
    text += "\n    " + shell_quoted(zsh_escaped(each.name(), ":") + ":" + short_help(each.help));
  text += "\n  )\n  _describe -t commands command commands\n}\n";

  text += fmt::format("\n{}() {{\n", name);
  if (top)
    text += "  local -a _tessera_options=(" + zsh_specifications(command, "    ") + "\n  )\n";
  text += fmt::format(
      "  local curcontext=$curcontext state line\n  typeset -A opt_args\n"
      "  _arguments -S -C $_tessera_options{} \\\n    ': :{}_commands' \\\n    '*:: :->rest' && "
      "return\n  [[ $state == rest ]] || return\n  case $line[1] in\n",
      top ? "" : zsh_specifications(command, "    "), name);
  for (const DeclaredCommand& each : command.commands)
    text += fmt::format("    {}) {} ;;\n", each.name(), zsh_function_name(each));
  return text + "  esac\n}\n";
}

std::string zsh_keys(const char* name, const std::vector<ConfigurationKey>& keys) {
  std::string text = fmt::format("\n{}() {{\n  keys=(", name);
  for (const ConfigurationKey& key : keys)
    text += "\n    " + shell_quoted(key.name + "=:" + short_help(key.help));
  return text + "\n  )\n}\n";
}

std::string zsh_key_values(const Completable& all) {
  std::string text = "\n# Offers the values of a key.\n_tessera_key_values() {\n  case $1 in\n";
  for (const auto* keys : {&all.recipe_keys, &all.flow_keys})
    for (const ConfigurationKey& key : *keys) {
      if (!key.values.empty())
        text += fmt::format("    {}) _tessera_words {} ;;\n", key.name, with_blanks(key.values));
      else if (key.path)
        text += fmt::format("    {}) _files ;;\n", key.name);
    }
  return text + "    *) _message value ;;\n  esac\n}\n";
}

}  // namespace

std::string zsh_completion(const Completable& all) {
  // Read by autoload for the first completion, the file does what its last line says.
  return "#compdef tessera\n# zsh completion for tessera " + version() +
         ", written by `tessera completion zsh`.\n" + kZshFunctions +
         zsh_keys("_tessera_recipe_keys", all.recipe_keys) +
         zsh_keys("_tessera_flow_keys", all.flow_keys) + zsh_key_values(all) +
         zsh_functions(all.program, all.program) +
         "\nif [[ $funcstack[1] == _tessera ]]; then\n  _tessera \"$@\"\nelse\n"
         "  compdef _tessera tessera\nfi\n";
}

}  // namespace tessera::app
