#pragma once

#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {

// Options that `declare` adds are of use where another option has one of some values.
//   what    names that option: "models of kind"
//   choice  its field, an enum; must outlive the schema
//   users   the values
template <class Choice>
void only_for(Schema& schema, std::string_view what, const Choice& choice,
              const std::vector<Choice>& users, const std::function<void()>& declare) {
  std::string names;  // 'a', 'b' and 'c'
  for (size_t k = 0; k < users.size(); ++k)
    names += fmt::format("{}'{}'",
                         k == 0                  ? ""
                         : k + 1 == users.size() ? " and "
                                                 : ", ",
                         name_of(users[k]));
  schema.only_for(
      fmt::format("{} {}", what, names),
      [&choice, users] { return std::ranges::find(users, choice) != users.end(); }, declare);
}

}  // namespace tessera::config
