#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "serve/fake_translator.h"

namespace tessera::fuzz {

// A request of any type to every address.
void fuzz_requests(std::string_view input) {
  const Parts parts = parts_of(input);
  const serve::HttpRequest request{
      .method = "POST",
      .query = {{"type", "target"}},
      .headers = {{"content-type", std::string(part(parts, "type"))},
                  {"authorization", std::string(part(parts, "authorization"))}},
      .body = std::string(part(parts, "body"))};
  serve::test::FakeTranslator service;
  const serve::RequestLimits limits;
  for (const auto& routes :
       {serve::libretranslate_routes(service, limits), serve::deepl_routes(service, limits),
        serve::openai_image_routes(service, limits)}) {
    for (const serve::Route& route : routes) {
      serve::HttpResponse response;
      try {
        if (route.token) route.token(request);
        response = route.answer(request);
      } catch (const serve::Refusal& refusal) {
        response = route.refused(refusal);
      }
      expect(!nlohmann::json::parse(response.body).is_null(), "an answer is JSON");
      expect(response.status >= 200 && response.status < 500, "the server is not to blame");
      said() += std::to_string(response.status / 100) + "\n" + response.body.substr(0, 40) + "\n";
    }
  }
}

}  // namespace tessera::fuzz
