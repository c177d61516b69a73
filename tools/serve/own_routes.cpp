#include "base/log.h"
#include "base/visible_text.h"
#include "engine/image_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "serve/http/dispatcher.h"
#include "serve/interfaces/base64_png.h"
#include "serve/json_body.h"
#include "serve/paragraphs.h"
#include "serve/refusal.h"
#include "serve/request_options.h"
#include "serve/routes.h"

namespace tessera::serve {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::duration;
using std::chrono::milliseconds;

constexpr int64_t kMostWatchedImages = 16;
constexpr std::string_view kTextFields[] = {"q",      "model", "source", "target",
                                            "stream", "split", "seed"};
constexpr std::string_view kImageFields[] = {"count", "first", "label", "model", "stream", "seed"};

[[noreturn]] void refuse_field(const char* field, const std::string& message) {
  Refusal refusal(400, message);
  refusal.field = field;
  throw refusal;
}

// --- fields of a body ---

const nlohmann::json* field_of(const nlohmann::json& body, const char* name) {
  const auto found = body.find(name);
  return found == body.end() || found->is_null() ? nullptr : &*found;
}

std::string text_field(const nlohmann::json& body, const char* name) {
  const nlohmann::json* value = field_of(body, name);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse_field(name, fmt::format("{} must be a text", name));
  return value->get<std::string>();
}

bool bool_field(const nlohmann::json& body, const char* name, bool usual) {
  const nlohmann::json* value = field_of(body, name);
  if (value == nullptr) return usual;
  if (!value->is_boolean()) refuse_field(name, fmt::format("{} must be true or false", name));
  return value->get<bool>();
}

uint64_t number_field(const nlohmann::json& body, const char* name, uint64_t usual) {
  const nlohmann::json* value = field_of(body, name);
  if (value == nullptr) return usual;
  if (!value->is_number_unsigned())
    refuse_field(name, fmt::format("{} must be a whole number, 0 or more", name));
  return value->get<uint64_t>();
}

int64_t signed_field(const nlohmann::json& body, const char* name, int64_t usual) {
  const uint64_t value = number_field(body, name, static_cast<uint64_t>(usual));
  if (value > uint64_t{INT64_MAX}) refuse_field(name, fmt::format("{} is too large", name));
  return static_cast<int64_t>(value);
}

// --- models ---

// The model of a name; without one, the first of its kind.
size_t model_named(const Service& service, const std::string& name, bool images) {
  const auto models = service.models();
  for (size_t k = 0; k < models.size(); ++k)
    if (models[k].makes_images == images && (name.empty() || models[k].name == name)) return k;
  const char* const kind = images ? "images" : "texts";
  if (name.empty()) throw Refusal(404, fmt::format("no model of {} is served", kind));
  refuse_field("model", fmt::format("there is no model '{}' of {}; /v1/models lists them",
                                    visible(name.substr(0, 100)), kind));
}

Json model_entry(const ModelFacts& model) {
  Json entry{{"id", model.name},
             {"object", "model"},
             {"created", 0},
             {"owned_by", "tessera"},
             {"kind", model.makes_images ? "images" : "text"}};
  if (!model.makes_images) {
    entry["languages"] = nullptr;
    if (!model.source.empty())
      entry["languages"] = {{"source", model.source}, {"target", model.target}};
    entry["candidates"] = model.usual_candidates;
  } else {
    entry["classes"] = model.classes;
    entry.update({{"height", model.height}, {"width", model.width}, {"channels", model.channels}});
  }
  entry["steps"] = model.steps;
  if (!model.attribution.empty()) entry["attribution"] = model.attribution;
  return entry;
}

HttpResponse list_models(const Service& service) {
  Json list{{"object", "list"}, {"data", Json::array()}};
  for (const ModelFacts& model : service.models()) list["data"].push_back(model_entry(model));
  return {.body = dump_json(list)};
}

// --- results ---

Json times_json(const ModelFacts& model, const JobTimes& times) {
  const auto in_ms = [](std::chrono::microseconds time) {
    return static_cast<double>(time.count()) / 1000;
  };
  return {{"model", model.name},
          {"queue_ms", in_ms(times.queued)},
          {"compute_ms", in_ms(times.computed)},
          {"batch_texts", times.batch_texts}};
}

Json result_json(const TextResult& result) {
  Json candidates = Json::array();
  for (const TextResult::Candidate& each : result.candidates)
    candidates.push_back({{"text", each.text},
                          {"confidence", each.confidence},
                          {"expected_bleu", each.expected_bleu},
                          {"length", each.length}});
  return {{"text", result.text},
          {"chosen", result.chosen},
          {"ranking", result.ranking},
          {"nfe", result.nfe},
          {"predicted_length", result.predicted_length},
          {"truncated", result.truncated},
          {"candidates", candidates}};
}

// A text of one sentence is shown as that sentence, another as the texts of all of them: with
// their candidates, a short text of many equal sentences would have an answer of gigabytes.
Json passage_json(const TranslatedPassage& passage, const std::vector<TextResult>& results) {
  if (passage.sentences.size() == 1) {
    Json json = result_json(results[passage.sentences.front()]);
    json["text"] = passage.text;  // with what stood around the sentence
    return json;
  }
  Json json{{"text", passage.text}, {"sentences", Json::array()}};
  for (const size_t place : passage.sentences) json["sentences"].push_back(results[place].text);
  return json;
}

Json answer_json(const ModelFacts& model, Json results, const JobTimes& times) {
  Json answer{{"results", std::move(results)}};
  answer.update(times_json(model, times));
  return answer;
}

Json images_json(const ModelFacts& model, const ImageAnswer& answer) {
  Json list = Json::array();
  for (int64_t k = 0; k < answer.images.count; ++k) list.push_back(base64_png(answer.images, k));
  Json json{{"images", list},
            {"height", answer.images.height},
            {"width", answer.images.width},
            {"channels", answer.images.channels},
            {"nfe", answer.nfe}};
  json.update(times_json(model, answer.times));
  return json;
}

Json step_json(const TextStepView& view) {
  Json rows = Json::array();
  for (const auto& candidate : view.candidates) {
    Json pieces = Json::array(), noisy = Json::array();
    std::string changed, outside, glued;
    for (const TextStepView::Piece& piece : candidate) {
      pieces.push_back(piece.text);
      noisy.push_back(piece.noisy);
      changed += piece.changed ? '1' : '0';
      outside += piece.outside ? '1' : '0';
      glued += piece.glued ? '1' : '0';
    }
    rows.push_back({{"pieces", pieces},
                    {"noisy", noisy},
                    {"changed", changed},
                    {"outside", outside},
                    {"glued", glued}});
  }
  return {{"step", view.step}, {"calls", view.calls}, {"t", view.t}, {"rows", rows}};
}

Json image_step_json(const ImageStep& step, const image_model::ImageModel& model) {
  const SampleStep& sample = step.sample;
  const Images noisy = engine::to_images(
      model.pictures_of(sample.noisy.defined() ? sample.noisy : model.codebook().decode(sample.x)));
  const Images seen = engine::to_images(model.pictures_of(sample.labels));
  Json images = Json::array();
  for (int64_t k = 0; k < noisy.count; ++k)
    images.push_back({{"noisy", base64_png(noisy, k)}, {"seen", base64_png(seen, k)}});
  return {{"step", sample.index + 1}, {"calls", step.calls}, {"t", sample.t}, {"images", images}};
}

// --- streams ---

// What a stream is told when it begins.
Json start_json(const ModelFacts& model, const Engine& engine, const GenerateOptions& options,
                milliseconds queued) {
  int64_t steps = 0, candidates = 1;
  if (model.steps > 0) {
    const GenerateOptions all = engine.in_effect(merged(model.text_defaults, options));
    steps = *all.steps;
    candidates = *all.lengths * *all.noises;
  }
  return {{"steps", steps}, {"candidates", candidates}, {"queue_ms", queued.count()}};
}

// Events, and the thread whose work they tell of. It ends with the last owner of the events: their
// client has left then, or has all of them.
struct Stream {
  EventStream events = {};
  std::promise<void> admitted = {};  // or refused
  std::jthread work = {};            // ended first

