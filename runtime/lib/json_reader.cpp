// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "json_reader.h"

#include <algorithm>
#include <set>

using namespace attn::runtime;

static std::string join(const std::string &path, const std::string &key) {
  return path.empty() ? key : path + "." + key;
}

namespace {

/// Detects duplicate keys of an object during parsing.
class DuplicateKeys {
public:
  void visit(nlohmann::json::parse_event_t event, const nlohmann::json &value) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) {
      open.emplace_back();
    } else if (event == Event::object_end) {
      open.pop_back();
    } else if (event == Event::key) {
      enter(value.get_ref<const std::string &>());
    }
  }

  /// A description of the first duplicate, or "".
  const std::string &getProblem() const { return problem; }

private:
  void enter(const std::string &key) {
    if (!open.back().keys.insert(key).second && problem.empty()) {
      std::string path;
      for (size_t i = 0; i + 1 < open.size(); ++i) {
        path = join(path, open[i].current);
      }
      problem = (path.empty() ? "" : path + ": ") + "expected key " +
                quote(key) + " once, got it twice";
    }
    open.back().current = key;
  }

  struct Object {
    std::set<std::string> keys;
    std::string current;
  };
  /// The open objects, outermost first.
  std::vector<Object> open;
  std::string problem;
};

} // namespace

Status attn::runtime::parseJson(const std::string &text, const char *document,
                                nlohmann::json &json) {
  DuplicateKeys duplicates;
  json = nlohmann::json::parse(
      text,
      [&](int, nlohmann::json::parse_event_t event, nlohmann::json &value) {
        duplicates.visit(event, value);
        return true;
      },
      /*allow_exceptions=*/false);
  std::string problem = json.is_discarded() ? "expected JSON, got other text"
                                            : duplicates.getProblem();
  if (problem.empty()) {
    return {};
  }
  return {ATTN_INVALID_BUNDLE, std::string(document) + ": " + problem};
}

JsonKind JsonReader::getKind() const {
  return value->is_object()           ? JsonKind::Object
         : value->is_array()          ? JsonKind::Array
         : value->is_string()         ? JsonKind::String
         : value->is_number_integer() ? JsonKind::Integer
                                      : JsonKind::Other;
}

std::string JsonReader::text() const {
  if (value->is_null()) {
    return "nothing";
  }
  std::string all =
      value->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return all.size() <= 60 ? all : all.substr(0, 57) + "...";
}

JsonReader JsonReader::get(const char *key) const {
  static const nlohmann::json missing;
  return {has(key) ? (*value)[key] : missing, join(path, key), document};
}

std::vector<std::string> JsonReader::keys() const {
  std::vector<std::string> names;
  if (value->is_object()) {
    for (const auto &member : value->items()) {
      names.push_back(member.key());
    }
  }
  return names;
}

Status JsonReader::expectObject(const std::vector<const char *> &known) const {
  if (!value->is_object()) {
    return failExpected("an object");
  }
  for (auto it = value->begin(); it != value->end(); ++it) {
    if (std::find(known.begin(), known.end(), it.key()) == known.end()) {
      return fail("unknown key " + quote(it.key()));
    }
  }
  return {};
}

Status JsonReader::expectArray(size_t least, size_t most) const {
  if (value->is_array() && value->size() >= least && value->size() <= most) {
    return {};
  }
  std::string count =
      least == most ? std::to_string(least)
                    : std::to_string(least) + " to " + std::to_string(most);
  return failExpected("an array of " + count + " values");
}

Status JsonReader::read(std::string &out) const {
  if (!value->is_string()) {
    return failExpected("a string");
  }
  out = value->get_ref<const std::string &>();
  return {};
}

Status JsonReader::read(int64_t &out, int64_t least, int64_t most) const {
  bool fits = value->is_number_integer() &&
              (!value->is_number_unsigned() ||
               value->get<uint64_t>() <= uint64_t(INT64_MAX));
  if (fits) {
    out = value->get<int64_t>();
  }
  if (!fits || out < least || out > most) {
    return failExpected("an integer from " + std::to_string(least) + " to " +
                        std::to_string(most));
  }
  return {};
}

Status JsonReader::read(double &out) const {
  if (!value->is_number()) {
    return failExpected("a number");
  }
  out = value->get<double>();
  return {};
}

Status JsonReader::readBits(uint64_t &out) const {
  if (!value->is_number_integer()) {
    return failExpected("a 64-bit integer");
  }
  out = value->is_number_unsigned() ? value->get<uint64_t>()
                                    : uint64_t(value->get<int64_t>());
  return {};
}

Status JsonReader::readOneOf(const std::vector<const char *> &names,
                             std::string &out) const {
  std::string all;
  for (const char *name : names) {
    all += (all.empty() ? "" : ", ") + quote(name);
    if (value->is_string() && value->get_ref<const std::string &>() == name) {
      out = name;
      return {};
    }
  }
  return failExpected("one of " + all);
}

Status JsonReader::readOneOf(std::initializer_list<int64_t> values,
                             int64_t &out) const {
  std::string all;
  for (int64_t each : values) {
    all += (all.empty() ? "" : ", ") + std::to_string(each);
    if (value->is_number_integer() && *value == each) {
      out = each;
      return {};
    }
  }
  return failExpected("one of " + all);
}
