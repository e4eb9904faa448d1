// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A JSON value with its path; the accessors check the type first and report the
// path on failure.

#ifndef ATTN_RUNTIME_LIB_JSON_READER_H
#define ATTN_RUNTIME_LIB_JSON_READER_H

#include "attn/runtime/internal/status.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

namespace attn::runtime {

/// Parses `text`, in which no object may have duplicate keys. `document` is its
/// name in messages.
Status parseJson(const std::string &text, const char *document,
                 nlohmann::json &json);

/// The kinds of values, for keys that allow several.
enum class JsonKind { Object, Array, String, Integer, Other };

class JsonReader {
public:
  /// `document` is the name of the whole document in messages; not owned.
  JsonReader(const nlohmann::json &value, std::string path,
             const char *document = "plan")
      : value(&value), path(std::move(path)), document(document) {}

  const std::string &getPath() const { return path; }
  JsonKind getKind() const;
  /// The keys of an object, in alphabetical order.
  std::vector<std::string> keys() const;
  size_t size() const { return value->size(); }

  Status fail(const std::string &message) const {
    return {ATTN_INVALID_BUNDLE, std::string(document) + ": " +
                                     (path.empty() ? "" : path + ": ") +
                                     message};
  }
  Status failExpected(const std::string &want) const {
    return fail("expected " + want + ", got " + text());
  }

  JsonReader at(size_t index) const {
    return {(*value)[index], path + "[" + std::to_string(index) + "]",
            document};
  }

  /// Requires an object with no keys other than `known`.
  Status expectObject(const std::vector<const char *> &known) const;
  Status expectArray(size_t least, size_t most) const;

  bool has(const char *key) const {
    return value->is_object() && value->contains(key);
  }
  /// Returns the member `key`, or the null value if it is missing, so that the
  /// next check reports it.
  JsonReader get(const char *key) const;

  Status read(std::string &out) const;
  Status read(int64_t &out, int64_t least, int64_t most) const;
  Status read(double &out) const;
  /// Reads any 64-bit integer, as two's complement.
  Status readBits(uint64_t &out) const;
  /// Requires one of the strings `names`.
  Status readOneOf(const std::vector<const char *> &names,
                   std::string &out) const;
  Status readOneOf(std::initializer_list<int64_t> values, int64_t &out) const;

private:
  /// The value as JSON, shortened.
  std::string text() const;

  const nlohmann::json *value;
  std::string path;
  const char *document;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_JSON_READER_H
