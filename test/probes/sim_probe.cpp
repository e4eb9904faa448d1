// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-sim-probe: runs probes on the simulator. Reads lines of
// "PTX INPUT OUTPUT OUTPUT-BYTES CTAS THREADS CLUSTER" (file names without
// spaces) and writes for each one line: "ok", or what went wrong.

#include "core/launch.h"

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
};

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
  std::string output(probe.outputBytes, '\xcd');
  GlobalMemory memory;
  memory.add(input.data(), input.size(), "in");
  memory.add(output.data(), output.size(), "out");
  GridLaunch launch;
  launch.grid[0] = probe.ctas;
  launch.block[0] = probe.threads;
  launch.cluster[0] = probe.cluster;
  uint64_t params[] = {reinterpret_cast<uintptr_t>(input.data()),
                       reinterpret_cast<uintptr_t>(output.data())};
  launch.params.resize(sizeof(params));
  std::memcpy(launch.params.data(), params, sizeof(params));
  SimOptions options;
  options.threads = 1;
  options.budget = uint64_t(1) << 24;
  std::string failure = runGrid(program, launch, memory, options).failure;
  if (failure.empty() &&
      !std::ofstream(probe.output, std::ios::binary)
           .write(output.data(), std::streamsize(output.size()))) {
    return "cannot write '" + probe.output + "'";
  }
  return failure;
}

} // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Probe probe;
    std::istringstream words(line);
    if (!(words >> probe.ptx >> probe.input >> probe.output >>
          probe.outputBytes >> probe.ctas >> probe.threads >> probe.cluster)) {
      std::cout << "malformed line" << std::endl;
      return 1;
    }
    std::string problem = runProbe(probe);
    problem = problem.substr(0, problem.find('\n'));
    std::cout << (problem.empty() ? "ok" : problem) << std::endl;
  }
  return 0;
}
