#include "serve/metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tessera::serve {
namespace {

// Samples by name and labels, as a reader of the format sees them.
std::map<std::string, double> samples_of(const std::string& text) {
  static const std::regex sample(R"re(^([a-z_]+)(\{([a-z_]+="(\\.|[^"\\])*",?)*\})? (\S+)$)re");
  std::map<std::string, double> samples;
  std::istringstream lines(text);
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) family = line.substr(7, line.rfind(' ') - 7);
    if (line.starts_with('#')) continue;
    std::smatch match;
    if (!std::regex_match(line, match, sample)) {
      ADD_FAILURE() << "not a sample: " << line;
      continue;
    }
    EXPECT_EQ(match[1].str().rfind(family, 0), 0u) << line << " stands in " << family;
    const std::string key = match[1].str() + match[2].str();
    EXPECT_FALSE(samples.contains(key)) << "twice: " << key;
    samples[key] = std::strtod(match[5].str().c_str(), nullptr);
  }
  return samples;
}

TEST(Histogram, CountsCumulatively) {
  Histogram histogram({1, 10});
  for (const double value : {0.5, 1.0, 2.0, 100.0}) histogram.add(value);
  std::string text = "# TYPE h histogram\n";
  histogram.write(text, "h", "");
  const auto samples = samples_of(text);
  EXPECT_EQ(samples.at("h_bucket{le=\"1\"}"), 2);
  EXPECT_EQ(samples.at("h_bucket{le=\"10\"}"), 3);
  EXPECT_EQ(samples.at("h_bucket{le=\"+Inf\"}"), 4);
  EXPECT_EQ(samples.at("h_count"), 4);
  EXPECT_EQ(samples.at("h_sum"), 103.5);
}

TEST(Histogram, LosesNothingAmongThreads) {
  Histogram histogram({1});
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) histogram.add(0.5);
    });
  for (std::thread& thread : threads) thread.join();
  std::string text = "# TYPE h histogram\n";
  histogram.write(text, "h", "a=\"b\"");
  const auto samples = samples_of(text);
  EXPECT_EQ(samples.at("h_bucket{a=\"b\",le=\"1\"}"), 4000);
  EXPECT_EQ(samples.at("h_sum{a=\"b\"}"), 2000);
}

TEST(Metrics, AreReadableByPrometheus) {
  Metrics metrics;
  metrics.describe("cpu");
  Metrics::Route& route = metrics.add_route("/v1/translate");
  EXPECT_EQ(&metrics.add_route("/v1/translate"), &route) << "GET and POST are one";
  ++route.by_status[200];
  ++route.by_status[200];
  ++route.by_status[429];
  route.seconds.add(0.3);
  Metrics::Model& model = metrics.add_model("a \"model\"\\", "text", "de:en");
  model.batch_texts.add(3);
  model.network_calls += 20;
  metrics.refused(RefusedBecause::full);
  metrics.queue_texts = 7;
  const auto samples = samples_of(metrics.text());
  EXPECT_EQ(samples.at("tessera_http_requests_total{route=\"/v1/translate\",code=\"200\"}"), 2);
  EXPECT_EQ(samples.at("tessera_http_requests_total{route=\"/v1/translate\",code=\"429\"}"), 1);
  EXPECT_EQ(samples.at("tessera_refused_total{reason=\"full\"}"), 1);
  EXPECT_EQ(samples.at("tessera_refused_total{reason=\"deadline\"}"), 0);
  EXPECT_EQ(samples.at("tessera_queue_texts"), 7);
  EXPECT_EQ(samples.at(R"(tessera_network_calls_total{model="a \"model\"\\"})"), 20);
  EXPECT_EQ(samples.at(R"(tessera_batch_texts_sum{model="a \"model\"\\"})"), 3);
  EXPECT_GT(samples.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(samples.at("process_open_fds"), 2);
  EXPECT_GT(samples.at("process_cpu_seconds_total"), 0);
  EXPECT_GT(samples.at("process_start_time_seconds"), 1.5e9);
}

}  // namespace
}  // namespace tessera::serve
