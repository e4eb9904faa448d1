// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LaunchItems.h"
#include "SizeExpressions.h"
#include "attn/codegen/launch/JoinLayout.h"
#include "attn/dialect/LaunchChecks.h"

using namespace mlir;
using namespace attn;
using namespace attn::codegen;
namespace json = llvm::json;

FailureOr<LaunchItems> LaunchItems::of(ws::KernelOp kernel) {
  FailureOr<SmallVector<json::Value>> extents = itemExtents(kernel);
  if (failed(extents)) {
    return failure();
  }
  LaunchItems items(std::move(*extents));
  for (auto cut : kernel.getBody().getOps<tile::CutOp>()) {
    FailureOr<json::Value> length = sizeExpression(kernel, cut.getLength());
    if (failed(length)) {
      return failure();
    }
    if (!JoinLayout::isIn(kernel)) {
      return cut.emitOpError(
          "attn-lower-to-nvvm: expected a 'tile.join' of its "
          "parts in the kernel, got none");
    }
    items.cutLength = std::move(*length);
    items.blockRows = cut.getBlock();
    items.mostParts = cut.getMost();
  }
  return items;
}

LaunchItems::LaunchItems(SmallVector<json::Value> given)
    : loopExtents(std::move(given)) {
  whole = json::Array{"mul", loopExtents[0],
                      json::Array{"mul", loopExtents[1], loopExtents[2]}};
}

json::Value LaunchItems::handedOut() const {
  if (!areCut()) {
    return whole;
  }
  return json::Array{
      "add", wholeName,
      json::Array{"mul", json::Array{"sub", whole, wholeName}, partsName}};
}

json::Value LaunchItems::partsBytes(int64_t partBytes) const {
  return json::Array{"mul", json::Array{"sub", whole, wholeName},
                     json::Array{"sub", partsName, 1}, partBytes};
}

/// Computes into how many parts the items of the last wave are cut: the number
/// for which the wave is shortest, measured in half blocks of keys. A part
/// costs an overhead besides its blocks, and merging another part takes the
/// last one time.
json::Array LaunchItems::cutValues() const {
  constexpr int64_t overhead = 1, merging = 1;
  json::Array values;
  auto define = [&](std::string name, json::Value expr) {
    values.push_back(
        json::Object{{"name", std::move(name)}, {"expr", std::move(expr)}});
  };
  define("cut.tail", json::Array{"mod", whole, kMultiprocessors});
  json::Value parts = 1;
  json::Array before{"min"};
  for (int64_t p = 1; p <= mostParts; ++p) {
    json::Array waves{"ceildiv", json::Array{"mul", "cut.tail", p},
                      kMultiprocessors};
    json::Array blocks{"ceildiv", cutLength, p * blockRows};
    json::Array each{"add", json::Array{"mul", std::move(blocks), 2},
                     p == 1 ? 0 : overhead};
    std::string name = "cut.cost" + std::to_string(p);
    define(name,
           json::Array{"add",
                       json::Array{"mul", std::move(waves), std::move(each)},
                       (p - 1) * merging});
    if (p > 1) {
      json::Value best = p == 2 ? before[1] : json::Value(json::Array(before));
      parts = json::Array{"select", json::Array{"lt", name, std::move(best)}, p,
                          std::move(parts)};
    }
    before.push_back(name);
  }
  json::Array fits{"ge", JoinLayout::mostItems, "cut.tail"};
  define(partsName.str(),
         json::Array{"select", std::move(fits), std::move(parts), 1});
  json::Array cut{"select", json::Array{"eq", partsName, 1}, 0, "cut.tail"};
  define(wholeName.str(), json::Array{"sub", whole, std::move(cut)});
  return values;
}
