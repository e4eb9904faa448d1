// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "launch_file.h"

#include "attn/runtime/internal/launch_limits.h"
#include "json_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace attn;
using namespace attn::run;
using runtime::JsonKind;
using runtime::JsonReader;
using runtime::kMostCluster;
using runtime::kMostSharedMemory;
using runtime::kMostThreads;
using runtime::Status;

#define RETURN_IF_FAILED(expression)                                           \
  if (Status status = (expression)) {                                          \
    return status;                                                             \
  }

namespace {

constexpr int64_t kMaxGrid[3] = {INT32_MAX, 65535, 65535};
constexpr int64_t kMaxCtas = int64_t(1) << 20;
constexpr uint64_t kMaxBufferBytes = uint64_t(4) << 30;
constexpr size_t kMaxParamBytes = 32764;
constexpr size_t kMaxItems = 1024;
constexpr int64_t kMaxMapStride = int64_t(1) << 40;

class LaunchReader {
public:
  explicit LaunchReader(LaunchSpec &launch) : launch(launch) {}
  Status readAll(const JsonReader &json);

private:
  Status readGeometry(const JsonReader &json);
  Status readBuffers(const JsonReader &json);
  Status readBuffer(const JsonReader &json, BufferSpec &buffer);
  Status readParam(const JsonReader &json, ParamSpec &param,
                   const char *positionKey);
  Status readScalar(const JsonReader &json, const ElementType &type,
                    ParamSpec &param);
  Status readBytes(const JsonReader &json, ParamSpec &param);
  Status readStruct(const JsonReader &json, ParamSpec &param);
  Status readMap(const JsonReader &json, ParamSpec &param);
  Status readMapShape(const JsonReader &json, sim::TensorMap &map);
  Status readMapModes(const JsonReader &json, sim::TensorMap &map);
  Status readPlace(const JsonReader &json, size_t &buffer, uint64_t &offset);
  Status readBufferName(const JsonReader &json, size_t &buffer);
  Status readOutput(const JsonReader &json, OutputSpec &output);
  Status readRole(const JsonReader &json, sim::TraceRole &role);

  LaunchSpec &launch;
};

} // namespace

int64_t BufferSpec::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  return count;
}

static Status readType(const JsonReader &json, const ElementType *&type) {
  std::string name;
  RETURN_IF_FAILED(json.read(name));
  type = findElementType(name);
  return type ? Status() : json.failExpected("one of " + listElementTypes());
}

/// "zeros", "iota", "poison", or an object of one key.
static Status readValues(const JsonReader &json, Values &values) {
  if (json.getKind() == JsonKind::String) {
    std::string name;
    RETURN_IF_FAILED(json.readOneOf({"zeros", "iota", "poison"}, name));
    values.kind = name == "zeros"  ? Values::Kind::Zeros
                  : name == "iota" ? Values::Kind::Iota
                                   : Values::Kind::Poison;
    return {};
  }
  RETURN_IF_FAILED(json.expectObject({"constant", "random", "file"}));
  if (json.size() != 1) {
    return json.failExpected("one of 'constant', 'random' and 'file'");
  }
  if (json.has("constant")) {
    values.kind = Values::Kind::Constant;
    return json.get("constant").read(values.constant);
  }
  if (json.has("random")) {
    values.kind = Values::Kind::Random;
    return json.get("random").readBits(values.seed);
  }
  values.kind = Values::Kind::File;
  return json.get("file").read(values.file);
}

/// Reads up to three extents; missing ones stay 1.
static Status readExtents(const JsonReader &json, const int64_t *most,
                          unsigned *out) {
  RETURN_IF_FAILED(json.expectArray(1, 3));
  for (size_t i = 0; i < json.size(); ++i) {
    int64_t value = 0;
    RETURN_IF_FAILED(json.at(i).read(value, 1, most[i]));
    out[i] = unsigned(value);
  }
  return {};
}

