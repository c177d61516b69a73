#include "image/image_source.h"

#include "base/files.h"
#include "base/require.h"

#include <ATen/ATen.h>

#include <regex>
#include <vector>

namespace tessera::image {
namespace {

struct Header {
  size_t end;  // where the numbers begin
  std::vector<int64_t> shape;
};

Header read_header(const std::string& bytes, const std::filesystem::path& path) {
  require(bytes.size() > 10 && bytes.starts_with("\x93NUMPY"), "'{}' is no .npy file",
          path.string());
  const bool wide = bytes[6] > 1;
  size_t length = 0;
  for (size_t i = wide ? 4 : 2; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[8 + i]);
  const size_t begin = wide ? 12 : 10;
  const std::string text = bytes.substr(begin, length);
  std::smatch match;
  require(
      text.find("'|u1'") != std::string::npos && text.find("False") != std::string::npos &&
          std::regex_search(text, match,
                            std::regex(R"(\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,?\))")),
      "'{}' must hold uint8 numbers in four dimensions", path.string());
  Header header{begin + length, {}};
  for (size_t i = 1; i <= 4; ++i) header.shape.push_back(std::stoll(match[i]));
  return header;
}

}  // namespace

ImageSource::ImageSource(const std::filesystem::path& path, const std::string&) {
  std::string bytes = read_file(path);
  const Header header = read_header(bytes, path);
  require(static_cast<int64_t>(bytes.size() - header.end) == c10::multiply_integers(header.shape),
          "'{}' is not as long as its header says", path.string());
  images_ = at::from_blob(bytes.data() + header.end, header.shape, at::kByte).clone();
  if (header.shape[3] <= 4) images_ = images_.permute({0, 3, 1, 2});
  size_ = images_.size(0);
  channels_ = images_.size(1);
  height_ = images_.size(2);
  width_ = images_.size(3);
}

at::Tensor ImageSource::read(int64_t begin, int64_t count) const {
  return images_.slice(0, begin, begin + count).contiguous();
}

}  // namespace tessera::image
