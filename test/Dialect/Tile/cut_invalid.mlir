// RUN: attn-opt %s --split-input-file --verify-diagnostics

func.func @join_c1_results(%w: !tile.work, %n: i32, %x: tensor<64xf32>) {
  // expected-error @below {{'tile.join' op failed to verify that results have the types of 'values'}}
  %r = tile.join %w of %n(%x) : (tensor<64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    tile.yield %a : tensor<64xf32>
  }
  return
}

// -----

func.func @join_c1_arguments(%w: !tile.work, %n: i32, %x: tensor<64xf32>) {
  // expected-error @below {{'tile.join' op expected block arguments ('tensor<64xf32>', 'tensor<64xf32>'), got ('tensor<64xf32>')}}
  %r = tile.join %w of %n(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    tile.yield %a : tensor<64xf32>
  }
  return
}

// -----

func.func @join_c1_yield(%w: !tile.work, %n: i32, %x: tensor<64xf32>) {
  // expected-error @below {{'tile.join' op expected the body to yield ('tensor<64xf32>')}}
  %r = tile.join %w of %n(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    tile.yield %a, %b : tensor<64xf32>, tensor<64xf32>
  }
  return
}

// -----

func.func @join_c2(%w: !tile.work, %n: i32, %x: tensor<64xbf16>) {
  // expected-error @below {{'tile.join' op operand #2 must be variadic of tile of f32 or a thread's share, but got 'tensor<64xbf16>'}}
  %r = tile.join %w of %n(%x) : (tensor<64xbf16>) -> tensor<64xbf16> {
  ^bb0(%a: tensor<64xbf16>, %b: tensor<64xbf16>):
    tile.yield %a : tensor<64xbf16>
  }
  return
}

// -----

func.func @join_c2_memory(%w: !tile.work, %n: i32, %x: memref<64xf32>) {
  // expected-error @below {{'tile.join' op operand #2 must be variadic of tile of f32 or a thread's share, but got 'memref<64xf32>'}}
  %r = tile.join %w of %n(%x) : (memref<64xf32>) -> memref<64xf32> {
  ^bb0(%a: memref<64xf32>, %b: memref<64xf32>):
    tile.yield %a : memref<64xf32>
  }
  return
}

// -----

func.func @join_c3(%w: !tile.work, %n: i32, %x: tensor<64xf32>, %i: index) {
  scf.for %j = %i to %i step %i {
    // expected-error @below {{'tile.join' op expected to be in no loop but the one over work items, got 'scf.for'}}
    %r = tile.join %w of %n(%x) : (tensor<64xf32>) -> tensor<64xf32> {
    ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
      tile.yield %a : tensor<64xf32>
    }
  }
  return
}
