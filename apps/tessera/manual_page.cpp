#include "manual_page.h"

#include "text/utf8.h"

#include <tessera/version.h>

#include <fmt/format.h>

#include <algorithm>

namespace tessera::app {
namespace {

// Text as roff: what it would take for its own, or print in another way, is spelled out.
std::string roff(std::string_view text) {
  std::string result;
  bool code = false;  // between backticks
  for (const char32_t c : text::decode_utf8(text)) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else if (c == '^')
      result += "\\(ha";
    else if (c == '~')
      result += "\\(ti";
    else if (c == '`')
      result += (code = !code) ? "\\fB" : "\\fP";
    else if (c < 0x80)
      result += static_cast<char>(c);
    else
      result += fmt::format("\\[u{:04X}]", static_cast<uint32_t>(c));
  }
  return result;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fP";
}

std::string slanted(std::string_view text) {
  return "\\fI" + roff(text) + "\\fP";
}

// Lines that stay as they are.
std::string as_it_stands(std::string_view text) {
  return fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

std::string paragraph(std::string_view text) {
  return fmt::format(".PP\n{}\n", roff(text));
}

std::string item(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", term, roff(text));
}

std::string item(const DeclaredOption& option) {
  std::string term;
  for (const std::string& name : option.names) term += (term.empty() ? "" : ", ") + bold(name);
  if (!option.placeholder.empty()) term += (term.empty() ? "" : " ") + slanted(option.placeholder);
  std::string text = option.help;
  if (!option.initial.empty()) text += " (default: " + option.initial + ")";
  return item(term, text);
}

std::string items(const std::vector<DeclaredOption>& options) {
  std::string text;
  const std::string* group = nullptr;
  for (const DeclaredOption& option : options) {
    if (std::find(option.names.begin(), option.names.end(), "--help") != option.names.end())
      continue;
    // The usual heading is the section's own.
    if (group != nullptr && *group != option.group) text += paragraph(option.group + ":");
    group = &option.group;
    text += item(option);
  }
  return text;
}

std::string section(const DeclaredCommand& command) {
  std::string text = ".SS tessera " + roff(command.words) + "\n" + roff(command.help) + ".\n";
  std::string usage = bold("tessera " + command.words) + " [" + slanted("options") + "]";
  for (const DeclaredOption& argument : command.arguments)
    usage += argument.required ? " " + slanted(argument.placeholder)
                               : " [" + slanted(argument.placeholder) + "]";
  if (!command.commands.empty()) usage += " " + slanted("command");
  text += ".PP\n" + usage + "\n" + items(command.arguments) + items(command.options);
  std::string footer = command.footer;
  while (footer.ends_with('\n')) footer.pop_back();
  return footer.empty() ? text : text + as_it_stands(footer);
}

}  // namespace

std::string manual_page(const DeclaredCommand& program) {
  std::string text =
      ".\\\" Written by `tessera man`.\n.TH TESSERA 1 \"\" \"tessera " + version() +
      "\" \"User Commands\"\n.SH NAME\ntessera \\- diffusion models of discrete data\n"
      ".SH SYNOPSIS\n" +
      bold("tessera") + " [" + slanted("options") + "] " + slanted("command") + " [" +
      slanted("options") + "] [" + slanted("arguments") + "]\n.br\n" + bold("tessera help") + " [" +
      slanted("command") + "]\n";
  text += ".SH DESCRIPTION\n" + roff(program.help) + ".\n";
  text += paragraph(
      "Data go to standard output, and what is said about the work to standard error. Files and "
      "folders appear under their names when they are complete.");
  text +=
      ".SH OPTIONS\nAll commands take these, before or after their own.\n" + items(program.options);
  text += ".SH COMMANDS\n";
  for (const DeclaredCommand* command : all_commands(program)) text += section(*command);

  text += ".SH EXAMPLES\nTrain a small model on data that it makes itself, and use it:\n";
  text += as_it_stands(
      "tessera train recipes/tiny.toml train.out=runs/tiny\n"
      "tessera evaluate runs/tiny --split test\n"
      "echo 'march 3, 1987' | tessera generate runs/tiny");
  text += paragraph("A translator from files of sentences:");
  text += as_it_stands(
      "tessera prepare --train train.de train.en --valid val.de val.en \\\n"
      "                --test test.de test.en --vocab 8000 --out data/mine\n"
      "tessera train recipes/multi30k.toml data.dir=data/mine train.out=runs/mine --dry-run\n"
      "tessera train recipes/multi30k.toml data.dir=data/mine train.out=runs/mine\n"
      "tessera generate runs/mine < new.de > new.en");
  text += paragraph("Go on with a training that was stopped, and look at its curves:");
  text += as_it_stands(
      "tessera train --resume runs/mine\n"
      "tessera report runs/mine --out report.html\n"
      "tessera report runs/mine --csv > metrics.csv");

  text += ".SH EXIT STATUS\n";
  text += item(bold("0"), "The command did its work.");
  text += item(bold("1"), "It failed; standard error says why.");
  text += item(bold("2"), "The arguments or the configuration are wrong.");
  text += item(bold("128+") + slanted("N"),
               "A signal of that number stopped it, after what was learnt had been saved; 141 if "
               "nobody read its output.");
  text += ".SH ENVIRONMENT\n";
  text +=
      item(bold("OMP_WAIT_POLICY"),
           "PASSIVE unless it is set: idle threads sleep, and do not slow other programs down.");
  text += item(bold("OMP_NUM_THREADS"), "Threads that LibTorch chooses without `--threads`.");
  text += item(bold("MALLOC_TRIM_THRESHOLD_") + ", " + bold("MALLOC_MMAP_THRESHOLD_"),
               "Set to large values by the program unless they are there: freed memory is kept for "
               "the next tensors.");
  text += ".SH FILES\n";
  text += item(slanted("share/tessera/recipes"),
               "Beside the program's folder bin: the recipes that come with it. A recipe that is "
               "not found by its name is looked for here.");
  text += item(slanted("RUN/config.toml"), "The configuration of a training run.");
  text += item(slanted("RUN/metrics.jsonl"), "What was measured during the run.");
  text += item(slanted("RUN/checkpoints"), "Models of the run; last and best are links.");
  return text;
}

}  // namespace tessera::app
