// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reading.h"
#include "llvm/Support/FormatVariadic.h"

using namespace attn;
using namespace attn::readings;
using llvm::formatv;

namespace {

/// Writes one token after another, and numbers the objects that they name.
class LineWriter {
public:
  std::string write(const Token &token, const std::string &data);

private:
  static int numberOf(std::map<int, int> &numbers, int key) {
    return numbers.try_emplace(key, numbers.size()).first->second;
  }
  std::string barrier(const char *what, const Token &token) {
    return formatv("{0} {1} phase {2}", what, numberOf(barriers, token.first),
                   token.second);
  }

  std::map<int, int> barriers, operations,
      meetings; // in order of first occurrence
};

} // namespace

std::string LineWriter::write(const Token &token, const std::string &data) {
  switch (token.kind) {
  case Token::Wait:
    return barrier("wait for", token);
  case Token::Pass:
    return barrier("pass", token);
  case Token::Arrive:
    return barrier("arrive at", token);
  case Token::Meet:
    return formatv("meet at {0} round {1}", numberOf(meetings, token.first),
                   token.second);
  case Token::Await:
    return formatv("await {0}", numberOf(operations, token.first));
  case Token::Issue:
    return formatv("issue {0}: {1}", numberOf(operations, token.first), data);
  case Token::Do:
    return data;
  }
  return data;
}

Reading readings::writeLines(
    const TokenPrograms &programs, const std::map<std::string, int> &agents,
    llvm::function_ref<std::string(int, const Token &)> describe) {
  Reading reading;
  LineWriter writer;
  for (const auto &[name, instance] : agents) {
    for (const Token &token : programs.programs[instance]) {
      bool hasData = token.kind == Token::Do || token.kind == Token::Issue;
      std::string line =
          writer.write(token, hasData ? describe(instance, token) : "");
      if (!line.empty()) {
        reading[name].push_back(line);
      }
    }
  }
  return reading;
}