Status LaunchReader::readGeometry(const JsonReader &json) {
  constexpr int64_t mostThreads[3] = {kMostThreads, kMostThreads, 64};
  constexpr int64_t mostCluster[3] = {kMostCluster, kMostCluster, kMostCluster};
  RETURN_IF_FAILED(readExtents(json.get("grid"), kMaxGrid, launch.grid));
  RETURN_IF_FAILED(readExtents(json.get("block"), mostThreads, launch.block));
  if (json.has("cluster")) {
    RETURN_IF_FAILED(
        readExtents(json.get("cluster"), mostCluster, launch.cluster));
  }
  double ctas = 1;
  int64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    ctas *= launch.grid[i];
    threads *= launch.block[i];
    if (launch.grid[i] % launch.cluster[i] != 0) {
      return json.get("grid").failExpected("multiples of 'cluster'");
    }
  }
  if (ctas > double(kMaxCtas)) {
    return json.get("grid").failExpected("at most " + std::to_string(kMaxCtas) +
                                         " CTAs");
  }
  if (threads > kMostThreads) {
    return json.get("block").failExpected(
        "at most " + std::to_string(kMostThreads) + " threads");
  }
  if (json.has("shared")) {
    int64_t bytes = 0;
    RETURN_IF_FAILED(json.get("shared").read(bytes, 0, kMostSharedMemory));
    launch.shared = uint32_t(bytes);
  }
  return {};
}

Status LaunchReader::readBuffer(const JsonReader &json, BufferSpec &buffer) {
  RETURN_IF_FAILED(json.expectObject({"type", "shape", "fill"}));
  RETURN_IF_FAILED(readType(json.get("type"), buffer.type));
  JsonReader shape = json.get("shape");
  RETURN_IF_FAILED(shape.expectArray(1, 8));
  double bytes = buffer.type->bytes;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t size = 0;
    RETURN_IF_FAILED(shape.at(i).read(size, 0, INT32_MAX));
    buffer.shape.push_back(size);
    bytes *= double(std::max<int64_t>(1, size));
  }
  if (bytes > double(kMaxBufferBytes)) {
    return shape.failExpected("at most " + std::to_string(kMaxBufferBytes) +
                              " bytes");
  }
  buffer.path = json.getPath();
  return json.has("fill") ? readValues(json.get("fill"), buffer.fill)
                          : Status();
}

Status LaunchReader::readBuffers(const JsonReader &json) {
  if (json.getKind() != JsonKind::Object) {
    return json.failExpected("an object of buffers");
  }
  uint64_t bytes = 0;
  for (const std::string &name : json.keys()) {
    launch.buffers.emplace_back();
    launch.buffers.back().name = name;
    RETURN_IF_FAILED(readBuffer(json.get(name.c_str()), launch.buffers.back()));
    bytes += launch.buffers.back().byteCount();
  }
  if (bytes > kMaxBufferBytes) {
    return json.fail("expected at most " + std::to_string(kMaxBufferBytes) +
                     " bytes of buffers, got " + std::to_string(bytes));
  }
  return {};
}

Status LaunchReader::readBufferName(const JsonReader &json, size_t &buffer) {
  std::string name;
  RETURN_IF_FAILED(json.read(name));
  for (buffer = 0; buffer < launch.buffers.size(); ++buffer) {
    if (launch.buffers[buffer].name == name) {
      return {};
    }
  }
  return json.fail("unknown buffer " + runtime::quote(name));
}

/// Reads a buffer and a byte offset in it.
Status LaunchReader::readPlace(const JsonReader &json, size_t &buffer,
                               uint64_t &offset) {
  RETURN_IF_FAILED(readBufferName(json.get("buffer"), buffer));
  if (json.has("offset")) {
    int64_t bytes = 0;
    RETURN_IF_FAILED(json.get("offset").read(
        bytes, 0, int64_t(launch.buffers[buffer].byteCount())));
    offset = uint64_t(bytes);
  }
  return {};
}

