// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The semantics of `ws.choose_item`, shared by the code that runs it and the
// code that lowers it: which verdicts are due, and whether a rejected item or
// the next one is returned.
#ifndef ATTN_DIALECT_ITEMCHOICE_H
#define ATTN_DIALECT_ITEMCHOICE_H

#include "attn/dialect/ItemMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn::ws {

/// The state of the role that hands out items, initially all 0: the number of
/// the iteration, the number of known verdicts, and the items of the last two
/// iterations.
template <typename Number> struct HandOutState {
  Number iteration = {}, known = {}, before = {}, last = {};
};

/// The item of an iteration: `second` is set in its second run, and `slot` is
/// the slot of its verdict.
template <typename Number, typename Flag> struct ItemChoice {
  Number number;
  Flag exists, second;
  Number slot;
  HandOutState<Number> state; // after the iteration
};

/// Chooses the item of an iteration. `next` is the next item, if there is
/// `more`. Verdict n belongs to the item of iteration n. Before iteration t the
/// verdicts of all iterations before t - 1 are known. If neither a rejected nor
/// a new item is left then, the verdict of iteration t - 1 is waited for as
/// well: the last item may have a second run. `Scalars` computes numbers,
/// immediately or by ops; its `takeVerdictIf` waits for a verdict if it is due
/// and returns whether it rejects.
template <typename Scalars, typename Number, typename Flag>
ItemChoice<Number, Flag> chooseItem(Scalars &by,
                                    const HandOutState<Number> &state,
                                    Number next, Flag more) {
  Flag due = by.isBelow(by.following(state.known), state.iteration);
  Flag again = by.takeVerdictIf(due, state.known);
  Number known = by.count(state.known, due);
  Flag none = by.isNot(by.either(more, again));
  Flag drains = by.both(none, by.isBelow(known, state.iteration));
  Flag againLast = by.takeVerdictIf(drains, known);
  known = by.count(known, drains);
  Number orLast = by.select(againLast, state.last, next);
  Number number = by.select(again, state.before, orLast);
  Flag second = by.either(again, againLast);
  Flag exists = by.either(second, more);
  Number slot = by.slotOf(state.iteration);
  return {number,
          exists,
          second,
          slot,
          {by.following(state.iteration), known, state.last, number}};
}

/// Computes immediately. `take` waits for the verdict with a number, and
/// returns whether it rejects.
struct KnownScalars {
  llvm::function_ref<bool(int64_t)> take;

  bool isBelow(int64_t a, int64_t b) const { return a < b; }
  bool both(bool a, bool b) const { return a && b; }
  bool either(bool a, bool b) const { return a || b; }
  bool isNot(bool flag) const { return !flag; }
  int64_t following(int64_t number) const { return number + 1; }
  int64_t count(int64_t number, bool flag) const { return number + flag; }
  int64_t slotOf(int64_t iteration) const { return iteration % verdictRing; }
  int64_t select(bool condition, int64_t a, int64_t b) const {
    return condition ? a : b;
  }
  bool takeVerdictIf(bool due, int64_t number) const {
    return due && take(number);
  }
};

} // namespace attn::ws

#endif // ATTN_DIALECT_ITEMCHOICE_H
