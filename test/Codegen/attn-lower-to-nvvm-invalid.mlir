// What attn-lower-to-nvvm requires, and what it has no lowering for.
// RUN: %cases %s | attn-opt --attn-lower-to-nvvm -split-input-file -verify-diagnostics


#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected planned shared memory, got none}}
ws.kernel @not_planned machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected arguments to be tensors, f32, i32 or i64, got 'i16'}}
ws.kernel @arguments machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 32792 {
^bb0(%n: i16):
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @one_thread machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 32792 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  // expected-error @below {{'ws.role' op attn-lower-to-nvvm: expected fewer than 4 warps and one replica, as one thread runs it, got 1 x 4 warps}}
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @storers machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 32792 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 0
  // expected-error @below {{'ws.role' op attn-lower-to-nvvm: expected fewer than 4 warps and one replica, as one thread runs it, got 2 x 1 warps}}
  ws.role @store warps 1 regs 24 replicas 2 {
  ^bb0(%me: i32):
    ws.store @h[%me], %o at(%me, %me, %me) #bshd : tensor<?x?x?x64xbf16>
  }
  ws.role @wg warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<8xi32>
    ws.put %v in @h[%me] : vector<8xi32>
  }
}

// -----

ws.kernel @few_warps machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 32792 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
  // expected-error @below {{'ws.role' op attn-lower-to-nvvm: expected role 'wg' to have 4 warps, as it works on whole tiles, got 2}}
  ws.role @wg warps 2 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<16xi32>
    ws.put %v in @h[%me] : vector<16xi32>
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected at most 64512 registers over all roles, with which 384 threads are launched, got 92160}}
ws.kernel @registers machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 32792 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
  ws.role @wg warps 4 regs 240 replicas 3 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<16xi32>
    ws.put %v in @h[%me] : vector<16xi32>
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected at most 1024 threads over all roles, got 1152}}
ws.kernel @threads machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 32792 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 2 at 32768
  ws.role @wg warps 4 regs 24 replicas 9 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<16xi32>
    ws.put %v in @h[%me] : vector<16xi32>
  }
}

// -----

// The register file is large enough, but five warpgroups are launched with only 96 registers a thread.
// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected at most 61440 registers over all roles, with which 640 threads are launched, got 62464}}
ws.kernel @registers_never_come machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 32792 {
^bb0(%n: f32):
  ws.hold @h tensor<64x64xbf16> pieces 4 at 0
  ws.role @load warps 1 regs 40 replicas 1 {
  ^bb0(%me: i32):
  }
  ws.role @wg warps 4 regs 112 replicas 4 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0> : vector<16xi32>
    ws.put %v in @h[%me] : vector<16xi32>
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected arguments of roles 'query' and 'key' beside a condition on their sizes, got none}}
ws.kernel @short machine "sm_90a" args ["n"] problem #p config #c variant <"f" when <seqlen_k at_most 1024>> schedule #s smem 32792 attributes {attn.checks = []} {
^bb0(%n: i32):
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}
ws.kernel @long machine "sm_90a" args ["n"] problem #p config #c variant <"f"> schedule #s smem 32792 attributes {attn.checks = []} {
^bb0(%n: i32):
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected an argument of role 'bound' for each bound of the problem, 1, got 0}}
ws.kernel @no_bound machine "sm_90a" args ["n"] problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = window_top_left, bounds = window_left, score_region = absent, mask_region = absent> config #c schedule #s smem 32792 attributes {attn.checks = []} {
^bb0(%n: i32):
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: no lowering for machine 'sm_100a'}}
ws.kernel @other_machine machine "sm_100a" args ["n"] problem #p config #c schedule <"s" machine "sm_100a" { role wg warps 4 regs 240 }> smem 0 {
^bb0(%n: f32):
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// =====

ws.kernel @case machine "sm_90a" args ["q", "o" write, "n"] problem #p config #c schedule #s smem 32792 {
^bb0(%q: tensor<?x?x?x64xbf16>, %o: tensor<?x?x?x64xbf16>, %n: f32):
...
  ws.role @wg warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
...
  }
}

// -----

// tile_shape
// expected-error @below {{'ws.channel' op attn-lower-to-nvvm: expected rows in multiples of 8 and columns of 16, got 'tensor<64x8xbf16>'}}
ws.channel @k [tensor<64x8xbf16>] depth 1 at 0
...

// -----

// tiles
// expected-error @below {{'arith.constant' op attn-lower-to-nvvm: expected distributed tiles, got 'tensor<64xf32>'}}
%t = arith.constant dense<0.0> : tensor<64xf32>

// -----

// channels
ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
...
%k = ws.wait : <@k, tensor<128x64xbf16>>
// expected-error @below {{'ws.release' op attn-lower-to-nvvm: expected slots that 'ws.slot_at' makes, got another}}
ws.release %k : <@k, tensor<128x64xbf16>>

// -----

// barrier
ws.channel @k [tensor<128x64xbf16>] depth 2 at 0
...
%s = ws.slot_at %me : <@k, tensor<128x64xbf16>>
// expected-error @below {{'ws.copy' op attn-lower-to-nvvm: expected a barrier, got none}}
ws.copy %q at(%me, %me, %me) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>

// -----

// next_work
%c = arith.constant 0 : i32
// expected-error @below {{'tile.next_work' op attn-lower-to-nvvm: expected to be in a 'ws.work_loop'}}
%w = tile.next_work extents(%c, %c, %c)