Status LaunchReader::readScalar(const JsonReader &json, const ElementType &type,
                                ParamSpec &param) {
  uint64_t bits = 0;
  if (type.isFloat) {
    double value = 0;
    RETURN_IF_FAILED(json.read(value));
    bits = toBits(type, value);
  } else {
    RETURN_IF_FAILED(json.readBits(bits));
    // Bits that do not fit must be copies of the sign, or zero.
    unsigned unused = 64 - 8 * type.bytes;
    uint64_t kept = bits << unused >> unused;
    bool isNegative = type.isSigned && int64_t(bits) < 0;
    uint64_t wanted =
        isNegative ? uint64_t(int64_t(bits << unused) >> unused) : kept;
    bool fits = bits == wanted && (!type.isSigned || isNegative ||
                                   kept >> (8 * type.bytes - 1) == 0);
    if (!fits) {
      return json.failExpected(std::string("an integer of type '") + type.name +
                               "'");
    }
  }
  param.kind = ParamSpec::Kind::Scalar;
  param.bytes.resize(type.bytes);
  std::memcpy(param.bytes.data(), &bits, type.bytes);
  return {};
}

static int hexDigit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

Status LaunchReader::readBytes(const JsonReader &json, ParamSpec &param) {
  std::string text;
  RETURN_IF_FAILED(json.read(text));
  param.kind = ParamSpec::Kind::Bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = hexDigit(text[i]);
    int low = i + 1 < text.size() ? hexDigit(text[i + 1]) : -1;
    if (high < 0 || low < 0) {
      return json.failExpected("pairs of the digits 0 to f");
    }
    param.bytes.push_back(uint8_t(16 * high + low));
  }
  return {};
}

Status LaunchReader::readStruct(const JsonReader &json, ParamSpec &param) {
  RETURN_IF_FAILED(json.expectArray(0, kMaxItems));
  param.kind = ParamSpec::Kind::Struct;
  for (size_t i = 0; i < json.size(); ++i) {
    JsonReader field = json.at(i);
    int64_t at = 0;
    RETURN_IF_FAILED(field.get("at").read(at, 0, kMaxParamBytes));
    param.fields.push_back({uint64_t(at), {}});
    RETURN_IF_FAILED(readParam(field, param.fields.back().second, "at"));
    if (param.fields.back().second.kind == ParamSpec::Kind::Struct) {
      return field.fail("expected no 'struct' in a 'struct'");
    }
  }
  return {};
}

static Status readTensorType(const JsonReader &json, sim::TensorType &type) {
  static const std::pair<const char *, sim::TensorType> types[] = {
      {"u8", sim::TensorType::U8},           {"u16", sim::TensorType::U16},
      {"u32", sim::TensorType::U32},         {"s32", sim::TensorType::S32},
      {"u64", sim::TensorType::U64},         {"s64", sim::TensorType::S64},
      {"f16", sim::TensorType::F16},         {"f32", sim::TensorType::F32},
      {"f64", sim::TensorType::F64},         {"bf16", sim::TensorType::BF16},
      {"f32_ftz", sim::TensorType::F32Ftz},  {"tf32", sim::TensorType::TF32},
      {"tf32_ftz", sim::TensorType::TF32Ftz}};
  std::string name;
  RETURN_IF_FAILED(json.read(name));
  std::string all;
  for (const auto &[known, value] : types) {
    if (name == known) {
      type = value;
      return {};
    }
    all += std::string(all.empty() ? "'" : ", '") + known + "'";
  }
  return json.failExpected("one of " + all);
}

/// Reads an array of one value for each dim, or for each dim except the first.
template <typename T>
static Status readDims(const JsonReader &json, size_t count, int64_t least,
                       int64_t most, T *out) {
  RETURN_IF_FAILED(json.expectArray(count, count));
  for (size_t i = 0; i < count; ++i) {
    int64_t value = 0;
    RETURN_IF_FAILED(json.at(i).read(value, least, most));
    out[i] = T(value);
  }
  return {};
}