  ~Stream() { events.abandon(); }

  void send(std::string_view name, const Json& data) { events.send(name, dump_json(data)); }
};

//   work(stream, on_queued)  does all of it; what it throws before on_queued was called is the
//                            answer to the request, later it becomes an event
template <class Work>
HttpResponse answer_stream(Work work) {
  auto stream = std::make_shared<Stream>();
  std::future<void> admitted = stream->admitted.get_future();
  stream->work = std::jthread([&stream = *stream, work = std::move(work)] {
    bool waits = true;  // somebody waits for `admitted`
    const auto on_queued = [&](int64_t before) {
      stream.send("queued", {{"before", before}});
      stream.admitted.set_value();
      waits = false;
    };
    const auto fail = [&](const char* message, const std::string& hint) {
      if (waits)
        stream.admitted.set_exception(std::current_exception());
      else
        stream.send("error", {{"error", message}, {"hint", hint}});
    };
    try {
      work(stream, on_queued);
      if (waits) stream.admitted.set_value();
    } catch (const Error& error) {
      fail(error.what(), error.hint());
    } catch (const JobStopped&) {
      fail("the request was cut off", "the server is shutting down");
    } catch (const std::exception& error) {
      if (!waits) log::error("a stream failed: {}", error.what());  // else the dispatcher says it
      fail("something went wrong in the server", "its log has more");
    }
    stream.events.close();
  });
  admitted.get();
  return {.type = "text/event-stream",
          .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}},
          .events = std::shared_ptr<EventStream>(stream, &stream->events)};
}

