// Numbers of work items that a launch plan would compute otherwise than the kernel, or not at all.
// RUN: attn-opt %s --attn-lower-to-nvvm -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
  // expected-error @below {{'arith.divsi' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.divsi %less, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
  // expected-error @below {{'arith.divui' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.divui %less, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
  // expected-error @below {{'arith.remsi' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.remsi %less, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
  // expected-error @below {{'arith.remui' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.remui %less, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
  // expected-error @below {{'arith.minui' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.minui %less, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
  // expected-error @below {{'arith.maxui' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.maxui %less, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %less = arith.subi %sq, %one : i32
  // expected-error @below {{'arith.ceildivui' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.ceildivui %less, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  // expected-error @below {{'arith.divsi' op attn-lower-to-nvvm: expected an operand that is never negative, as a launch plan divides and compares another way, got operand #0}}
  %b = arith.divsi %n, %c64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  // expected-error @below {{'arith.shli' op attn-lower-to-nvvm: expected the number of work items to be computed from sizes, arguments and constants, got one that this op makes}}
  %b = arith.shli %sq, %one : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %wide = arith.index_cast %m : i64 to index
  // expected-error @below {{'arith.index_cast' op attn-lower-to-nvvm: expected a cast that keeps all bits of what is no size, got 'index' to 'i32'}}
  %b = arith.index_cast %wide : index to i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected a 'ws.work_loop', whose extents are the number of work items, got none}}
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %c = arith.constant 0 : i32
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected the number of work items to be that of a launch, got one that depends on a block argument}}
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %m: i64):
  %index1 = arith.constant 1 : index
  %dim = tensor.dim %q, %index1 : tensor<?x?x?x64xbf16>
  %sq = arith.index_cast %dim : index to i32
  %one = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%me, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 4>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
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

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32, %m: i64):
  %small = arith.constant 5 : i16
  // expected-error @below {{'arith.extsi' op attn-lower-to-nvvm: expected the number of work items to be computed in 32 bits, got a change from 'i16' to 'i32'}}
  %b = arith.extsi %small : i16 to i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32, %m: i64):
  // expected-error @below {{'arith.trunci' op attn-lower-to-nvvm: expected the number of work items to be computed in 32 bits, got a change from 'i64' to 'i32'}}
  %b = arith.trunci %m : i64 to i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32, %m: i64):
  %small = arith.constant 5 : i16
  // expected-error @below {{'arith.extui' op attn-lower-to-nvvm: expected the number of work items to be computed in 32 bits, got a change from 'i16' to 'i32'}}
  %b = arith.extui %small : i16 to i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 4>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["n"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32):
  // expected-error @below {{'tile.cut' op attn-lower-to-nvvm: expected the number of work items to be computed from sizes, arguments and constants, got one that this op makes}}
  %whole, %parts = tile.cut %n by 64 most 4
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%whole, %n, %n) {
      %w = ws.take_item extents(%whole, %n, %n) cut(%whole, %parts)
      ws.end_unless_work %w
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32, %m: i64):
  %x1 = arith.muli %n, %n : i32
  %x2 = arith.muli %x1, %x1 : i32
  %x3 = arith.muli %x2, %x2 : i32
  %x4 = arith.muli %x3, %x3 : i32
  %x5 = arith.muli %x4, %x4 : i32
  %x6 = arith.muli %x5, %x5 : i32
  %x7 = arith.muli %x6, %x6 : i32
  %x8 = arith.muli %x7, %x7 : i32
  %x9 = arith.muli %x8, %x8 : i32
  // expected-error @below {{'arith.muli' op attn-lower-to-nvvm: expected an expression of at most 1024 numbers and operators, with what operands share written for each, got more}}
  %x10 = arith.muli %x9, %x9 : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%x10, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected the expressions of its launch plan to be at most 32 deep, with the number of work items written out, got 33}}
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32, %m: i64):
  %x0 = arith.constant 1 : i32
  %x1 = arith.addi %x0, %n : i32
  %x2 = arith.addi %x1, %n : i32
  %x3 = arith.addi %x2, %n : i32
  %x4 = arith.addi %x3, %n : i32
  %x5 = arith.addi %x4, %n : i32
  %x6 = arith.addi %x5, %n : i32
  %x7 = arith.addi %x6, %n : i32
  %x8 = arith.addi %x7, %n : i32
  %x9 = arith.addi %x8, %n : i32
  %x10 = arith.addi %x9, %n : i32
  %x11 = arith.addi %x10, %n : i32
  %x12 = arith.addi %x11, %n : i32
  %x13 = arith.addi %x12, %n : i32
  %x14 = arith.addi %x13, %n : i32
  %x15 = arith.addi %x14, %n : i32
  %x16 = arith.addi %x15, %n : i32
  %x17 = arith.addi %x16, %n : i32
  %x18 = arith.addi %x17, %n : i32
  %x19 = arith.addi %x18, %n : i32
  %x20 = arith.addi %x19, %n : i32
  %x21 = arith.addi %x20, %n : i32
  %x22 = arith.addi %x21, %n : i32
  %x23 = arith.addi %x22, %n : i32
  %x24 = arith.addi %x23, %n : i32
  %x25 = arith.addi %x24, %n : i32
  %x26 = arith.addi %x25, %n : i32
  %x27 = arith.addi %x26, %n : i32
  %x28 = arith.addi %x27, %n : i32
  %x29 = arith.addi %x28, %n : i32
  %x30 = arith.addi %x29, %n : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%x30, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected the expressions of its launch plan to be at most 32 deep, with the number of work items written out, got 33}}
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = [[["lt", ["add", ["add", "items", 1], 1], 100], 1, "m"]]} {
^bb0(%n: i32, %m: i64):
  %x0 = arith.constant 1 : i32
  %x1 = arith.addi %x0, %n : i32
  %x2 = arith.addi %x1, %n : i32
  %x3 = arith.addi %x2, %n : i32
  %x4 = arith.addi %x3, %n : i32
  %x5 = arith.addi %x4, %n : i32
  %x6 = arith.addi %x5, %n : i32
  %x7 = arith.addi %x6, %n : i32
  %x8 = arith.addi %x7, %n : i32
  %x9 = arith.addi %x8, %n : i32
  %x10 = arith.addi %x9, %n : i32
  %x11 = arith.addi %x10, %n : i32
  %x12 = arith.addi %x11, %n : i32
  %x13 = arith.addi %x12, %n : i32
  %x14 = arith.addi %x13, %n : i32
  %x15 = arith.addi %x14, %n : i32
  %x16 = arith.addi %x15, %n : i32
  %x17 = arith.addi %x16, %n : i32
  %x18 = arith.addi %x17, %n : i32
  %x19 = arith.addi %x18, %n : i32
  %x20 = arith.addi %x19, %n : i32
  %x21 = arith.addi %x20, %n : i32
  %x22 = arith.addi %x21, %n : i32
  %x23 = arith.addi %x22, %n : i32
  %x24 = arith.addi %x23, %n : i32
  %x25 = arith.addi %x24, %n : i32
  %x26 = arith.addi %x25, %n : i32
  %x27 = arith.addi %x26, %n : i32
  %x28 = arith.addi %x27, %n : i32
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%x28, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have lists of at most 256 words, got 257}}
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = [[["min", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 1, "m"]]} {
^bb0(%n: i32, %m: i64):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// -----

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>
// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected at most 256 checks of a launch, got 258}}
ws.kernel @f machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s smem 0 attributes {attn.checks = [["n", 0, "m"], ["n", 1, "m"], ["n", 2, "m"], ["n", 3, "m"], ["n", 4, "m"], ["n", 5, "m"], ["n", 6, "m"], ["n", 7, "m"], ["n", 8, "m"], ["n", 9, "m"], ["n", 10, "m"], ["n", 11, "m"], ["n", 12, "m"], ["n", 13, "m"], ["n", 14, "m"], ["n", 15, "m"], ["n", 16, "m"], ["n", 17, "m"], ["n", 18, "m"], ["n", 19, "m"], ["n", 20, "m"], ["n", 21, "m"], ["n", 22, "m"], ["n", 23, "m"], ["n", 24, "m"], ["n", 25, "m"], ["n", 26, "m"], ["n", 27, "m"], ["n", 28, "m"], ["n", 29, "m"], ["n", 30, "m"], ["n", 31, "m"], ["n", 32, "m"], ["n", 33, "m"], ["n", 34, "m"], ["n", 35, "m"], ["n", 36, "m"], ["n", 37, "m"], ["n", 38, "m"], ["n", 39, "m"], ["n", 40, "m"], ["n", 41, "m"], ["n", 42, "m"], ["n", 43, "m"], ["n", 44, "m"], ["n", 45, "m"], ["n", 46, "m"], ["n", 47, "m"], ["n", 48, "m"], ["n", 49, "m"], ["n", 50, "m"], ["n", 51, "m"], ["n", 52, "m"], ["n", 53, "m"], ["n", 54, "m"], ["n", 55, "m"], ["n", 56, "m"], ["n", 57, "m"], ["n", 58, "m"], ["n", 59, "m"], ["n", 60, "m"], ["n", 61, "m"], ["n", 62, "m"], ["n", 63, "m"], ["n", 64, "m"], ["n", 65, "m"], ["n", 66, "m"], ["n", 67, "m"], ["n", 68, "m"], ["n", 69, "m"], ["n", 70, "m"], ["n", 71, "m"], ["n", 72, "m"], ["n", 73, "m"], ["n", 74, "m"], ["n", 75, "m"], ["n", 76, "m"], ["n", 77, "m"], ["n", 78, "m"], ["n", 79, "m"], ["n", 80, "m"], ["n", 81, "m"], ["n", 82, "m"], ["n", 83, "m"], ["n", 84, "m"], ["n", 85, "m"], ["n", 86, "m"], ["n", 87, "m"], ["n", 88, "m"], ["n", 89, "m"], ["n", 90, "m"], ["n", 91, "m"], ["n", 92, "m"], ["n", 93, "m"], ["n", 94, "m"], ["n", 95, "m"], ["n", 96, "m"], ["n", 97, "m"], ["n", 98, "m"], ["n", 99, "m"], ["n", 100, "m"], ["n", 101, "m"], ["n", 102, "m"], ["n", 103, "m"], ["n", 104, "m"], ["n", 105, "m"], ["n", 106, "m"], ["n", 107, "m"], ["n", 108, "m"], ["n", 109, "m"], ["n", 110, "m"], ["n", 111, "m"], ["n", 112, "m"], ["n", 113, "m"], ["n", 114, "m"], ["n", 115, "m"], ["n", 116, "m"], ["n", 117, "m"], ["n", 118, "m"], ["n", 119, "m"], ["n", 120, "m"], ["n", 121, "m"], ["n", 122, "m"], ["n", 123, "m"], ["n", 124, "m"], ["n", 125, "m"], ["n", 126, "m"], ["n", 127, "m"], ["n", 128, "m"], ["n", 129, "m"], ["n", 130, "m"], ["n", 131, "m"], ["n", 132, "m"], ["n", 133, "m"], ["n", 134, "m"], ["n", 135, "m"], ["n", 136, "m"], ["n", 137, "m"], ["n", 138, "m"], ["n", 139, "m"], ["n", 140, "m"], ["n", 141, "m"], ["n", 142, "m"], ["n", 143, "m"], ["n", 144, "m"], ["n", 145, "m"], ["n", 146, "m"], ["n", 147, "m"], ["n", 148, "m"], ["n", 149, "m"], ["n", 150, "m"], ["n", 151, "m"], ["n", 152, "m"], ["n", 153, "m"], ["n", 154, "m"], ["n", 155, "m"], ["n", 156, "m"], ["n", 157, "m"], ["n", 158, "m"], ["n", 159, "m"], ["n", 160, "m"], ["n", 161, "m"], ["n", 162, "m"], ["n", 163, "m"], ["n", 164, "m"], ["n", 165, "m"], ["n", 166, "m"], ["n", 167, "m"], ["n", 168, "m"], ["n", 169, "m"], ["n", 170, "m"], ["n", 171, "m"], ["n", 172, "m"], ["n", 173, "m"], ["n", 174, "m"], ["n", 175, "m"], ["n", 176, "m"], ["n", 177, "m"], ["n", 178, "m"], ["n", 179, "m"], ["n", 180, "m"], ["n", 181, "m"], ["n", 182, "m"], ["n", 183, "m"], ["n", 184, "m"], ["n", 185, "m"], ["n", 186, "m"], ["n", 187, "m"], ["n", 188, "m"], ["n", 189, "m"], ["n", 190, "m"], ["n", 191, "m"], ["n", 192, "m"], ["n", 193, "m"], ["n", 194, "m"], ["n", 195, "m"], ["n", 196, "m"], ["n", 197, "m"], ["n", 198, "m"], ["n", 199, "m"], ["n", 200, "m"], ["n", 201, "m"], ["n", 202, "m"], ["n", 203, "m"], ["n", 204, "m"], ["n", 205, "m"], ["n", 206, "m"], ["n", 207, "m"], ["n", 208, "m"], ["n", 209, "m"], ["n", 210, "m"], ["n", 211, "m"], ["n", 212, "m"], ["n", 213, "m"], ["n", 214, "m"], ["n", 215, "m"], ["n", 216, "m"], ["n", 217, "m"], ["n", 218, "m"], ["n", 219, "m"], ["n", 220, "m"], ["n", 221, "m"], ["n", 222, "m"], ["n", 223, "m"], ["n", 224, "m"], ["n", 225, "m"], ["n", 226, "m"], ["n", 227, "m"], ["n", 228, "m"], ["n", 229, "m"], ["n", 230, "m"], ["n", 231, "m"], ["n", 232, "m"], ["n", 233, "m"], ["n", 234, "m"], ["n", 235, "m"], ["n", 236, "m"], ["n", 237, "m"], ["n", 238, "m"], ["n", 239, "m"], ["n", 240, "m"], ["n", 241, "m"], ["n", 242, "m"], ["n", 243, "m"], ["n", 244, "m"], ["n", 245, "m"], ["n", 246, "m"], ["n", 247, "m"], ["n", 248, "m"], ["n", 249, "m"], ["n", 250, "m"], ["n", 251, "m"], ["n", 252, "m"], ["n", 253, "m"], ["n", 254, "m"], ["n", 255, "m"]]} {
^bb0(%n: i32, %m: i64):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}
