// Numbers of work items that a launch plan cannot compute, or would compute differently from the kernel.
// RUN: %cases %s | attn-opt --attn-lower-to-nvvm -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @case machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
...
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

// expected-error @below {{'arith.divsi' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.divsi %less, %c64 : i32

// -----

// expected-error @below {{'arith.divui' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.divui %less, %c64 : i32

// -----

// expected-error @below {{'arith.remsi' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.remsi %less, %c64 : i32

// -----

// expected-error @below {{'arith.remui' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.remui %less, %c64 : i32

// -----

// expected-error @below {{'arith.minui' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.minui %less, %c64 : i32

// -----

// expected-error @below {{'arith.maxui' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.maxui %less, %c64 : i32

// -----

// expected-error @below {{'arith.ceildivui' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.ceildivui %less, %c64 : i32

// -----

// expected-error @below {{'arith.divsi' op attn-lower-to-nvvm: expected operands that are never negative, because launch plans divide and compare differently, got operand #0}}
%b = arith.divsi %n, %c64 : i32

// -----

// expected-error @below {{'arith.shli' op attn-lower-to-nvvm: expected the number of work items to be computed from sizes, arguments and constants, got a result of this op}}
%b = arith.shli %sq, %one : i32

// -----

%wide = arith.index_cast %m : i64 to index
// expected-error @below {{'arith.index_cast' op attn-lower-to-nvvm: expected a cast of an argument to keep all its bits, got 'index' to 'i32'}}
%b = arith.index_cast %wide : index to i32

// -----

%small = arith.constant 5 : i16
// expected-error @below {{'arith.extsi' op attn-lower-to-nvvm: expected the number of work items to be computed in 32 bits, got a change from 'i16' to 'i32'}}
%b = arith.extsi %small : i16 to i32

// -----

// expected-error @below {{'arith.trunci' op attn-lower-to-nvvm: expected the number of work items to be computed in 32 bits, got a change from 'i64' to 'i32'}}
%b = arith.trunci %m : i64 to i32

// -----

%small = arith.constant 5 : i16
// expected-error @below {{'arith.extui' op attn-lower-to-nvvm: expected the number of work items to be computed in 32 bits, got a change from 'i16' to 'i32'}}
%b = arith.extui %small : i16 to i32

// -----

%x1 = arith.muli %n, %n : i32
%x2 = arith.muli %x1, %x1 : i32
%x3 = arith.muli %x2, %x2 : i32
%x4 = arith.muli %x3, %x3 : i32
%x5 = arith.muli %x4, %x4 : i32
%x6 = arith.muli %x5, %x5 : i32
%x7 = arith.muli %x6, %x6 : i32
%x8 = arith.muli %x7, %x7 : i32
%x9 = arith.muli %x8, %x8 : i32
// expected-error @below {{'arith.muli' op attn-lower-to-nvvm: expected an expression of at most 1024 numbers and operators, with shared operands counted once a use, got more}}
%b = arith.muli %x9, %x9 : i32

// =====

// Whole kernels.
#dynamic = #attn.config<tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 4>

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected a 'ws.work_loop', whose extents are the number of work items, got none}}
ws.kernel @f machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected the number of work items to be that of a launch, got one that depends on a block argument}}
ws.kernel @f machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%me, %n, %n) {
    }
  }
}

// -----

ws.kernel @f machine "sm_90a" args ["n"] problem #p config #dynamic schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32):
  // expected-error @below {{'tile.cut' op attn-lower-to-nvvm: expected a 'tile.join' of its parts in the kernel, got none}}
  %whole, %parts = tile.cut %n by 64 most 4
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.take_item extents(%n, %n, %n) cut(%whole, %parts)
      ws.end_unless_work %w
    }
  }
}

// -----

// A warp alone has no tile of this chip.
ws.kernel @f machine "sm_90a" args ["n"] problem #p config #dynamic schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32):
  %whole, %parts = tile.cut %n by 64 most 4
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.take_item extents(%n, %n, %n) cut(%whole, %parts)
      ws.end_unless_work %w
      %x = arith.constant dense<0.0> : vector<2xf32>
      // expected-error @below {{'tile.join' op attn-lower-to-nvvm: expected 64 rows a warpgroup, got 16}}
      %y = tile.join %w of %parts(%x) : (vector<2xf32>) -> vector<2xf32> {
      ^bb0(%merged: vector<2xf32>, %other: vector<2xf32>):
        tile.yield %merged : vector<2xf32>
      }
    }
  }
}

// -----

ws.kernel @f machine "sm_90a" args ["n"] problem #p config #dynamic schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32):
  // expected-error @below {{'tile.cut' op attn-lower-to-nvvm: expected the number of work items to be computed from sizes, arguments and constants, got a result of this op}}
  %whole, %parts = tile.cut %n by 64 most 4
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%whole, %n, %n) {
      %w = ws.take_item extents(%whole, %n, %n) cut(%whole, %parts)
      ws.end_unless_work %w
    }
  }
}