// -----

// dimension
%i = arith.constant 7 : index
// expected-error @below {{'tensor.dim' op attn-lower-to-nvvm: expected a constant dimension of 'tensor<?x?x?x64xbf16>'}}
%d = tensor.dim %q, %i : tensor<?x?x?x64xbf16>
...

// -----

// dimension_cast
%i = arith.constant 0 : index
%d = tensor.dim %q, %i : tensor<?x?x?x64xbf16>
// expected-error @below {{'arith.addi' op attn-lower-to-nvvm: expected a dimension to be cast to i32 before its use}}
%e = arith.addi %d, %d : index
...

// -----

// computed_tensor
%c = arith.constant 0 : i32
%x = arith.constant 4 : index
%g = tensor.empty(%x) : tensor<?xf32>
// expected-error @below {{'tile.gather' op attn-lower-to-nvvm: expected a tensor of the kernel's arguments, got one of a region}}
%v = tile.gather %g[%c : i32] : tensor<?xf32> -> f32

// =====

// Warps that work on whole tiles.
ws.kernel @case machine "sm_90a" args ["x", "half", "row", "o" write, "sum" accumulate, "lse" write] problem #p config #c schedule #s smem 8192 {
^bb0(%x: tensor<?x?x?x64xf32>, %half: tensor<?x?x?x64xf16>, %row: tensor<?x?x?xf32>, %o: tensor<?x?x?x64xf32>, %sum: tensor<?x?x?x64xf32>, %lse: tensor<?x?x?xf32>):
...
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
...
  }
}

// -----

// few_elements
// expected-error @below {{'tile.load' op attn-lower-to-nvvm: expected a thread to hold at least 32 elements 'f32', got 'vector<4xf32>'}}
%t = tile.load %x at(%me, %me, %me) #bshd : tensor<?x?x?x64xf32> -> vector<4xf32>

// -----

// tile_of_no_vector
// expected-error @below {{'tile.load' op attn-lower-to-nvvm: expected a thread to hold at least 32 elements 'f32', got 'tensor<?x64xf32>'}}
%t = tile.load %x at(%me, %me, %me) #bshd : tensor<?x?x?x64xf32> -> tensor<?x64xf32>

// -----

// no_vector
// expected-error @below {{'tile.load_row' op attn-lower-to-nvvm: expected a thread to hold 2 elements 'f32', got 'tensor<?xf32>'}}
%t = tile.load_row %row at(%me, %me, %me) : tensor<?x?x?xf32> -> tensor<?xf32>

// -----

// three_rows
// expected-error @below {{'tile.load_row' op attn-lower-to-nvvm: expected a thread to hold 2 elements 'f32', got 'vector<3xf32>'}}
%t = tile.load_row %row at(%me, %me, %me) : tensor<?x?x?xf32> -> vector<3xf32>

// -----

// odd_columns
// expected-error @below {{'tile.load_row' op attn-lower-to-nvvm: expected a thread to hold pairs of columns, got 'vector<3xf32>'}}
%t = tile.load_row %row at(%me, %me, %me) {of_columns} : tensor<?x?x?xf32> -> vector<3xf32>

// -----

// stores_four_rows
%t = arith.constant dense<0.0> : vector<4xf32>
// expected-error @below {{'tile.store_row' op attn-lower-to-nvvm: expected a thread to hold 2 elements 'f32', got 'vector<4xf32>'}}
tile.store_row %t, %lse at(%me, %me, %me) : vector<4xf32>, tensor<?x?x?xf32>

// -----

// other_elements
// expected-error @below {{'tile.load' op attn-lower-to-nvvm: expected a thread to hold at least 16 elements 'i32', got 'vector<32xf16>'}}
%t = tile.load %half at(%me, %me, %me) #bshd : tensor<?x?x?x64xf16> -> vector<32xf16>

// -----

// stores_few
%t = arith.constant dense<0.0> : vector<4xf32>
// expected-error @below {{'tile.store_reg' op attn-lower-to-nvvm: expected a thread to hold at least 32 elements 'f32', got 'vector<4xf32>'}}
tile.store_reg %t, %o at(%me, %me, %me) #bshd : vector<4xf32>, tensor<?x?x?x64xf32>

// -----

// adds_few
%t = arith.constant dense<0.0> : vector<4xf32>
// expected-error @below {{'tile.reduce_add' op attn-lower-to-nvvm: expected a thread to hold at least 32 elements 'f32', got 'vector<4xf32>'}}
tile.reduce_add %t, %sum at(%me, %me, %me) #bshd : vector<4xf32>, tensor<?x?x?x64xf32>

// -----

// puts_few
ws.hold @h tensor<64x64xbf16> pieces 1 at 0
...
%v = arith.constant dense<0> : vector<4xi32>
// expected-error @below {{'ws.put' op attn-lower-to-nvvm: expected a thread to hold 16 elements 'i32', got 'vector<4xi32>'}}
ws.put %v in @h[%me] : vector<4xi32>

// -----

// puts_rows
ws.hold @h tensor<32x64xbf16> pieces 1 at 0
...
%v = arith.constant dense<0> : vector<16xi32>
// expected-error @below {{'ws.put' op attn-lower-to-nvvm: expected a hold of 64 rows, got 'tensor<32x64xbf16>'}}
ws.put %v in @h[%me] : vector<16xi32>
