#include "command.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "engine/option_list.h"
#include "files/files.h"
#include "generation_settings.h"
#include "model_settings.h"
#include "option_checks.h"
#include "print_json.h"
#include "stop_signal.h"

#include <tessera/serve/server.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <semaphore>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

struct ServeCommand {
  ServerOptions server;
  ModelSettings loading;
  std::vector<std::string> models;  // "RUN" or "NAME=RUN"
  std::vector<std::string> languages;
  std::string token_file;
  double deadline = 30, drain = 30, linger = 0;  // seconds
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
}

// "runs/m30k", or with a name before it: "captions=runs/m30k".
ServedFolder model_of(const std::string& text) {
  const size_t equals = text.find('=');
  const bool named = equals != std::string::npos && text.find('/') > equals;
  if (!named) return {.folder = text};
  require_option(equals > 0 && equals + 1 < text.size(), "a model is RUN or NAME=RUN, got '{}'",
                 text);
  return {.folder = text.substr(equals + 1), .name = text.substr(0, equals)};
}

// "de:en".
void set_languages(ServedFolder& model, const std::string& text) {
  const size_t colon = text.find(':');
  const auto is_code = [](const std::string& code) {
    return code.size() >= 2 && code.size() <= 12 &&
           code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
  };
  const std::string source = text.substr(0, colon),
                    target = colon == std::string::npos ? "" : text.substr(colon + 1);
  require_option(is_code(source) && is_code(target),
                 "--languages are two codes in lower case, from and to (de:en), got '{}'", text);
  model.source = source;
  model.target = target;
}

// From a file or the environment: arguments are shown to everybody by `ps`.
std::string token_of(const ServeCommand& command) {
  std::string token;
  if (command.token_file.empty()) {
    const char* const set = std::getenv("TESSERA_TOKEN");
    if (set != nullptr) token = set;
  } else {
    std::ifstream file(command.token_file);
    std::getline(file, token);
  }
  const bool given = !token.empty() || !command.token_file.empty();
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  require(!given || !token.empty(), "'{}' has no token: its first line should be one",
          command.token_file.empty() ? "TESSERA_TOKEN" : command.token_file);
  return token;
}

ServerOptions server_options(const ServeCommand& command, const GlobalOptions& globals) {
  ServerOptions options = command.server;
  for (const std::string& model : command.models) options.models.push_back(model_of(model));
  require_option(command.languages.size() <= 1 || command.languages.size() == command.models.size(),
                 "--languages is one pair for all models, or one for each: got {} for {}",
                 command.languages.size(),
                 counted(static_cast<int64_t>(command.models.size()), "model"));
  for (size_t k = 0; k < options.models.size() && !command.languages.empty(); ++k)
    set_languages(options.models[k], command.languages[command.languages.size() == 1 ? 0 : k]);
  require_option(options.text_options.length != "oracle",
                 "there are no references to take lengths from");
  options.load = command.loading.load_options(globals);
  options.token = token_of(command);
  options.deadline = milliseconds(command.deadline);
  // Flags of the sampler are for models of both kinds.
  engine::visit_sampler(options.image_options, [&](const engine::RequestOption& image, auto& to) {
    engine::visit_sampler(
        options.text_options, [&](const engine::RequestOption& text, const auto& from) {
          if constexpr (std::is_same_v<std::decay_t<decltype(to)>, std::decay_t<decltype(from)>>)
            if (std::string_view(image.name) == text.name) to = from;
        });
  });
  return options;
}

void run_serve(const ServeCommand& command, const GlobalOptions& globals) {
  const StopSignal stop;
  std::counting_semaphore over(0);
  std::atomic<bool> lost{false};
  const std::stop_callback asks(stop.token(), [&] { over.release(); });
  ServerOptions options = server_options(command, globals);
  options.on_lost = [&] {
    lost = true;
    over.release();
  };
  Server server(options);
  server.start();
  if (globals.json)
    print_json(nlohmann::ordered_json{{"address", server.address()}});
  else
    std::cout << server.address() << '\n';
  std::cout.flush();
  over.acquire();
  if (!lost) log::info("signal {}: answering what is under way, then ending", stop.signal());
  const bool whole =
      server.drain({.linger = milliseconds(command.linger), .drain = milliseconds(command.drain)});
  require(!lost, "the server could accept no connections any more");
  require(whole, "requests that took longer than --drain were cut off");
}

