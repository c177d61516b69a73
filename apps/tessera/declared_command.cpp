#include "declared_command.h"

namespace tessera::app {
namespace {

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) {
    result.placeholder =
        option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
    if (option.get_option_text().empty()) result.initial = option.get_default_str();
  }
  result.help = option.get_description();
  result.group = option.get_group();
  result.required = option.get_required();
  result.several = option.get_items_expected_max() > 1;
  result.form = value_form(result.placeholder);
  result.form.list = option.get_delimiter() == ',';
  return result;
}

DeclaredCommand declared(const CLI::App& command, const std::string& words) {
  DeclaredCommand result;
  result.words = words;
  result.help = command.get_description();
  result.footer = command.get_footer();
  for (const CLI::Option* option : command.get_options())
    (option->get_positional() ? result.arguments : result.options).push_back(declared(*option));
  for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; }))
    result.commands.push_back(
        declared(*each, words + (words.empty() ? "" : " ") + each->get_name()));
  return result;
}

void add_all(const DeclaredCommand& command, std::vector<const DeclaredCommand*>& all) {
  for (const DeclaredCommand& each : command.commands) {
    all.push_back(&each);
    add_all(each, all);
  }
}

}  // namespace

DeclaredCommand declared(const CLI::App& program) {
  return declared(program, "");
}

std::vector<const DeclaredCommand*> all_commands(const DeclaredCommand& program) {
  std::vector<const DeclaredCommand*> all;
  add_all(program, all);
  return all;
}

}  // namespace tessera::app
