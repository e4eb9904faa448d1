// C2 of ws.for, and C1 of tile.for: bounds follow the order of their tile.bounds.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @direction(%w: !tile.work, %n: i32) {
  %a:3 = tile.bounds %w up : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  %b:3 = tile.bounds %w up : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  // expected-error @below {{'ws.for' op expected the direction of 'tile.bounds', got 'down'}}
  ws.for ranges <down [full, masked]> bounds(%a#0, %a#1, %a#2) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  }
  return
}

// -----

func.func @reversed(%w: !tile.work, %n: i32) {
  %a:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  %b:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  // expected-error @below {{'ws.for' op expected bound 0 to be result 0 of its 'tile.bounds', got result 2}}
  ws.for ranges <down [masked, full]> bounds(%a#2, %a#1, %a#0) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  }
  return
}

// -----

func.func @swapped(%w: !tile.work, %n: i32) {
  %a:3 = tile.bounds %w up : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  %b:3 = tile.bounds %w up : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  // expected-error @below {{'ws.for' op expected bound 1 to be result 1 of its 'tile.bounds', got result 2}}
  ws.for ranges <up [full, masked]> bounds(%a#0, %a#2, %a#1) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  }
  return
}

// -----

func.func @two_ops(%w: !tile.work, %n: i32) {
  %a:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  %b:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  // expected-error @below {{'ws.for' op expected the bounds of its ranges to be of one 'tile.bounds', got bound 1 of another}}
  ws.for ranges <down [masked, full]> bounds(%a#0, %b#1, %a#2) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  }
  return
}

// -----

func.func @skipped_first(%w: !tile.work, %n: i32) {
  %a:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  %b:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  // expected-error @below {{'ws.for' op expected bound 0 to be result 0 of its 'tile.bounds', got result 1}}
  ws.for ranges <down [skipped, masked]> bounds(%a#1, %b#0, %a#2) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  } skipped {
    ws.yield
  }
  return
}

// -----

func.func @skipped_last(%w: !tile.work, %n: i32) {
  %a:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  %b:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  // expected-error @below {{'ws.for' op expected bound 2 to be result 2 of its 'tile.bounds', got result 1}}
  ws.for ranges <down [skipped, masked]> bounds(%a#0, %b#0, %a#1) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  } skipped {
    ws.yield
  }
  return
}

// -----

func.func @skipped_two(%w: !tile.work, %n: i32) {
  %a:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  %b:3 = tile.bounds %w : i32, i32, i32 {
  ^bb0(%i: !tile.work):
    tile.yield %n, %n, %n : i32, i32, i32
  }
  // expected-error @below {{'ws.for' op expected the bounds of all rows to be of one 'tile.bounds', got bound 2 of another}}
  ws.for ranges <down [skipped, masked]> bounds(%a#0, %b#0, %b#2) init() : () -> () {
  ^bb0(%j: i32):
    ws.yield
  } skipped {
    ws.yield
  }
  return
}
