// Constraints of 'ws.for' and 'ws.entry', by op and label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

// -----

func.func @entry_c3(%n: i32, %m: i64) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    // expected-error @below {{'ws.entry' op expected one result of type 'i64' of a masked entry, got ('i32')}}
    %a = ws.entry @a issue 0 shift 0 masked(%m : i64) -> i32 {
      ws.yield %n : i32
    }
    ws.yield
  }
  return
}

// -----

func.func @entry_c4(%n: i32, %m: i64) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
    %a = ws.entry @a issue 0 shift 0 -> i32 {
      // expected-error @below {{'ws.yield' op expected to yield ('i32'), got ('i64')}}
      ws.yield %m : i64
    }
    ws.yield
  }
  return
}

// =====

// Entries in the body of a loop.
func.func @case(%n: i32) {
  ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
  ^bb0(%j: i32):
...
    ws.yield
  }
  return
}

// -----

// for_c1_entries
// expected-error @below {{'ws.await_store' op expected only 'ws.entry' in the body of 'ws.for'}}
ws.await_store

// -----

// for_c1_issue
ws.entry @a issue 3 shift 0 {
  ws.yield
}
// expected-error @below {{'ws.entry' op expected an 'issue' of its own, got 3 a second time}}
ws.entry @b issue 3 shift 0 {
  ws.yield
}

// -----

// for_c3
%a = ws.entry @a issue 0 shift 0 masked(%n : i32) -> i32 {
  ws.yield %n : i32
}
// expected-error @below {{'ws.entry' op expected masked entries to have one shift, got 1 after 0}}
%b = ws.entry @b issue 1 shift 1 masked(%n : i32) -> i32 {
  ws.yield %n : i32
}

// -----

// for_c4_later_issue
// expected-note @below {{the entry that computes it}}
%a = ws.entry @a issue 5 shift 0 -> i32 {
  ws.yield %n : i32
}
// expected-error @below {{'ws.entry' op V8: expected what 'b' reads to be computed before, got 'a' of issue 5, shift 0}}
%b = ws.entry @b issue 1 shift 0 -> i32 {
  ws.yield %a : i32
}

// -----

// for_c4_shift
// expected-note @below {{the entry that computes it}}
%a = ws.entry @a issue 0 shift 1 -> i32 {
  ws.yield %n : i32
}
// expected-error @below {{'ws.entry' op V8: expected what 'b' reads to be computed before, got 'a' of issue 0, shift 1}}
%b = ws.entry @b issue 1 shift 0 -> i32 {
  ws.yield %a : i32
}

// -----

// for_c6
ws.entry @a issue 0 shift 0 {
  ws.yield
}
ws.entry @w issue 1 shift 0 {
  // expected-error @below {{'ws.await_step' op expected an entry of the loop that holds a 'ws.mma', got @a}}
  ws.await_step @a
  ws.yield
}

// -----

// for_c6_after
// expected-error @below {{'ws.entry' op expected an entry of the loop that holds a 'ws.mma', got @nothing}}
ws.entry @a issue 0 shift 0 after [@nothing] {
  ws.yield
}

// -----

// entry_c1
// expected-error @below {{'ws.entry' op attribute 'issue' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
ws.entry @a issue -1 shift 0 {
  ws.yield
}

// -----

// entry_c1_shift
// expected-error @below {{'ws.entry' op attribute 'shift' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
ws.entry @a issue 0 shift -1 {
  ws.yield
}

// -----

// entry_c2_guard
// expected-error @below {{'ws.entry' op expected guard 'once' or 'last', got 'nonempty'}}
ws.entry @a issue 0 shift 0 guard nonempty {
  ws.yield
}

// -----

// entry_c2_results
// expected-error @below {{'ws.entry' op expected no results of a guarded entry, got 1}}
%a = ws.entry @a issue 0 shift 0 guard once -> i32 {
  ws.yield %n : i32
}

// -----

