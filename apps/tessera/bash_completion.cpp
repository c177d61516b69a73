#include "completion_scripts.h"

#include <tessera/version.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace tessera::app {
namespace {

// What does not depend on what there is to complete. bash breaks words at '=' and ':', and replaces
// only what follows the last break.
constexpr const char* kBashFunctions = R"BASH(
# Makes replies of the words in $choices that continue $value, which follows $head in a word.
_tessera_reply() {
  local before=$head$value
  mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$value")
  COMPREPLY=("${COMPREPLY[@]/#/$head}")
  before=${before%"${before##*[=:]}"}
  if [[ $before && $COMP_WORDBREAKS == *"${before: -1}"* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
  fi
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=:.] ]]; then compopt -o nospace; fi
}

# Offers what _tessera_about has found.
_tessera_offer() {
  local found k
  if [[ $keys && $value == *=* ]]; then
    head+=${value%%=*}= choices= files= ending= folders=
    _tessera_key "${value%%=*}"
    value=${value#*=}
  elif [[ $keys ]]; then
    if [[ $value == *.* ]]; then
      choices=${!keys}
    elif [[ $value ]]; then
      _tessera_tables
    fi
  fi
  if [[ $list && $value == *,* ]]; then
    head+=${value%,*},
    value=${value##*,}
  fi
  _tessera_reply
  # Words with quotes or '~' are left to bash, which knows how to read them.
  if [[ $ending && $value != *[~\"\'\\]* ]]; then
    mapfile -t found < <(compgen -f -X "!*.$ending" -- "$value")
    for k in "${!found[@]}"; do [[ -d ${found[k]} ]] && unset "found[k]"; done
    COMPREPLY+=("${found[@]}")
    compopt -o filenames -o plusdirs
  elif [[ $files ]] && ((${#COMPREPLY[@]} == 0)); then
    compopt -o default
  elif [[ $folders ]] && ((${#COMPREPLY[@]} == 0)); then
    compopt -o dirnames
  fi
}

_tessera() {
  local line=${COMP_LINE:0:COMP_POINT} blank word k words=()
  for ((k = 0; k <= COMP_CWORD; k++)); do  # the words up to the cursor, without bash's breaks
    word=${COMP_WORDS[k]}
    blank=${line%%[![:space:]]*}
    line=${line#"$blank"}
    if ((k == COMP_CWORD)) && [[ $word == "$line"* ]]; then word=$line; fi
    if ((k > 0)) && [[ ! $blank ]]; then words[-1]+=$word; else words+=("$word"); fi
    line=${line#"$word"}
  done

  local command= flag= pending=0 last=$((${#words[@]} - 1))
  local takes choices files ending folders keys list head= value=${words[last]}
  for ((k = 1; k < last; k++)); do
    word=${words[k]}
    if [[ $word == -*=* ]]; then
      pending=0
    elif [[ $word == -?* ]]; then
      flag=$word
      _tessera_about "$command $flag"
      pending=$takes
    elif [[ $pending == 0 ]]; then
      _tessera_enter "$word"
    elif [[ $pending == 1 ]]; then
      pending=0
    fi
  done

  COMPREPLY=()
  if [[ ${words[last - 1]} == *[\<\>] || $value == *[\<\>]* ]]; then
    compopt -o default
    return
  fi
  if [[ $value == --*=* ]]; then
    head=${value%%=*}=
    value=${value#*=}
    _tessera_about "$command ${head%=}"
  elif [[ $value == -* ]] && [[ $pending != 1 ]]; then
    _tessera_flags "$command"
    _tessera_reply
    return
  elif [[ $pending != 0 ]]; then
    _tessera_about "$command $flag"
  else
    _tessera_about "$command "
  fi
  _tessera_offer
}

complete -F _tessera tessera
)BASH";

// A case of a function: what is done for some words.
class BashCases {
 public:
  void add(const std::string& pattern, const std::string& effect) {
    for (auto& [known, patterns] : cases_)
      if (known == effect) return patterns.push_back(pattern);
    cases_.push_back({effect, {pattern}});
  }

  std::string text() const {
    std::string text = "  case $1 in\n";
    for (const auto& [effect, patterns] : cases_)
      text += fmt::format("    {})\n      {}\n      ;;\n", fmt::join(patterns, " | "), effect);
    return text + "  esac\n";
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> cases_;
};

std::string bash_function(const std::string& comment, const std::string& name,
                          const std::string& body) {
  return fmt::format("\n# {}\n{}() {{\n{}}}\n", comment, name, body);
}

std::string bash_effect(const ValueForm& form) {
  std::string text;
  if (!form.words.empty()) text += " choices=" + shell_quoted(with_blanks(form.words));
  if (form.files) text += " files=1";
  if (!form.ending.empty()) text += " ending=" + form.ending;
  if (form.folders) text += " folders=1";
  if (form.keys != KeysOf::nothing)
    text += form.keys == KeysOf::flow ? " keys=_tessera_flow_keys" : " keys=_tessera_recipe_keys";
  if (form.list) text += " list=1";
  return text;
}

// The words that complete after a command, and its arguments.
ValueForm arguments_form(const DeclaredCommand& command, const DeclaredCommand& program) {
  ValueForm form;
  if (!command.arguments.empty()) form = command.arguments.front().form;
  for (const DeclaredCommand& each : form.commands ? program.commands : command.commands)
    form.words.push_back(each.name());
  return form;
}

std::string bash_about(const DeclaredCommand& program) {
  BashCases cases;
  const auto add_options = [&](const DeclaredCommand& command, const std::string& pattern) {
    for (const DeclaredOption& option : command.options)
      if (!option.placeholder.empty())
        for (const std::string& name : option.names)
          cases.add(pattern + shell_quoted(command.words + " " + name),
                    (option.several ? "takes=2" : "takes=1") + bash_effect(option.form));
  };
  add_options(program, "*");
  const auto add_arguments = [&](const DeclaredCommand& command) {
    const std::string effect = bash_effect(arguments_form(command, program));
    if (!effect.empty()) cases.add(shell_quoted(command.words + " "), effect.substr(1));
  };
  add_arguments(program);
  for (const DeclaredCommand* command : all_commands(program)) {
    add_options(*command, "");
    add_arguments(*command);
  }
  return bash_function(
      "What \"COMMAND --flag\" takes, and \"COMMAND \": none, 1 or 2 (several) of what values.",
      "_tessera_about", "  takes=0 choices= files= ending= folders= keys= list=\n" + cases.text());
}

std::string bash_flags(const DeclaredCommand& program) {
  const auto names = [](const DeclaredCommand& command) {
    std::vector<std::string> all;
    for (const DeclaredOption& option : command.options)
      all.insert(all.end(), option.names.begin(), option.names.end());
    return with_blanks(all);
  };
  BashCases cases;
  for (const DeclaredCommand* command : all_commands(program))
    cases.add(shell_quoted(command->words), "choices+=' " + names(*command) + "'");
  return bash_function("The flags of a command, and those of all.", "_tessera_flags",
                       "  choices='" + names(program) + "'\n" + cases.text());
}

std::string bash_enter(const DeclaredCommand& program) {
  BashCases cases;
  for (const DeclaredCommand* command : all_commands(program))
    cases.add(
        shell_quoted((command->words.find(' ') == std::string::npos ? " " : "") + command->words),
        "command=${1# }");
  return bash_function("Takes a word that may name a command, or one below the present command.",
                       "_tessera_enter", "  set -- \"$command $1\"\n" + cases.text());
}

// The values of keys.
std::string bash_key_values(const Completable& all) {
  BashCases cases;
  for (const auto* keys : {&all.recipe_keys, &all.flow_keys})
    for (const ConfigurationKey& key : *keys) {
      if (!key.values.empty())
        cases.add(key.name, "choices=" + shell_quoted(with_blanks(key.values)));
      else if (key.path)
        cases.add(key.name, "files=1");
    }
  return bash_function("The values of a configuration key.", "_tessera_key", cases.text());
}

std::string bash_key_list(const char* name, const std::vector<ConfigurationKey>& keys) {
  std::string text = fmt::format("\n{}='", name);
  for (const ConfigurationKey& key : keys) text += "\n" + key.name + "=";
  return text + "'\n";
}

constexpr const char* kBashTables = R"BASH(
# The tables of keys that continue $value, or the keys where only one table is left.
_tessera_tables() {
  local key table tables=' '
  for key in ${!keys}; do
    table=${key%%.*}.
    if [[ $table == "$value"* && $tables != *" $table "* ]]; then tables+="$table "; fi
  done
  choices=$tables
}
)BASH";

}  // namespace

std::string bash_completion(const Completable& all) {
  return "# bash completion for tessera " + version() +
         ", written by `tessera completion bash`.\n" +
         bash_key_list("_tessera_recipe_keys", all.recipe_keys) +
         bash_key_list("_tessera_flow_keys", all.flow_keys) + bash_about(all.program) +
         bash_flags(all.program) + bash_enter(all.program) + bash_key_values(all) + kBashTables +
         kBashFunctions;
}

}  // namespace tessera::app
