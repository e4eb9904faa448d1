// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-sim-probe: runs probes on the simulator. Reads lines of
// "PTX INPUT OUTPUT OUTPUT-BYTES CTAS THREADS CLUSTER" (file names without
// spaces), perhaps followed by a tensor map: "in" or "out" (the tensor's
// address), type, rank, dimensions, strides, box, element strides, interleave,
// swizzle, l2Promotion and oobFill. Writes for each one line: "ok", or what
// went wrong. With --print it prints the PTX of the standard input as the
// simulator's parser has it.

#include "machine/instruction_set.h"
#include "machine/run_grid.h"
#include "units/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

using namespace attn::sim;

namespace {

struct Probe {
  std::string ptx;
  std::string input;
  std::string output;
  size_t outputBytes = 0;
  unsigned ctas = 1;
  unsigned threads = 1;
  unsigned cluster = 1;
  /// The tensor map's memory: "in", "out", or empty for no map.
  std::string mapOf;
  TensorMap map;
};

/// Bytes at an address with the alignment of device memory.
class Buffer {
public:
  explicit Buffer(size_t size) : storage(size + kAlignment), size(size) {}
  char *data() {
    auto address = reinterpret_cast<uintptr_t>(storage.data());
    return storage.data() + (kAlignment - address % kAlignment);
  }
  uint64_t address() { return reinterpret_cast<uintptr_t>(data()); }

private:
  static constexpr size_t kAlignment = 256;
  std::vector<char> storage;

public:
  const size_t size;
};

template <typename T> bool readAll(std::istream &words, T *to, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    words >> to[i];
  }
  return bool(words);
}

bool readMap(std::istream &words, TensorMap &map) {
  unsigned type = 0, swizzle = 0, fill = 0;
  if (!(words >> type >> map.rank) || map.rank > unsigned(kMaxTensorRank) ||
      map.rank == 0 || !readAll(words, map.globalDim, map.rank) ||
      !readAll(words, map.globalStrides, map.rank - 1) ||
      !readAll(words, map.boxDim, map.rank) ||
      !readAll(words, map.elementStrides, map.rank)) {
    return false;
  }
  words >> map.interleave >> swizzle >> map.l2Promotion >> fill;
  map.type = TensorType(type);
  map.swizzle = Swizzle(swizzle);
  map.oobFill = OobFill(fill);
  return bool(words);
}

bool readFile(const std::string &path, std::string &contents) {
  std::ifstream file(path, std::ios::binary);
  contents.assign(std::istreambuf_iterator<char>(file), {});
  return bool(file);
}

std::string runProbe(const Probe &probe) {
  std::string text;
  std::string input;
  if (!readFile(probe.ptx, text) || !readFile(probe.input, input)) {
    return "cannot read '" + probe.ptx + "' or '" + probe.input + "'";
  }
  auto module = std::make_shared<ptx::Module>();
  Diagnostic diagnostic;
  Program program;
  if (!ptx::parse(text, *module, diagnostic) ||
      !decode(module, "probe", program, diagnostic)) {
    return diagnostic.text();
  }
  Buffer in(input.size());
  Buffer out(probe.outputBytes);
  std::copy(input.begin(), input.end(), in.data());
  std::fill_n(out.data(), out.size, '\xcd');
  GlobalMemory memory;
  memory.add(in.data(), in.size, "in");
  memory.add(out.data(), out.size, "out");
  GridLaunch launch;
  launch.grid[0] = probe.ctas;
  launch.block[0] = probe.threads;
  launch.cluster[0] = probe.cluster;
  uint64_t params[] = {in.address(), out.address()};
  launch.params.resize(sizeof(params));
  std::memcpy(launch.params.data(), params, sizeof(params));
  if (!probe.mapOf.empty()) {
    TensorMap map = probe.map;
    map.globalAddress = probe.mapOf == "in" ? in.address() : out.address();
    launch.params.resize(program.paramBytes);
    uint32_t offset = program.params.back().offset;
    std::string problem = encodeTensorMap(map, launch.params.data() + offset);
    if (!problem.empty()) {
      return problem;
    }
  }
  SimOptions options;
  options.threads = 1;
  options.budget = uint64_t(1) << 24;
  std::string failure = runGrid(program, launch, memory, options).failure;
  if (failure.empty() && !std::ofstream(probe.output, std::ios::binary)
                              .write(out.data(), std::streamsize(out.size))) {
    return "cannot write '" + probe.output + "'";
  }
  return failure;
}

int printModule(std::istream &in) {
  std::string text((std::istreambuf_iterator<char>(in)), {});
  ptx::Module module;
  Diagnostic diagnostic;
  if (!ptx::parse(text, module, diagnostic)) {
    std::cerr << diagnostic.text() << std::endl;
    return 1;
  }
  std::cout << ptx::print(module);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "--print") {
    return printModule(std::cin);
  }
  if (argc > 1) {
    std::cout << "usage: attn-sim-probe < LINES; see compare.py\n"
                 "       attn-sim-probe --print < PTX"
              << std::endl;
    return 0;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    Probe probe;
    std::istringstream words(line);
    if (!(words >> probe.ptx >> probe.input >> probe.output >>
          probe.outputBytes >> probe.ctas >> probe.threads >> probe.cluster)) {
      std::cout << "malformed line" << std::endl;
      return 1;
    }
    if (words >> probe.mapOf && !readMap(words, probe.map)) {
      std::cout << "malformed tensor map" << std::endl;
      return 1;
    }
    std::string problem = runProbe(probe);
    problem = problem.substr(0, problem.find('\n'));
    std::cout << (problem.empty() ? "ok" : problem) << std::endl;
  }
  return 0;
}