void add_places(CLI::App& serve, ServeCommand& command) {
  ServerOptions& server = command.server;
  serve
      .add_option("models", command.models,
                  "folders of runs or models, of texts or images; NAME=RUN gives a name to use in "
                  "requests (else it is the folder's)")
      ->required()
      ->option_text("RUN|MODEL|NAME=RUN ...");
  serve
      .add_option("--languages", command.languages,
                  "what models translate from and to, where they do not say themselves: one pair "
                  "for all, or one for each")
      ->option_text("de:en ...");
  serve.add_option("--host", server.host, "address to listen on; 0.0.0.0 and :: are all")
      ->capture_default_str()
      ->option_text("ADDRESS");
  serve.add_option("--port", server.port, "port to listen on; 0: any that is free")
      ->capture_default_str()
      ->check(whole_number(0, 65535))
      ->option_text("N");
  serve
      .add_option("--token-file", command.token_file,
                  "file whose first line is the token that requests must have (or set "
                  "TESSERA_TOKEN); needed where --host is not this machine alone")
      ->check(CLI::ExistingFile)
      ->option_text("FILE");
  serve.add_flag("--open", server.open, "no token is wanted, whoever may ask");
  serve
      .add_option("--cors", server.origins,
                  "origins of web pages that may ask from a browser (https://example.org); '*': "
                  "all")
      ->option_text("ORIGIN ...");
  serve.add_flag_callback(
      "--no-page", [&server] { server.page = false; }, "serve no web pages");
}

void add_limits(CLI::App& serve, ServeCommand& command) {
  ServerOptions& server = command.server;
  const auto count = [&](const char* flag, int64_t& value, const char* meaning) {
    serve.add_option(flag, value, meaning)
        ->capture_default_str()
        ->check(whole_number(1))
        ->option_text("N");
  };
  const auto seconds = [&](const char* flag, double& value, const char* meaning) {
    serve.add_option(flag, value, meaning)
        ->capture_default_str()
        ->check(number_in(0, 86'400))
        ->option_text("SECONDS");
  };
  count("--queue", server.queue, "texts that may wait; more are refused (429)");
  count("--connections", server.connections, "clients at a time; more are refused (503)");
  count("--max-body", server.max_body, "bytes of a request's body");
  count("--max-texts", server.max_texts, "texts of a request");
  count("--max-chars", server.max_characters, "characters of a text");
  count("--max-candidates", server.max_candidates, "candidates that a request may ask for");
  count("--max-steps", server.max_steps, "steps that a request may ask for");
  count("--max-images", server.max_images, "images of a request");
  seconds("--deadline", command.deadline, "how long a request may wait before it is begun (503)");
  seconds("--linger", command.linger,
          "how long to go on as before after SIGTERM; only /ready says no");
  seconds("--drain", command.drain, "how long what is under way may take after that");
}

}  // namespace

void add_serve(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* serve = program.add_subcommand(
      "serve", "answer requests over HTTP: tessera serve RUN --languages de:en");
  auto command = std::make_shared<ServeCommand>();
  add_places(*serve, *command);
  add_limits(*serve, *command);
  add_loading_options(*serve, command->loading);
  engine::visit_sampler(command->server.text_options, FlagAdder(*serve));
  engine::visit_generation(command->server.text_options, FlagAdder(*serve));
  engine::visit_images(command->server.image_options, FlagAdder(*serve));
  serve->footer(
      "Options of generation are what requests leave open. The address is printed on stdout when "
      "the models are ready. SIGTERM and SIGINT end the server after what is under way; a second "
      "one ends it at once.");
  serve->callback([command, &globals] { run_serve(*command, globals); });
}

}  // namespace tessera::app
