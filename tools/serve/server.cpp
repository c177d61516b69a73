#include <tessera/serve/server.h>

#include "base/require.h"
#include "engine/option_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "serve/engine_room.h"
#include "serve/http/admission.h"
#include "serve/http/dispatcher.h"
#include "serve/http/http_server.h"
#include "serve/http/local_name.h"
#include "serve/metrics.h"
#include "serve/routes.h"
#include "serve/system_routes.h"

namespace tessera {
namespace {

using serve::ModelFacts;
using serve::Readiness;
using SteadyClock = std::chrono::steady_clock;

void check(const ServerOptions& options) {
  require_option(!options.models.empty(), "there is no model to serve");
  require_option(options.port >= 0 && options.port <= 65535,
                 "the port must be from 0 to 65535, got {}", options.port);
  // The HTTP library decodes "%41" in a header.
  require_option(options.token.find('%') == std::string::npos, "the token must not have a '%'");
  if (options.token.empty() && !options.open && !serve::is_local_name(options.host))
    throw UsageError(
        fmt::format("anyone who reaches {} could use this server", options.host),
        "set a token (--token-file FILE, or TESSERA_TOKEN), or say --open if none is wanted");
}

// "runs/m30k" -> "m30k".
std::string name_of(const ServedFolder& model) {
  if (!model.name.empty()) return model.name;
  std::filesystem::path folder = std::filesystem::absolute(model.folder).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  return folder.filename().string();
}

ModelFacts facts_of(const ServedFolder& model, const Engine& engine, const ServerOptions& options) {
  ModelFacts facts{.name = name_of(model), .makes_images = engine.makes_images()};
  facts.attribution = engine.attribution();
  if (engine.makes_images()) {
    const Images size = engine.image_size();
    facts.classes = engine.classes();
    facts.height = size.height;
    facts.width = size.width;
    facts.channels = size.channels;
    facts.steps = engine.in_effect(options.image_options).steps.value_or(0);
    return facts;
  }
  const bool said = !model.source.empty();
  facts.source = said ? model.source : engine.languages().source;
  facts.target = said ? model.target : engine.languages().target;
  facts.text_defaults = options.text_options;
  const GenerateOptions usual = engine.in_effect(options.text_options);
  facts.steps = usual.steps.value_or(0);
  facts.usual_candidates = usual.candidates.value_or("");
  return facts;
}

// Options that no model here can use are a mistake. Those of the sampler are for both kinds.
void require_use(const ServerOptions& options, const std::vector<ModelFacts>& models) {
  const auto makes_images = [](const ModelFacts& model) { return model.makes_images; };
  GenerateOptions text = options.text_options;
  engine::visit_sampler(text, [](const auto&, auto& option) { option.reset(); });
  require_option(text == GenerateOptions() || !std::ranges::all_of(models, makes_images),
                 "options for texts are set, but no model here makes texts");
  SampleOptions images = options.image_options;
  engine::visit_sampler(images, [](const auto&, auto& option) { option.reset(); });
  require_option(images == SampleOptions() || std::ranges::any_of(models, makes_images),
                 "options for images are set, but no model here makes images");
}

// Clients must be able to tell the models apart.
void require_distinct(const std::vector<ModelFacts>& all, const std::vector<ServedFolder>& given) {
  constexpr const char* kHint = "name them: tessera serve first=RUN second=RUN";
  for (size_t k = 0; k < all.size(); ++k)
    for (size_t n = 0; n < k; ++n) {
      const ModelFacts &one = all[n], &other = all[k];
      if (one.name == other.name)
        throw UsageError(fmt::format("two models have the name '{}'", one.name), kHint);
      const bool named = !given[k].name.empty() && !given[n].name.empty();
      if (one.makes_images || other.makes_images || named) continue;
      if (one.source == other.source && one.target == other.target)
        throw UsageError(
            one.source.empty()
                ? fmt::format("of '{}' and '{}' the languages are not known", one.name, other.name)
                : fmt::format("'{}' and '{}' both translate {} to {}", one.name, other.name,
                              one.source, one.target),
            one.source.empty() ? "say them with --languages, or " + std::string(kHint) : kHint);
    }
}

}  // namespace

struct Server::State {
  explicit State(const ServerOptions& given) : options(given) {
    check(options);
    http.emplace(
        serve::HttpOptions{.host = options.host,
                           .port = options.port,
                           .max_body = options.max_body,
                           .connections = options.connections},
        serve::HttpHandlers{
            .answer = [this](const auto& request) { return dispatcher->answer(request); },
            .refused_early = [this](int status) { return dispatcher->refused_early(status); },
            .lost = options.on_lost},
        metrics);
    load();
    std::vector<serve::Route> routes =
        serve::system_routes([this] { return readiness(); }, metrics);
    const serve::RequestLimits limits{options.max_texts, options.max_characters,
                                      !options.token.empty()};
    const auto add = [&](std::vector<serve::Route> more) {
      routes.insert(routes.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
    };
    if (options.page) add(page_routes(*room));
    add(own_routes(*room, limits));
    add(libretranslate_routes(*room, limits));
    add(deepl_routes(*room, limits));
    add(openai_image_routes(*room, limits));
    const bool local_only = options.token.empty() && !options.open;  // check() saw to the host
    dispatcher.emplace(std::move(routes),
                       serve::Admission(options.token, options.origins, local_only), metrics);
  }

  void load() {
    std::vector<ModelFacts> all;
    std::vector<serve::RoomModel> models;
    const serve::WorkLimits limits{options.max_candidates, options.max_steps, options.max_images};
    for (const ServedFolder& each : options.models) {
      const Engine& engine =
          *engines.emplace_back(std::make_unique<Engine>(each.folder, options.load));
      all.push_back(facts_of(each, engine, options));
      models.push_back(serve::room_model(engine, all.back(), options.text_options,
                                         options.image_options, limits));
      const int64_t batch = engine.makes_images() ? options.image_options.batch.value_or(0)
                                                  : options.text_options.batch_tokens.value_or(0);
      if (batch > 0) models.back().batch_tokens = batch;
    }
    require_use(options, all);
    require_distinct(all, options.models);
    metrics.describe(models.front().device);
    room.emplace(std::move(models),
                 serve::RoomOptions{.queue = options.queue, .deadline = options.deadline}, metrics);
  }

  Readiness readiness() const { return draining ? Readiness::draining : room->readiness(); }

  const ServerOptions options;
  serve::Metrics metrics;
  std::vector<std::unique_ptr<Engine>> engines;
  std::atomic<bool> draining{false};
  std::optional<serve::EngineRoom> room;
  std::optional<serve::Dispatcher> dispatcher;
  std::optional<serve::HttpServer> http;  // ended first
};

bool Server::is_built_in() {
  return serve::http_server_is_built_in();
}

Server::Server(const ServerOptions& options) : state_(std::make_unique<State>(options)) {}

Server::~Server() {
  state_->room->refuse_new();
  state_->room->abandon();
}

int Server::port() const {
  return state_->http->port();
}

std::string Server::address() const {
  const std::string& host = state_->options.host;
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}", is_v6 ? "[" + host + "]" : host, port());
}

void Server::start() {
  state_->room->start();
  state_->http->start();
  state_->room->wait_until_ready();
}

bool Server::drain(const DrainOptions& options) {
  state_->draining = true;
  std::this_thread::sleep_for(options.linger);
  serve::EngineRoom& room = *state_->room;
  room.refuse_new();
  state_->http->close_connections();
  const auto limit = SteadyClock::now() + options.drain;
  bool whole = room.wait_until_empty(limit);
  if (!whole) room.abandon();
  // Answers that are ready are still to be written.
  constexpr std::chrono::seconds kWriting{5};
  whole &= state_->http->finish(std::max(limit, SteadyClock::now() + kWriting));
  return whole;
}

}  // namespace tessera
