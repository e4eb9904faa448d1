// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "litmus_file.h"

#include "units/tensor_map.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace attn::sim;

namespace {

constexpr size_t kBufferBytes = 16384;

/// A number of decimal digits alone; false if `text` is none.
template <typename Number>
bool parseNumber(const std::string &text, Number &number) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  number = Number(std::stoul(text));
  return true;
}

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return parts;
}

std::string parseExpect(const std::string &text, LitmusFile &file) {
  std::vector<std::string> words = split(text, ' ');
  if (words.size() == 1 && words[0] == "silent") {
    return "";
  }
  if (words.size() != 3 || words[1] != "line" ||
      !parseNumber(words[2], file.line)) {
    return "expected 'silent' or 'RULE line N', got '" + text + "'";
  }
  file.rule = words[0];
  for (unsigned i = 0; i < kRules; ++i) {
    if (file.rule == getRuleInfo(Rule(i)).id) {
      return "";
    }
  }
  return "there is no rule '" + file.rule + "'";
}

bool parseExtents(const std::string &text, unsigned (&extents)[3]) {
  std::vector<std::string> parts = split(text, ',');
  bool good = !parts.empty() && parts.size() <= 3;
  for (size_t i = 0; good && i < parts.size(); ++i) {
    good = parseNumber(parts[i], extents[i]);
  }
  return good;
}

std::string parseLaunch(const std::string &text, LitmusFile &file) {
  for (const std::string &word : split(text, ' ')) {
    size_t equals = word.find('=');
    unsigned contention = 0;
    unsigned additions = 0;
    unsigned dependent = 0;
    std::string key = word.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : word.substr(equals + 1);
    bool good = key == "grid"      ? parseExtents(value, file.launch.grid)
                : key == "block"   ? parseExtents(value, file.launch.block)
                : key == "cluster" ? parseExtents(value, file.launch.cluster)
                : key == "shared"
                    ? parseNumber(value, file.launch.dynamicShared)
                : key == "seeds"      ? parseNumber(value, file.seeds)
                : key == "contention" ? parseNumber(value, contention)
                : key == "additions"  ? parseNumber(value, additions)
                : key == "dependent"  ? parseNumber(value, dependent)
                                      : key == "params";
    file.contends |= contention != 0;
    file.ordersSums |= additions != 0;
    file.launch.dependent |= dependent != 0;
    if (key == "params") {
      file.params = split(value, ',');
    }
    if (!good) {
      return "cannot read '" + word + "' of the launch";
    }
  }
  return "";
}

/// What a kernel's parameters point to.
struct alignas(1024) Buffers {
  uint8_t data[kBufferBytes] = {};
  uint8_t gap[1024] = {};
  uint8_t fresh[kBufferBytes] = {};
};

std::string encodeMap(const Buffers &buffers, uint32_t rows, uint8_t *bytes) {
  TensorMap map;
  map.type = TensorType::BF16;
  map.rank = 2;
  map.globalAddress = reinterpret_cast<uintptr_t>(buffers.data);
  map.globalDim[0] = 64;
  map.globalDim[1] = 128;
  map.globalStrides[0] = 128;
  map.boxDim[0] = 64;
  map.boxDim[1] = rows;
  return encodeTensorMap(map, bytes);
}

/// Writes the parameters as the kernel declares them.
std::string packParams(const LitmusFile &file, const Program &program,
                       const Buffers &buffers, std::vector<uint8_t> &bytes) {
  if (file.params.size() != program.params.size()) {
    return "expected " + std::to_string(program.params.size()) +
           " parameters, got " + std::to_string(file.params.size());
  }
  bytes.resize(program.paramBytes);
  for (size_t i = 0; i < file.params.size(); ++i) {
    const std::string &name = file.params[i];
    const ParamSlot &slot = program.params[i];
    uint8_t *to = bytes.data() + slot.offset;
    uint64_t value = 0;
    bool isMap = name == "map" || name == "row";
    bool isData = name == "data";
    uint32_t size = isMap ? kTensorMapBytes : isData || name == "fresh" ? 8 : 4;
    if (slot.size != size || (size == 4 && !parseNumber(name, value))) {
      return "parameter '" + name + "' is not what the kernel declares";
    }
    if (isMap) {
      std::string problem = encodeMap(buffers, name == "map" ? 16 : 1, to);
      if (!problem.empty()) {
        return problem;
      }
      continue;
    }
    if (size == 8) {
      value =
          reinterpret_cast<uintptr_t>(isData ? buffers.data : buffers.fresh);
    }
    std::memcpy(to, &value, size);
  }
  return "";
}

} // namespace

std::string attn::sim::readLitmus(const std::string &path, LitmusFile &file) {
  std::ifstream stream(path);
  std::ostringstream all;
  all << stream.rdbuf();
  file.text = all.str();
  const std::string expect = "// expect: ";
  const std::string launch = "// launch: ";
  unsigned expects = 0;
  unsigned launches = 0;
  std::istringstream lines(file.text);
  for (std::string line; std::getline(lines, line);) {
    std::string problem;
    if (line.compare(0, expect.size(), expect) == 0) {
      ++expects;
      problem = parseExpect(line.substr(expect.size()), file);
    } else if (line.compare(0, launch.size(), launch) == 0) {
      ++launches;
      problem = parseLaunch(line.substr(launch.size()), file);
    }
    if (!problem.empty()) {
      return problem;
    }
  }
  return expects == 1 && launches == 1
             ? ""
             : "expected one '// expect:' and one '// launch:', got " +
                   std::to_string(expects) + " and " + std::to_string(launches);
}

LitmusResult attn::sim::runLitmus(const LitmusFile &file, uint64_t seed) {
  LitmusResult result;
  auto module = std::make_shared<ptx::Module>();
  Diagnostic diagnostic;
  Program program;
  if (!ptx::parse(file.text, *module, diagnostic) ||
      !decode(module, "", program, diagnostic)) {
    result.problem = diagnostic.text();
    return result;
  }
  Buffers buffers;
  GlobalMemory memory;
  memory.add(buffers.data, kBufferBytes, "data");
  memory.add(buffers.fresh, kBufferBytes, "fresh");
  GridLaunch launch = file.launch;
  result.problem = packParams(file, program, buffers, launch.params);
  if (!result.problem.empty()) {
    return result;
  }
  launch.fresh = {{reinterpret_cast<uintptr_t>(buffers.fresh), kBufferBytes}};
  SimOptions options;
  options.seed = seed;
  options.threads = 1;
  options.budget = 100000;
  options.contendsTensorMemory = file.contends;
  options.ordersSums = file.ordersSums;
  result.grid = runGrid(program, launch, memory, options);
  return result;
}
