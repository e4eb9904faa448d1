// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchParams.h"
#include "SizeExpressions.h"
#include "attn/dialect/AccessMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

std::string codegen::plannedType(Type type) {
  if (type.isInteger(1)) {
    return "bool";
  }
  if (type.isUnsignedInteger(8)) {
    return "u8";
  }
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

namespace {

class LaunchParams {
public:
  LaunchParams(ws::KernelOp kernel, const CopyBoxOf &copyBox)
      : kernel(kernel), copyBox(copyBox) {}

  json::Object parameter(const Param &param);

private:
  std::string nameOf(unsigned argument) {
    return kernel.getArgs()[argument].getName().str();
  }
  /// What expressions call it.
  std::string symbolOf(unsigned argument) {
    return kernel.getArgs()[argument].getSymbol().str();
  }
  json::Value stride(const Param &param, int64_t dim) {
    return symbolOf(param.argument) + ".stride." + std::to_string(dim);
  }
  json::Object tensorMap(const Param &param);

  ws::KernelOp kernel;
  const CopyBoxOf &copyBox;
};

} // namespace

/// Five dimensions: columns of a panel, positions, panels, heads, batches, so
/// that one copy loads a whole tile as panels. If the tensor ends within a
/// panel, four: columns, positions, heads, batches. Packed heads come before
/// positions.
json::Object LaunchParams::tensorMap(const Param &param) {
  SmallVector<std::string> sizes = dimNames(kernel, param.argument);
  std::string name = nameOf(param.argument);
  AccessMap access = *AccessMap::parse(param.map);
  int64_t packed = access.packedHeads;
  int64_t elementBytes = param.box.getElementTypeBitWidth() / 8;
  auto strided = [&](AccessMap::Coordinate coordinate, int64_t box) {
    unsigned d = access.dimOf(coordinate);
    return json::Object{
        {"size", nameOrNumber(sizes[d])},
        {"stride", json::Array{"mul", stride(param, d), elementBytes}},
        {"box", box}};
  };
  int64_t columns = cast<RankedTensorType>(
                        kernel.getBody().getArgument(param.argument).getType())
                        .getDimSize(3);
  CopyBox box = copyBox(param.box, columns, param.ctas);
  json::Array dims;
  dims.push_back(
      json::Object{{"size", box.endsWithPanel ? box.columns : columns},
                   {"box", box.columns}});
  if (packed > 1) {
    dims.push_back(strided(AccessMap::Head, packed));
  }
  dims.push_back(strided(AccessMap::Position, box.rows / packed));
  if (box.endsWithPanel) {
    dims.push_back(json::Object{{"size", columns / box.columns},
                                {"stride", box.columns * elementBytes},
                                {"box", box.panels}});
  }
  if (packed == 1) {
    dims.push_back(strided(AccessMap::Head, 1));
  }
  dims.push_back(strided(AccessMap::Batch, 1));
  return json::Object{{"kind", "tensor_map"},
                      {"tensor", name},
                      {"swizzle", box.span},
                      {"l2_promotion", 256},
                      {"dims", std::move(dims)}};
}

/// Whether threads access more than one element of the tensor at a time.
static bool isMovedInPairs(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    return isa<tile::LoadOp, tile::StoreRegOp>(user);
  });
}

json::Object LaunchParams::parameter(const Param &param) {
  std::string name = nameOf(param.argument);
  switch (param.kind) {
  case Param::TensorMap:
    return tensorMap(param);
  case Param::Pointer: {
    json::Object pointer{{"kind", "pointer"}, {"tensor", name}};
    if (isMovedInPairs(kernel.getBody().getArgument(param.argument))) {
      pointer["aligned_rows"] = 1;
    }
    return pointer;
  }
  case Param::Workspace:
    return json::Object{{"kind", "workspace"}};
  case Param::Dim:
    return json::Object{
        {"kind", "i32"},
        {"expr", nameOrNumber(dimNames(kernel, param.argument)[param.dim])}};
  case Param::Stride:
    return json::Object{{"kind", "i64"}, {"expr", stride(param, param.dim)}};
  case Param::Cut:
    return json::Object{{"kind", "i32"},
                        {"expr", param.dim == 0 ? wholeName : partsName}};
  case Param::Scalar: {
    Type type = kernel.getBody().getArgument(param.argument).getType();
    json::Object scalar{{"kind", plannedType(type)}};
    if (type.isF32()) {
      scalar["arg"] = name;
    } else {
      scalar["expr"] = symbolOf(param.argument);
    }
    return scalar;
  }
  }
  return json::Object{};
}

json::Array codegen::launchParams(ws::KernelOp kernel, const CopyBoxOf &copyBox,
                                  ArrayRef<Param> params) {
  LaunchParams writer(kernel, copyBox);
  json::Array list;
  for (const Param &param : params) {
    list.push_back(writer.parameter(param));
  }
  return list;
}
