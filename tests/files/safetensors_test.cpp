#include "tessera/files/safetensors.h"

#include <ATen/ops/_neg_view.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "files/files.h"
#include "safetensors_sample.h"
#include "support/temporary_folder.h"
#include "tessera/base/error.h"

namespace tessera {
namespace {

using safetensors::File;
using safetensors::Tensors;
using test::TemporaryFolder;

const std::filesystem::path fixture =
    std::filesystem::path(TESSERA_FILES_FIXTURES) / "python.safetensors";

void expect_sample(const File& file) {
  EXPECT_EQ(file.metadata(), test::sample_metadata());
  const Tensors expected = test::sample_tensors();
  std::vector<std::string> names;
  for (const auto& [name, tensor] : expected) {
    names.push_back(name);
    EXPECT_TRUE(test::same_bits(file.tensor(name), tensor)) << name;
  }
  EXPECT_EQ(file.names(), names);
}

TEST(Safetensors, ReadsAFileWrittenByPython) {
  expect_sample(File(fixture));
}

TEST(Safetensors, WritesTheBytesPythonWrites) {
  const TemporaryFolder folder;
  safetensors::save(folder / "x", test::sample_tensors(), test::sample_metadata());
  EXPECT_EQ(read_file(folder / "x"), read_file(fixture));
}

TEST(Safetensors, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  safetensors::save(folder / "x", test::sample_tensors(), test::sample_metadata());
  expect_sample(File(folder / "x"));
}

TEST(Safetensors, WritesViewsAsTheyLook) {
  const TemporaryFolder folder;
  const at::Tensor base = at::arange(12, at::kFloat).reshape({3, 4});
  const Tensors views = {{"columns", base.t()},
                         {"part", base.narrow(1, 1, 2)},
                         {"row", base.narrow(0, 0, 1).expand({5, 4})},
                         {"minus", at::_neg_view(base)}};
  safetensors::save(folder / "x", views);
  const File file(folder / "x");
  for (const auto& [name, tensor] : views) EXPECT_TRUE(file.tensor(name).equal(tensor)) << name;
}

TEST(Safetensors, WritesParametersThatNeedGradients) {
  const TemporaryFolder folder;
  const at::Tensor weight = at::ones({2}).requires_grad_();
  safetensors::save(folder / "x", {{"w", weight.t()}});
  const at::Tensor read = File(folder / "x").tensor("w");
  EXPECT_TRUE(read.equal(weight.detach()));
  EXPECT_FALSE(read.requires_grad());
}

TEST(Safetensors, KnowsItsNames) {
  const File file(fixture);
  EXPECT_TRUE(file.contains("f32"));
  EXPECT_FALSE(file.contains("F32"));
  EXPECT_FALSE(file.contains("__metadata__"));
  EXPECT_EQ(file.tensors().size(), test::sample_tensors().size());
}

TEST(Safetensors, UnknownNameSuggestsTheNearest) {
  const File file(fixture);
  try {
    file.tensor("scaler");
    FAIL() << "an unknown name was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              fixture.string() + ": there is no tensor 'scaler' (did you mean 'scalar'?)");
  }
}

TEST(Safetensors, TensorsAreViewsThatOutliveTheFile) {
  const TemporaryFolder folder;
  safetensors::save(folder / "x", {{"w", at::arange(6, at::kFloat)}});
  at::Tensor first, second;
  {
    const File file(folder / "x");
    first = file.tensor("w");
    second = file.tensor("w");
    EXPECT_EQ(first.const_data_ptr(), second.const_data_ptr());
  }
  std::filesystem::remove(folder / "x");
  EXPECT_TRUE(first.equal(at::arange(6, at::kFloat)));
}

TEST(Safetensors, WritingToATensorLeavesTheFileAlone) {
  const TemporaryFolder folder;
  safetensors::save(folder / "x", {{"w", at::arange(6, at::kFloat)}});
  const std::string before = read_file(folder / "x");
  File(folder / "x").tensor("w").zero_();
  EXPECT_EQ(read_file(folder / "x"), before);
  EXPECT_TRUE(File(folder / "x").tensor("w").equal(at::arange(6, at::kFloat)));
}

TEST(Safetensors, ReadsDataThatIsNotAligned) {
  const TemporaryFolder folder;
  const std::string json = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                           R"("b":{"dtype":"F64","shape":[2],"data_offsets":[1,17]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(json.size());
  const std::array<double, 2> values = {1.5, -2};
  bytes += json + "x" + std::string(reinterpret_cast<const char*>(values.data()), sizeof values);
  write_file_atomically(folder / "x", bytes);
  const at::Tensor b = File(folder / "x").tensor("b");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b.const_data_ptr()) % alignof(double), 0u);
  EXPECT_EQ(b.const_data_ptr<double>()[0], 1.5);
  EXPECT_EQ(b.const_data_ptr<double>()[1], -2);
}

TEST(Safetensors, EqualContentsGiveEqualBytes) {
  const TemporaryFolder folder;
  const safetensors::Metadata metadata = {{"b", "2"}, {"a", "1"}, {"c", "3"}};
  safetensors::save(folder / "x", test::sample_tensors(), metadata);
  safetensors::save(folder / "y", test::sample_tensors(), metadata);
  EXPECT_EQ(read_file(folder / "x"), read_file(folder / "y"));
  EXPECT_EQ(File(folder / "x").metadata(), metadata);
}

TEST(Safetensors, FileWithoutTensors) {
  const TemporaryFolder folder;
  safetensors::save(folder / "x", {});
  // What Python's safetensors.torch.save({}) gives.
  EXPECT_EQ(read_file(folder / "x"), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  EXPECT_TRUE(File(folder / "x").names().empty());
}

TEST(Safetensors, RefusesTensorsItCannotWriteAndLeavesTheFileAlone) {
  const TemporaryFolder folder;
  safetensors::save(folder / "x", {{"w", at::ones({1})}});
  const std::string before = read_file(folder / "x");
  const Tensors bad = {{"undefined", at::Tensor()},
                       {"complex", at::zeros({1}, at::kComplexFloat)},
                       {"sparse", at::ones({2, 2}).to_sparse()},
                       {"meta", at::empty({2}, at::TensorOptions().device(at::kMeta))}};
  for (const auto& [name, tensor] : bad) {
    try {
      safetensors::save(folder / "x", {{"fine", at::ones({1})}, {name, tensor}});
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("'" + name + "'"), std::string::npos) << message;
      EXPECT_NE(message.find((folder / "x").string()), std::string::npos) << message;
    }
  }
  EXPECT_EQ(read_file(folder / "x"), before);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path(), folder / "x");
}

}  // namespace
}  // namespace tessera
