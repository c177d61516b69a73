#pragma once

#include <tessera/base/error.h>

#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>

// Shared by the targets: files with the input, and the outcome of reading them.
namespace tessera::fuzz {

// What the readers said of the current input: a line for each attempt().
std::string& said();

// Lets a reader try. It may refuse its input with an Error; anything else that it throws is a bug.
template <class Reader>
void attempt(const Reader& read) {
  try {
    read();
    said() += "taken\n";
  } catch (const Error& error) {
    said().append(error.what()).append("\n");
  }
}

// Throws an exception that is not an Error if a reader breaks its promise.
void expect(bool holds, const char* promise);

// The folder of this process for inputs, in memory if possible.
const std::filesystem::path& work_folder();

// Writes a file in that folder, and returns its path.
std::filesystem::path put(const std::string& name, std::string_view bytes);

// An input of several files is a text of parts: a line "=== NAME", then the bytes of that file up
// to the line break before the next such line.
using Parts = std::map<std::string, std::string_view, std::less<>>;
Parts parts_of(std::string_view input);

// Writes the parts with these names into the folder. If a part is missing, its file is removed.
void put_parts(const Parts& parts, std::initializer_list<const char*> names);

// The bytes of a part; empty if there is none.
std::string_view part(const Parts& parts, std::string_view name);

// Reads every byte of a tensor.
void touch(const at::Tensor& tensor);

}  // namespace tessera::fuzz
