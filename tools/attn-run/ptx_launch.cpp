// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptx_launch.h"

#include "npy.h"
#include "read_file.h"
#include "trace.h"

#include "device/sim_device.h"
#include "machine/instruction_set.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <optional>

using namespace attn;
using namespace attn::run;

bool PtxRun::fail(const std::string &message) {
  err = message;
  return false;
}

bool PtxRun::readProgram(std::string ptx) {
  auto module = std::make_shared<sim::ptx::Module>();
  sim::Diagnostic diagnostic;
  return (sim::ptx::parse(std::move(ptx), *module, diagnostic) &&
          sim::decode(module, spec.kernel, program, diagnostic)) ||
         fail(options.input + ": " + diagnostic.text());
}

bool PtxRun::makeBuffers() {
  buffers.resize(spec.buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferSpec &each = spec.buffers[i];
    if (!buffers[i].create(each, err)) {
      return fail("launch: " + each.path + ": " + err);
    }
    memory.add(buffers[i].data(), buffers[i].size(), each.name);
    if (each.fill.kind == Values::Kind::Poison) {
      grid.fresh.push_back(
          {reinterpret_cast<uintptr_t>(buffers[i].data()), buffers[i].size()});
    }
  }
  return true;
}

bool PtxRun::require(const ParamSpec &param, const std::string &name,
                     uint64_t want, uint64_t size) {
  return want == size || fail("launch: " + param.path + ": expected " +
                              std::to_string(size) + " bytes for parameter '" +
                              name + "', got " + std::to_string(want));
}

/// Writes the `size` bytes of a parameter or field.
bool PtxRun::pack(const ParamSpec &param, uint8_t *to, uint64_t size,
                  const std::string &name) {
  switch (param.kind) {
  case ParamSpec::Kind::Scalar:
  case ParamSpec::Kind::Bytes:
    std::memcpy(to, param.bytes.data(),
                std::min<size_t>(size, param.bytes.size()));
    return require(param, name, param.bytes.size(), size);
  case ParamSpec::Kind::Buffer: {
    auto address = reinterpret_cast<uintptr_t>(buffers[param.buffer].data()) +
                   param.offset;
    std::memcpy(to, &address, std::min<size_t>(size, sizeof(address)));
    return require(param, name, sizeof(address), size);
  }
  case ParamSpec::Kind::TensorMap: {
    if (!require(param, name, sim::kTensorMapBytes, size)) {
      return false;
    }
    sim::TensorMap map = param.map;
    map.globalAddress =
        reinterpret_cast<uintptr_t>(buffers[param.buffer].data()) +
        param.offset;
    std::string problem = sim::encodeTensorMap(map, to);
    return problem.empty() ||
           fail("launch: " + param.path + ".tensor_map: " + problem);
  }
  case ParamSpec::Kind::Struct:
    return packFields(param, to, size, name);
  }
  return false;
}

bool PtxRun::packFields(const ParamSpec &param, uint8_t *to, uint64_t size,
                        const std::string &name) {
  for (const auto &[at, field] : param.fields) {
    uint64_t bytes = field.kind == ParamSpec::Kind::Buffer ? sizeof(uint64_t)
                     : field.kind == ParamSpec::Kind::TensorMap
                         ? sim::kTensorMapBytes
                         : field.bytes.size();
    if (at > size || bytes > size - at) {
      return fail("launch: " + field.path + ": expected 'at' and " +
                  std::to_string(bytes) + " bytes to lie within the " +
                  std::to_string(size) + " of parameter '" + name + "', got " +
                  std::to_string(at));
    }
    if (!pack(field, to + at, bytes, name)) {
      return false;
    }
  }
  return true;
}

bool PtxRun::checkParamCount() {
  return spec.params.size() == program.params.size() ||
         fail("launch: params: expected " +
              std::to_string(program.params.size()) +
              " values for the parameters of kernel '" + kernelName() +
              "', got " + std::to_string(spec.params.size()));
}

bool PtxRun::prepare(std::string ptx) {
  std::string text;
  if (!readFile(options.launch, text, err)) {
    return false;
  }
  if (runtime::Status status = parseLaunchFile(text, spec)) {
    return fail(options.launch + ": " + status.getMessage());
  }
  if (!readProgram(std::move(ptx)) || !checkParamCount() || !makeBuffers()) {
    return false;
  }
  std::copy_n(spec.grid, 3, grid.grid);
  std::copy_n(spec.block, 3, grid.block);
  std::copy_n(spec.cluster, 3, grid.cluster);
  grid.dynamicShared = spec.shared;
  grid.params.assign(program.paramBytes, 0);
  for (size_t i = 0; i < spec.params.size(); ++i) {
    const sim::ParamSlot &slot = program.params[i];
    if (!pack(spec.params[i], grid.params.data() + slot.offset, slot.size,
              std::string(slot.name))) {
      return false;
    }
  }
  return true;
}

bool PtxRun::launch(uint64_t seed) {
  for (LaunchBuffer &buffer : buffers) {
    if (!buffer.fill(err)) {
      return false;
    }
  }
  sim::SimOptions simOptions = sim::getSimDevice().getOptions();
  simOptions.seed = seed;
  sim::GridResult result = runGrid(program, grid, memory, simOptions);
  std::string where =
      "kernel '" + kernelName() + "', seed " + std::to_string(seed) + ": ";
  for (const auto &[key, report] : result.reports.get()) {
    runtime::logMessage(ATTN_LOG_WARNING, where + report.text);
  }
  return result.failure.empty() || fail(where + result.failure);
}

bool PtxRun::checkOutputs(bool isFirst) {
  for (const OutputSpec &output : spec.outputs) {
    const BufferSpec &buffer = spec.buffers[output.buffer];
    LaunchBuffer &got = buffers[output.buffer];
    if (isFirst && !output.dump.empty() &&
        !writeNpy(output.dump, buffer.type->npy, buffer.shape, got.data(),
                  got.size(), err)) {
      return fail("launch: " + output.path + ".dump: " + err);
    }
    if (!output.isChecked) {
      continue;
    }
    LaunchBuffer want;
    if (!want.createFrom(buffer, output.expect, err)) {
      return fail("launch: " + output.path + ".expect: " + err);
    }
    std::string problem = got.compare(want, output.absolute, output.relative);
    if (!problem.empty()) {
      return fail("output '" + buffer.name + "': " + problem);
    }
    if (isFirst) {
      std::printf("output '%s': passed: %" PRId64 " elements\n",
                  buffer.name.c_str(), buffer.elementCount());
    }
  }
  return true;
}

bool attn::run::runPtx(const Options &options, std::string &err) {
  PtxRun run(options, err);
  std::string ptx;
  if (!readFile(options.input, ptx, err) || !run.prepare(std::move(ptx))) {
    return false;
  }
  std::printf("device: simulator\nkernel: %s\n", run.kernelName().c_str());
  for (int64_t n = 0; n < options.schedules; ++n) {
    uint64_t seed = options.scheduleSeed + uint64_t(n);
    std::optional<Tracing> tracing;
    if (n == 0) {
      tracing.emplace(options, run.getSpec().roles);
    }
    bool launched = run.launch(seed);
    std::string traceErr;
    // The events before a failure matter too.
    if (tracing && !tracing->write(run.kernelName(), traceErr) && launched) {
      err = traceErr;
      return false;
    }
    if (!launched || !run.checkOutputs(n == 0)) {
      return false;
    }
  }
  std::printf("launch: passed: %" PRId64 " schedules\n", options.schedules);
  return true;
}