// entry_c4_terminator
// expected-error @below {{'ws.entry' op expected the body to end with 'ws.yield', got 'llvm.unreachable'}}
ws.entry @a issue 0 shift 0 {
  llvm.unreachable
}

// -----

// entry_c5
ws.entry @w issue 1 shift 0 {
  // expected-error @below {{'ws.await_step' op expected to be alone in its entry, got 1 other ops}}
  ws.await_step @m
  ws.await_store
  ws.yield
}

// -----

// mma_c4_entry
ws.entry @m issue 0 shift 0 {
  %a = ws.wait : <@k, tensor<64x64xbf16>>
  %b = ws.wait : <@k, tensor<128x64xbf16>>
  // expected-error @below {{'ws.mma' op expected no use of the token in a 'ws.entry', where 'attn-pipeline' places the await}}
  %r, %t = ws.mma %a, %b transpose_b : !ws.slot<@k, tensor<64x64xbf16>>, <@k, tensor<128x64xbf16>> -> tensor<64x128xf32>
  %d = ws.await %r, %t : tensor<64x128xf32>
  ws.yield
}

// =====

// A whole loop.
func.func @case(%n: i32) {
...
  return
}

// -----

// for_c2_bounds
// expected-error @below {{'ws.for' op expected 2 bounds for 1 ranges, got 1}}
ws.for ranges <down [full]> bounds(%n) init() : () -> () {
^bb0(%j: i32):
  ws.yield
}

// -----

// for_c2_skipped
// expected-error @below {{'ws.for' op expected the first and the last range alone to be skipped, got range 1}}
ws.for ranges <down [full, skipped, full]> bounds(%n, %n, %n, %n) init() : () -> () {
^bb0(%j: i32):
  ws.yield
}

// -----

// for_c4_carried
%r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
^bb0(%j: i32, %old: i32):
  // expected-error @below {{'ws.entry' op V8: expected what 'b' reads to be computed before, got 'a' of issue 2, shift 1}}
  %b = ws.entry @b issue 1 shift 0 -> i32 {
    ws.yield %old : i32
  }
  // expected-note @below {{the entry that computes it}}
  %a = ws.entry @a issue 2 shift 1 -> i32 {
    ws.yield %n : i32
  }
  ws.yield %a : i32
}

// -----

// for_c5_arguments
// expected-error @below {{'ws.for' op expected block arguments ('i32', 'i32'), got ('i32')}}
%r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
^bb0(%j: i32):
  ws.yield %j : i32
}

// -----

// for_c5_results
// expected-error @below {{'ws.for' op failed to verify that results have the types of 'inits'}}
%r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i64 {
^bb0(%j: i32, %old: i32):
  ws.yield %j : i32
}

// -----

// for_c5_yield
%r = ws.for ranges <down [full]> bounds(%n, %n) init(%n) : (i32) -> i32 {
^bb0(%j: i32, %old: i32):
  // expected-error @below {{'ws.yield' op expected to yield ('i32'), got ()}}
  ws.yield
}

// -----

// for_c7_skipped
// expected-error @below {{'ws.for' op expected the region 'skipped' where a range is of that kind, and nowhere else, got the range alone}}
ws.for ranges <down [skipped, full]> bounds(%n, %n, %n) init() : () -> () {
^bb0(%j: i32):
  ws.yield
}

// -----

// for_c7_drain
// expected-error @below {{'ws.for' op expected an entry with a shift where there is a region 'drain', got none}}
ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
^bb0(%j: i32):
  ws.yield
} drain {
  ws.yield
}

// -----

// for_c7
// expected-error @below {{'ws.for' op expected 'skipped', 'drain' and 'empty' without arguments and results, got 0 and 1}}
ws.for ranges <down [full]> bounds(%n, %n) init() : () -> () {
^bb0(%j: i32):
  ws.yield
} empty {
  ws.yield %n : i32
}

// -----

// await_step_parent
// expected-error @below {{'ws.await_step' op expects parent op 'ws.entry'}}
ws.await_step @m

// -----