Status LaunchReader::readMapShape(const JsonReader &json, sim::TensorMap &map) {
  constexpr size_t mostRank = sim::kMaxTensorRank;
  JsonReader sizes = json.get("sizes");
  RETURN_IF_FAILED(sizes.expectArray(1, mostRank));
  size_t rank = sizes.size();
  map.rank = uint32_t(rank);
  RETURN_IF_FAILED(readDims(sizes, rank, 1, int64_t(1) << 32, map.globalDim));
  RETURN_IF_FAILED(readDims(json.get("box"), rank, 1, 256, map.boxDim));
  if (json.has("element_strides")) {
    RETURN_IF_FAILED(
        readDims(json.get("element_strides"), rank, 1, 8, map.elementStrides));
  }
  if (json.has("strides")) {
    return readDims(json.get("strides"), rank - 1, 0, kMaxMapStride,
                    map.globalStrides);
  }
  uint64_t packed = sim::elementBytes(map.type);
  for (size_t i = 0; i + 1 < rank; ++i) {
    if (__builtin_mul_overflow(packed, map.globalDim[i], &packed)) {
      packed = UINT64_MAX; // no stride
    }
    map.globalStrides[i] = packed;
  }
  return {};
}

Status LaunchReader::readMapModes(const JsonReader &json, sim::TensorMap &map) {
  int64_t value = 0;
  if (json.has("swizzle")) {
    RETURN_IF_FAILED(json.get("swizzle").readOneOf({0, 32, 64, 128}, value));
    map.swizzle = value == 128  ? sim::Swizzle::B128
                  : value == 64 ? sim::Swizzle::B64
                  : value == 32 ? sim::Swizzle::B32
                                : sim::Swizzle::None;
  }
  if (json.has("interleave")) {
    RETURN_IF_FAILED(json.get("interleave").readOneOf({0, 16, 32}, value));
    map.interleave = uint32_t(value / 16);
  }
  if (json.has("l2_promotion")) {
    RETURN_IF_FAILED(
        json.get("l2_promotion").readOneOf({0, 64, 128, 256}, value));
    map.l2Promotion = value == 256 ? 3 : uint32_t(value / 64);
  }
  if (json.has("oob_fill")) {
    std::string name;
    RETURN_IF_FAILED(json.get("oob_fill").readOneOf({"zeros", "nan"}, name));
    map.oobFill = name == "nan" ? sim::OobFill::NaN : sim::OobFill::Zeros;
  }
  return {};
}

Status LaunchReader::readMap(const JsonReader &json, ParamSpec &param) {
  RETURN_IF_FAILED(json.expectObject(
      {"buffer", "offset", "type", "sizes", "strides", "box", "element_strides",
       "swizzle", "interleave", "l2_promotion", "oob_fill"}));
  param.kind = ParamSpec::Kind::TensorMap;
  RETURN_IF_FAILED(readPlace(json, param.buffer, param.offset));
  RETURN_IF_FAILED(readTensorType(json.get("type"), param.map.type));
  RETURN_IF_FAILED(readMapShape(json, param.map));
  return readMapModes(json, param.map);
}

/// Reads one of "buffer" (with "offset"), "tensor_map", "bytes", "struct" and a
/// type's name; `positionKey`, unless null, is also allowed.
Status LaunchReader::readParam(const JsonReader &json, ParamSpec &param,
                               const char *positionKey) {
  param.path = json.getPath();
  if (json.getKind() != JsonKind::Object) {
    return json.failExpected("an object");
  }
  std::string what;
  for (const std::string &key : json.keys()) {
    if ((positionKey && key == positionKey) || key == "offset") {
      continue;
    }
    if (!what.empty()) {
      return json.fail("expected one value, got '" + what + "' and '" + key +
                       "'");
    }
    what = key;
  }
  if (json.has("offset") && what != "buffer") {
    return json.fail("unknown key 'offset'");
  }
  if (what == "buffer") {
    param.kind = ParamSpec::Kind::Buffer;
    return readPlace(json, param.buffer, param.offset);
  }
  if (what == "tensor_map") {
    return readMap(json.get("tensor_map"), param);
  }
  if (what == "bytes") {
    return readBytes(json.get("bytes"), param);
  }
  if (what == "struct") {
    return readStruct(json.get("struct"), param);
  }
  if (const ElementType *type = findElementType(what)) {
    return readScalar(json.get(what.c_str()), *type, param);
  }
  return json.fail((what.empty() ? "expected a key"
                                 : "unknown key '" + what + "', expected one") +
                   " among 'buffer', 'tensor_map', 'bytes', 'struct', " +
                   listElementTypes());
}

