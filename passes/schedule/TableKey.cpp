// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TableKey.h"
#include "attn/dialect/Masks.h"

using namespace mlir;
using namespace attn;

static std::string nameOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Returns the masks that an entry has to serve. `row_keys` with an end count
/// as a causal mask, and those with a first key as a window. If all rows see
/// the same keys, all sub-tiles run the same blocks, as without a mask.
static TableMasks masksOf(ProblemAttr problem) {
  StringRef served = builtInMask(problem.getMask()).served;
  RowKeys sides = problem.getRowKeys();
  if (bitEnumContainsAll(sides, RowKeys::Alike)) {
    sides = RowKeys::None;
  }
  TableMasks masks = TableMasks::Nothing;
  if (bitEnumContainsAll(sides, RowKeys::End)) {
    masks |= TableMasks::CausalTopLeft;
  } else if (sides == RowKeys::None && !served.empty()) {
    masks |= *symbolizeTableMasks(served);
  }
  if (problem.getBounds() != MaskBounds::None ||
      bitEnumContainsAll(sides, RowKeys::First)) {
    masks |= TableMasks::Window;
  }
  return masks;
}

TableKey TableKey::of(ProblemAttr problem, StringRef target) {
  TableKey key{
      problem.getKind(),   problem.getHeadDim(),         problem.getHeadDimV(),
      TableMasks::Nothing, {nameOf(problem.getDtype())}, {target}};
  key.masks = masksOf(problem);
  auto region = std::max(problem.getMaskRegion(), problem.getScoreRegion());
  key.hasFunction = region != attn::RegionKind::Absent ||
                    problem.getRowKeys() != RowKeys::None;
  key.plain = !key.hasFunction && problem.getBounds() == MaskBounds::None;
  key.dropout = problem.getDropout();
  // Reading elements at positions needs registers for addresses.
  if (region == attn::RegionKind::Gathering) {
    key.masks |= TableMasks::Gathers;
  }
  return key;
}

TableKey TableKey::of(TableEntryOp entry) {
  TableKey key{entry.getKind(),
               int64_t(entry.getHeadDim()),
               int64_t(entry.getHeadDimV()),
               entry.getMasks(),
               {"bf16", "f16"},
               {entry.getSchedule().getMachine().getValue()},
               entry.getExact(),
               entry.getPacked()};
  if (ArrayAttr machines = entry.getMachinesAttr()) {
    llvm::append_range(key.machines, machines.getAsValueRange<StringAttr>());
  }
  if (ArrayAttr dtypes = entry.getDtypesAttr()) {
    key.dtypes.clear();
    for (Type dtype : dtypes.getAsValueRange<TypeAttr>()) {
      key.dtypes.push_back(nameOf(dtype));
    }
  }
  return key;
}

bool TableKey::servesProblem(const TableKey &wanted) const {
  return kind == wanted.kind && servesHeadDim(headDim, wanted.headDim) &&
         servesHeadDim(headDimV, wanted.headDimV) &&
         bitEnumContainsAll(masks, wanted.masks) &&
         llvm::all_of(wanted.dtypes, [&](const std::string &dtype) {
           return llvm::is_contained(dtypes, dtype);
         });
}

bool TableKey::isComparable(const TableKey &other) const {
  return kind == other.kind && headDim == other.headDim &&
         headDimV == other.headDimV && machines == other.machines &&
         exact == other.exact && packed == other.packed;
}

int64_t TableKey::columnsFor(int64_t native, int64_t headDim) {
  constexpr int64_t granule = 16;
  return native == -1 ? llvm::alignTo(headDim, granule) : native;
}

TableKey::Cost TableKey::cost(const TableKey &wanted) const {
  int64_t ofQ = columnsFor(headDim, wanted.headDim);
  int64_t ofV = columnsFor(headDimV, wanted.headDimV);
  return {{ofQ + ofV, ofQ}, size_t(llvm::popcount(uint32_t(masks)))};
}

std::string TableKey::describeProblem() const {
  return llvm::formatv(
      "{0}, {1}, head dims {2}{3} and {4}{5}, mask '{6}'{7}{8}",
      stringifyKernelKind(kind), llvm::join(dtypes, " or "),
      exact ? "exactly " : "", headDim, headDimV,
      packed ? ", packed heads" : "",
      llvm::join(tableMaskWords(masks), "' and '"),
      hasFunction ? ", a function" : "", dropout ? ", dropout" : "");
}

std::string TableKey::describe() const {
  return llvm::formatv("{0}, on '{1}'", describeProblem(),
                       llvm::join(machines, "' and '"));
}
