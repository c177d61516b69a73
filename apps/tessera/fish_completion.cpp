#include "completion_scripts.h"

#include <tessera/version.h>

#include <fmt/format.h>

namespace tessera::app {
namespace {

std::string quoted_for_fish(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Completes a path. fish's own completion of files is switched off, because few words are files.
constexpr const char* kFolders = "(__fish_complete_directories (commandline -ct))";

std::string files_with(const std::string& ending) {
  return "(__tessera_files ." + ending + ")";
}

bool any_file(const ValueForm& form) {
  return form.files && form.ending.empty();
}

// What follows `complete`: the words to offer.
std::string fish_offer(const ValueForm& form, const DeclaredCommand& program) {
  std::vector<std::string> words = form.words;
  if (form.commands)
    for (const DeclaredCommand& each : program.commands) words.push_back(each.name());
  if (form.keys != KeysOf::nothing)
    words.push_back(form.keys == KeysOf::flow ? "(__tessera_flow_keys)"
                                              : "(__tessera_recipe_keys)");
  if (form.list) words = {"(__fish_complete_list , \"printf '%s\\n' " + with_blanks(words) + "\")"};
  if (!form.ending.empty())
    words.push_back(files_with(form.ending));
  else if (form.folders && !form.files)
    words.push_back(kFolders);
  std::string text;
  if (any_file(form)) text += " -F";
  if (!words.empty()) text += " -a " + quoted_for_fish(with_blanks(words));
  return text;
}

std::string fish_option(const DeclaredOption& option, const std::string& where,
                        const DeclaredCommand& program) {
  std::string text = "complete -c tessera" + where;
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.placeholder.empty())
    text += (any_file(option.form) ? " -r" : " -x") + fish_offer(option.form, program);
  return text + " -d " + quoted_for_fish(short_help(option.help)) + "\n";
}

std::string fish_completions(const DeclaredCommand& command, const DeclaredCommand& program) {
  std::string text = "\n";
  const std::string where =
      " -n " + quoted_for_fish("__tessera_at " + quoted_for_fish(command.words));
  for (const DeclaredCommand& each : command.commands)
    text += "complete -c tessera" + where + " -a " + each.name() + " -d " +
            quoted_for_fish(short_help(each.help)) + "\n";
  for (const DeclaredOption& each : command.options)
    text += fish_option(each, command.words.empty() ? "" : where, program);
  for (const DeclaredOption& each : command.arguments)
    if (const std::string words = fish_offer(each.form, program); !words.empty())
      text += "complete -c tessera" + where + words + "\n";
  for (const DeclaredCommand& each : command.commands) text += fish_completions(each, program);
  return text;
}

// The function that says which command the line names.
std::string fish_command_finder(const DeclaredCommand& program) {
  std::vector<std::string> names, below, takes_value;
  for (const DeclaredCommand* each : all_commands(program)) {
    const bool top = each->words.find(' ') == std::string::npos;
    (top ? names : below).push_back(quoted_for_fish(each->words));
  }
  for (const DeclaredOption& each : program.options)
    if (!each.placeholder.empty())
      takes_value.insert(takes_value.end(), each.names.begin(), each.names.end());
  return fmt::format(R"FISH(
# The command that the line names so far: nothing, "train", "bpe learn".
function __tessera_command
    set -l command
    set -l is_value no
    for word in (commandline -opc)[2..-1]
        if test $is_value = yes
            set is_value no
        else if contains -- $word {}
            set is_value yes
        else if string match -q -- '-*' $word
            continue
        else if test -z "$command"
            contains -- $word {}; or return
            set command $word
        else if contains -- "$command $word" {}
            set command "$command $word"
        end
    end
    echo $command
end

function __tessera_at
    test "$(__tessera_command)" = "$argv[1]"
end

# Files with an ending, and folders.
function __tessera_files
    for path in (__fish_complete_path (commandline -ct) | string replace -r '\t.*' '')
        if string match -q -- '*/' $path; or string match -q -- "*$argv[1]" $path
            echo $path
        end
    end
end
)FISH",
                     with_blanks(takes_value), with_blanks(names), with_blanks(below));
}

// A function that offers keys, or the values of the one that the word begins with.
std::string fish_key_finder(const char* name, const std::vector<ConfigurationKey>& keys) {
  std::string text = fmt::format(
      "\nfunction {}\n    set -l word (commandline -ct)\n"
      "    set -l key (string replace -r '=.*' '' -- $word)\n    switch $word\n",
      name);
  for (const ConfigurationKey& key : keys) {
    if (!key.values.empty())
      text += fmt::format("        case '{0}=*'\n            printf '%s\\n' {0}={1}\n", key.name,
                          fmt::format("{{{}}}", fmt::join(key.values, ",")));
    else if (key.path)
      text += fmt::format(
          "        case '{0}=*'\n            for path in (__fish_complete_path (string replace -- "
          "'{0}=' '' $word))\n                echo \"{0}=$path\"\n            end\n",
          key.name);
  }
  text += "        case '*=*'\n        case '*'\n            printf '%s=\\t%s\\n'";
  for (const ConfigurationKey& key : keys)
    text += " \\\n                " + key.name + " " + quoted_for_fish(short_help(key.help));
  return text + "\n    end\nend\n";
}

}  // namespace

std::string fish_completion(const Completable& all) {
  return "# fish completion for tessera " + version() +
         ", written by `tessera completion fish`.\n" + fish_command_finder(all.program) +
         fish_key_finder("__tessera_recipe_keys", all.recipe_keys) +
         fish_key_finder("__tessera_flow_keys", all.flow_keys) + "\ncomplete -c tessera -f\n" +
         fish_completions(all.program, all.program);
}

}  // namespace tessera::app