Status LaunchReader::readOutput(const JsonReader &json, OutputSpec &output) {
  RETURN_IF_FAILED(
      json.expectObject({"buffer", "expect", "absolute", "relative", "dump"}));
  output.path = json.getPath();
  RETURN_IF_FAILED(readBufferName(json.get("buffer"), output.buffer));
  output.isChecked = json.has("expect");
  if (!output.isChecked && !json.has("dump")) {
    return json.fail("expected 'expect' or 'dump'");
  }
  if (output.isChecked) {
    RETURN_IF_FAILED(readValues(json.get("expect"), output.expect));
  }
  for (auto [key, value] : {std::pair("absolute", &output.absolute),
                            std::pair("relative", &output.relative)}) {
    if (!json.has(key)) {
      continue;
    }
    RETURN_IF_FAILED(json.get(key).read(*value));
    if (!output.isChecked || !(*value >= 0) || !std::isfinite(*value)) {
      return json.get(key).failExpected("a number of at least 0 beside "
                                        "'expect'");
    }
  }
  return json.has("dump") ? json.get("dump").read(output.dump) : Status();
}

Status LaunchReader::readRole(const JsonReader &json, sim::TraceRole &role) {
  int64_t first = 0;
  int64_t count = 0;
  RETURN_IF_FAILED(json.expectObject({"name", "first_warp", "warps"}));
  RETURN_IF_FAILED(json.get("name").read(role.name));
  RETURN_IF_FAILED(json.get("first_warp").read(first, 0, 31));
  RETURN_IF_FAILED(json.get("warps").read(count, 1, 32));
  role.firstWarp = uint32_t(first);
  role.warps = uint32_t(count);
  return {};
}

Status LaunchReader::readAll(const JsonReader &json) {
  RETURN_IF_FAILED(
      json.expectObject({"kernel", "grid", "block", "cluster", "shared",
                         "buffers", "params", "outputs", "roles"}));
  if (json.has("kernel")) {
    RETURN_IF_FAILED(json.get("kernel").read(launch.kernel));
  }
  RETURN_IF_FAILED(readGeometry(json));
  if (json.has("buffers")) {
    RETURN_IF_FAILED(readBuffers(json.get("buffers")));
  }
  JsonReader params = json.get("params");
  RETURN_IF_FAILED(params.expectArray(0, kMaxItems));
  launch.params.resize(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    RETURN_IF_FAILED(readParam(params.at(i), launch.params[i], nullptr));
  }
  for (const char *key : {"outputs", "roles"}) {
    if (json.has(key)) {
      RETURN_IF_FAILED(json.get(key).expectArray(0, kMaxItems));
    }
  }
  launch.outputs.resize(json.has("outputs") ? json.get("outputs").size() : 0);
  for (size_t i = 0; i < launch.outputs.size(); ++i) {
    RETURN_IF_FAILED(readOutput(json.get("outputs").at(i), launch.outputs[i]));
  }
  launch.roles.resize(json.has("roles") ? json.get("roles").size() : 0);
  for (size_t i = 0; i < launch.roles.size(); ++i) {
    RETURN_IF_FAILED(readRole(json.get("roles").at(i), launch.roles[i]));
  }
  return {};
}

Status run::parseLaunchFile(const std::string &text, LaunchSpec &launch) {
  nlohmann::json json;
  RETURN_IF_FAILED(runtime::parseJson(text, "launch", json));
  return LaunchReader(launch).readAll({json, "", "launch"});
}
