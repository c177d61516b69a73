#include "fuzz/reading.h"

#include "support/temporary_folder.h"

#include <fstream>
#include <numeric>
#include <stdexcept>

namespace tessera::fuzz {

namespace fs = std::filesystem;

std::string& said() {
  static std::string text;
  return text;
}

void expect(bool holds, const char* promise) {
  if (!holds) throw std::logic_error(promise);
}

const fs::path& work_folder() {
  static const test::TemporaryFolder folder(test::quick_place());
  return folder.path();
}

fs::path put(const std::string& name, std::string_view bytes) {
  const fs::path path = work_folder() / name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  expect(file.good(), "the input can be written");
  return path;
}

Parts parts_of(std::string_view input) {
  constexpr std::string_view kMark = "=== ", kNext = "\n=== ";
  Parts parts;
  size_t mark = input.starts_with(kMark) ? 0 : input.find(kNext);
  while (mark < input.size()) {
    if (input[mark] == '\n') ++mark;
    const size_t line_end = std::min(input.find('\n', mark), input.size());
    const size_t begin = std::min(line_end + 1, input.size());
    // For an empty part, the line break after its name may also be the one before the next mark.
    const size_t next = std::min(input.find(kNext, line_end), input.size());
    const std::string_view name = input.substr(mark, line_end - mark).substr(kMark.size());
    parts[std::string(name)] = next > begin ? input.substr(begin, next - begin) : "";
    mark = next;
  }
  return parts;
}

void put_parts(const Parts& parts, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto found = parts.find(std::string_view(name)); found != parts.end()) {
      put(name, found->second);
    } else {
      std::error_code ignored;
      fs::remove(work_folder() / name, ignored);
    }
  }
}

std::string_view part(const Parts& parts, std::string_view name) {
  const auto found = parts.find(name);
  return found == parts.end() ? std::string_view() : found->second;
}

void touch(const at::Tensor& tensor) {
  const at::Tensor whole = tensor.contiguous();
  const auto* const bytes = static_cast<const uint8_t*>(whole.const_data_ptr());
  volatile uint64_t sum = std::accumulate(bytes, bytes + whole.nbytes(), uint64_t{0});
  (void)sum;
}

}  // namespace tessera::fuzz