// --- routes ---

class OwnRoutes {
 public:
  OwnRoutes(Service& service, const RequestLimits& limits) : service_(service), limits_(limits) {}

  HttpResponse translate(const HttpRequest& request) const {
    const nlohmann::json body = parse_json(request.body);
    TextJob job;
    job.options = text_options(body, kTextFields);
    job.seed = number_field(body, "seed", 1);
    job.model = text_model(body);
    const std::vector<std::string> texts = texts_of(body);
    const bool split = bool_field(body, "split", true);
    if (bool_field(body, "stream", false)) {
      if (!body["q"].is_string() || (split && field_of(body, "split")))
        refuse_field("stream",
                     "a stream shows one text as one sentence: q must be a text, and "
                     "split false");
      return stream_text(std::move(job), texts.front());
    }
    job.gone = request.gone;
    return translate_all(std::move(job), texts, split);
  }

  HttpResponse sample(const HttpRequest& request) const {
    const nlohmann::json body = parse_json(request.body);
    ImageJob job;
    job.request.options = image_options(body, kImageFields);
    job.request.seed = number_field(body, "seed", 1);
    job.request.count = signed_field(body, "count", 1);
    job.request.first = signed_field(body, "first", 0);
    job.request.label = text_field(body, "label");
    job.model = model_named(service_, text_field(body, "model"), /*images=*/true);
    if (bool_field(body, "stream", false)) return stream_images(std::move(job));
    const ModelFacts& model = service_.models()[job.model];
    job.gone = request.gone;
    return {.body = dump_json(images_json(model, service_.sample(std::move(job))))};
  }

 private:
  size_t text_model(const nlohmann::json& body) const {
    const std::string name = text_field(body, "model"), source = text_field(body, "source"),
                      target = text_field(body, "target");
    if (!name.empty() || (source.empty() && target.empty()))
      return model_named(service_, name, /*images=*/false);
    return model_for(service_, source, target);
  }

