#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/engine.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

// A model to be served.
struct ServedFolder {
  std::filesystem::path folder;  // of a run or a model
  std::string name = {};         // how requests name it; empty: the folder's name
  // Of a translator, as codes ("de", "en"). Empty: what its folder says.
  std::string source = {}, target = {};
};

struct ServerOptions {
  std::vector<ServedFolder> models = {};
  LoadOptions load = {};  // of all models
  std::string host = "127.0.0.1";
  int port = 8080;         // 0: any that is free
  std::string token = {};  // that requests must have; empty: none
  bool open = false;       // no token is wanted, though others than this machine may ask
  std::vector<std::string> origins = {};  // of web pages that may ask from a browser; "*": all
  bool page = true;                       // serve the web pages, too

  int64_t queue = 256;                         // texts and images that may wait
  std::chrono::milliseconds deadline{30'000};  // that a request may wait before it is begun

  // Limits of a request.
  int64_t max_body = 1 << 20;  // bytes
  int64_t max_characters = 5000, max_texts = 128, max_candidates = 64, max_steps = 1000,
          max_images = 64;
  int64_t connections = 256;  // at a time

  // What requests leave open. Their batch_tokens and batch say how much is computed together; not
  // set: what suits the device.
  GenerateOptions text_options = {};
  SampleOptions image_options = {};

  // Called from another thread if the server can accept no connections any more. Call drain() then.
  std::function<void()> on_lost = {};
};

struct DrainOptions {
  std::chrono::milliseconds linger{0};      // to go on as before, but not ready
  std::chrono::milliseconds drain{30'000};  // for requests under way
};

// An HTTP server for models: translations, images, and pages to try them (docs/serving.md).
//   tessera::Server server({.models = {{.folder = "runs/m30k"}}, .port = 0});
//   server.start();
//   ... server.port() ...
//   server.drain();
// It touches neither signals nor standard streams: a program that wants to end on SIGTERM calls
// drain() itself.
class TESSERA_API Server {
 public:
  // Whether this build has an HTTP library.
  static bool is_built_in();

  // Loads the models and takes the port. Throws Error for models that cannot be loaded and a port
  // that is taken, UsageError for options that make no sense together.
  explicit Server(const ServerOptions& options);
  ~Server();  // ends at once what is under way
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  std::string address() const;  // "http://127.0.0.1:8080"

  // Answers requests from now on. Returns when every model has run once; until then requests for
  // them are refused. Throws what a model threw.
  void start();

  // Ends well: /ready says no; after `linger` new requests are refused; what is under way is
  // answered, for `drain` at most, then cut off. Returns whether nothing was cut off.
  bool drain(const DrainOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
