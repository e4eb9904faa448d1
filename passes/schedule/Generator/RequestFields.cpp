// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RequestFields.h"
#include "attn/dialect/Masks.h"
#include "attn/passes/schedule/ScheduleTable.h"

using namespace attn;
using namespace attn::generator;
namespace json = llvm::json;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;

template <typename Value, typename Read>
Error Fields::takeAs(StringRef name, StringRef what, Value &value, Read read) {
  json::Value *found = object.get(name);
  if (!found) {
    return Error::success();
  }
  auto known = read(*found);
  if (!known) {
    return makeError("expected '{0}' to be {1}, got {2}", name, what, *found);
  }
  value = *known;
  object.erase(name);
  return Error::success();
}

Error Fields::take(StringRef name, SmallVector<std::string> &values) {
  using Strings = std::optional<SmallVector<std::string>>;
  return takeAs(name, "a list of strings", values,
                [](const json::Value &from) -> Strings {
                  SmallVector<std::string> strings;
                  const json::Array *array = from.getAsArray();
                  for (const json::Value &each :
                       array ? *array : json::Array()) {
                    if (!each.getAsString()) {
                      return std::nullopt;
                    }
                    strings.push_back(each.getAsString()->str());
                  }
                  return array ? Strings(strings) : std::nullopt;
                });
}

Error Fields::takeHeadDims(EntryHead &head) {
  const KnobDomain domain{KnobKind::Number, 8, 256, 8,
                          "a multiple of 8 in 8..256"};
  auto read = [&](const json::Value &from)
      -> std::optional<std::pair<int64_t, int64_t>> {
    const json::Array *dims = from.getAsArray();
    if (!dims || dims->size() != 2 ||
        !llvm::all_of(*dims, [&](const json::Value &dim) {
          std::optional<int64_t> number = dim.getAsInteger();
          return number && domain.allows(*number);
        })) {
      return std::nullopt;
    }
    return std::pair(*(*dims)[0].getAsInteger(), *(*dims)[1].getAsInteger());
  };
  std::pair<int64_t, int64_t> dims(0, 0);
  if (Error error = takeAs(
          "head_dims", "two numbers, each " + domain.describe(), dims, read)) {
    return error;
  }
  std::tie(head.headDim, head.headDimV) = dims;
  return Error::success();
}

Expected<SchedulePoint> Fields::takePoint() {
  SchedulePoint point;
  json::Object none;
  const json::Value *found = object.get("parameters");
  const json::Object *values = found ? found->getAsObject() : &none;
  if (!values) {
    return makeError("expected 'parameters' to be an object, got {0}", *found);
  }
  if (Error error = setParameters(point, *values)) {
    return error;
  }
  object.erase("parameters");
  return makeCanonical(point);
}

Error Fields::expectNoMore() const {
  if (object.empty()) {
    return Error::success();
  }
  return makeError("expected no field '{0}' in this request",
                   StringRef(object.begin()->first));
}

Error Fields::takeHead(StringRef symbol, EntryHead &head) {
  head.symbol = symbol.str();
  for (const std::string &mask : tableMaskWords(
           bitEnumClear(~TableMasks::Nothing, TableMasks::Gathers))) {
    head.masks.push_back(mask);
  }
  Error error = take("symbol", head.symbol);
  error = llvm::joinErrors(std::move(error), take("masks", head.masks));
  error = llvm::joinErrors(std::move(error), take("when", head.when));
  error = llvm::joinErrors(std::move(error), take("rung", head.rung));
  error = llvm::joinErrors(std::move(error), take("tile_d", head.tileD));
  error = llvm::joinErrors(std::move(error), take("tile_dv", head.tileDv));
  error = llvm::joinErrors(std::move(error), takeHeadDims(head));
  for (const std::string &mask : head.masks) {
    if (!llvm::is_contained(tableMaskWords(), mask)) {
      error =
          llvm::joinErrors(std::move(error),
                           makeError("expected masks of {0}, got '{1}'",
                                     llvm::join(tableMaskWords(), ", "), mask));
    }
  }
  return error;
}