  std::vector<std::string> texts_of(const nlohmann::json& body) const {
    const nlohmann::json* q = field_of(body, "q");
    if (q == nullptr) refuse_field("q", "q is missing: the text, or a list of texts");
    std::vector<std::string> texts;
    if (q->is_string()) {
      texts.push_back(q->get<std::string>());
    } else if (q->is_array()) {
      for (const nlohmann::json& each : *q) {
        if (!each.is_string()) refuse_field("q", "q must be a text or a list of texts");
        texts.push_back(each.get<std::string>());
      }
    } else {
      refuse_field("q", "q must be a text or a list of texts");
    }
    if (static_cast<int64_t>(texts.size()) > limits_.texts)
      refuse_field("q",
                   fmt::format("a request may have {} texts, got {}", limits_.texts, texts.size()));
    for (const std::string& text : texts) {
      const auto characters = std::ranges::count_if(
          text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
      if (characters > limits_.characters)
        refuse_field("q", fmt::format("a text may have {} characters, got {}", limits_.characters,
                                      characters));
    }
    return texts;
  }

  // Whole texts, or their sentences.
  HttpResponse translate_all(TextJob job, const std::vector<std::string>& texts, bool split) const {
    const ModelFacts& model = service_.models()[job.model];
    Json results = Json::array();
    if (split) {
      std::vector<Passage> passages;
      for (const std::string& text : texts) passages.push_back({text});
      const TranslatedPassages done =
          translate_passages(service_, passages, PassageOptions{}, std::move(job));
      for (const TranslatedPassage& passage : done.passages)
        results.push_back(passage_json(passage, done.results));
      return {.body = dump_json(answer_json(model, std::move(results), done.times))};
    }
    job.texts = texts;
    const TextAnswer answer = service_.translate(std::move(job));
    for (const TextResult& result : answer.results) results.push_back(result_json(result));
    return {.body = dump_json(answer_json(model, std::move(results), answer.times))};
  }

  HttpResponse stream_text(TextJob job, const std::string& text) const {
    return answer_stream([this, job = std::move(job), text](Stream& stream, const auto& on_queued) {
      TextJob own = job;
      const ModelFacts& model = service_.models()[own.model];
      const Engine& engine = service_.engine(own.model);
      own.texts = {text};
      own.stop = stream.events.abandoned();
      own.on_queued = on_queued;
      own.on_begin = [&](milliseconds queued) {
        stream.send("start", start_json(model, engine, job.options, queued));
      };
      own.on_step =
          engine.watch([&](const TextStepView& view) { stream.send("step", step_json(view)); });
      const TextAnswer answer = service_.translate(std::move(own));
      stream.send("result", answer_json(model, Json::array({result_json(answer.results.front())}),
                                        answer.times));
    });
  }

  HttpResponse stream_images(ImageJob job) const {
    if (job.request.count > kMostWatchedImages)
      refuse_field("count", fmt::format("a stream shows {} images at most", kMostWatchedImages));
    return answer_stream([this, job = std::move(job)](Stream& stream, const auto& on_queued) {
      ImageJob own = job;
      const ModelFacts& model = service_.models()[own.model];
      const image_model::ImageModel& network = service_.engine(own.model).images().model();
      own.request.options.batch = std::max<int64_t>(1, own.request.count);  // all in every step
      own.request.stop = stream.events.abandoned();
      own.on_queued = on_queued;
      own.on_begin = [&](milliseconds queued) {
        stream.send("start", {{"steps", job.request.options.steps.value_or(model.steps)},
                              {"queue_ms", queued.count()}});
      };
      own.request.on_step = [&](const ImageStep& step) {
        stream.send("step", image_step_json(step, network));
      };
      stream.send("result", images_json(model, service_.sample(std::move(own))));
    });
  }

  Service& service_;
  RequestLimits limits_;
};

}  // namespace

std::vector<Route> own_routes(Service& service, const RequestLimits& limits) {
  const OwnRoutes own(service, limits);
  return {{.method = "GET",
           .path = "/v1/models",
           .answer = [&service](const HttpRequest&) { return list_models(service); },
           .refused = plain_refusal},
          {.method = "POST",
           .path = "/v1/translate",
           .answer = [own](const HttpRequest& request) { return own.translate(request); },
           .refused = plain_refusal},
          {.method = "POST",
           .path = "/v1/images",
           .answer = [own](const HttpRequest& request) { return own.sample(request); },
           .refused = plain_refusal}};
}

}  // namespace tessera::serve
