// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `ws.choose_item` does, once for those who run it and for those who lower
// it: which verdicts are due, and whether a rejected item or the next one
// comes.
#ifndef ATTN_DIALECT_ITEMCHOICE_H
#define ATTN_DIALECT_ITEMCHOICE_H

#include "attn/dialect/ItemMemory.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace attn::ws {

/// What the role that hands out items remembers from turn to turn, all 0 at
/// first: the number of the turn and of the verdicts known, and the items of
/// the last two turns.
template <typename Number> struct HandOutState {
  Number turn = {}, known = {}, before = {}, last = {};
};

/// The item of a turn: `second` says whether it is its second run, `slot` where
/// the verdict on it is given.
template <typename Number, typename Flag> struct ItemChoice {
  Number number;
  Flag exists, second;
  Number slot;
  HandOutState<Number> state; // after the turn
};

/// Chooses the item of a turn. `next` is the one that follows if there is
/// `more`. Verdict n is that of turn n. Before turn t those of all turns but
/// t - 1 are known. If neither a rejected nor a new item is left then, that one
/// is waited for as well: the last item may have a second run. `Scalars` is
/// where numbers are computed, now or by ops; its `takeVerdictIf` takes a
/// verdict where one is due and returns whether it rejects.
template <typename Scalars, typename Number, typename Flag>
ItemChoice<Number, Flag> chooseItem(Scalars &by,
                                    const HandOutState<Number> &state,
                                    Number next, Flag more) {
  Flag due = by.isBelow(by.following(state.known), state.turn);
  Flag again = by.takeVerdictIf(due, state.known);
  Number known = by.count(state.known, due);
  Flag none = by.isNot(by.either(more, again));
  Flag drains = by.both(none, by.isBelow(known, state.turn));
  Flag againLast = by.takeVerdictIf(drains, known);
  known = by.count(known, drains);
  Number orLast = by.select(againLast, state.last, next);
  Number number = by.select(again, state.before, orLast);
  Flag second = by.either(again, againLast);
  Flag exists = by.either(second, more);
  Number slot = by.slotOf(state.turn);
  return {number,
          exists,
          second,
          slot,
          {by.following(state.turn), known, state.last, number}};
}

/// Computes now. `take` takes the verdict with a number, and returns whether it
/// rejects.
struct KnownScalars {
  llvm::function_ref<bool(int64_t)> take;

  bool isBelow(int64_t a, int64_t b) const { return a < b; }
  bool both(bool a, bool b) const { return a && b; }
  bool either(bool a, bool b) const { return a || b; }
  bool isNot(bool flag) const { return !flag; }
  int64_t following(int64_t number) const { return number + 1; }
  int64_t count(int64_t number, bool flag) const { return number + flag; }
  int64_t slotOf(int64_t turn) const { return turn % verdictRing; }
  int64_t select(bool condition, int64_t a, int64_t b) const {
    return condition ? a : b;
  }
  bool takeVerdictIf(bool due, int64_t number) const {
    return due && take(number);
  }
};

} // namespace attn::ws

#endif // ATTN_DIALECT_ITEMCHOICE_H
