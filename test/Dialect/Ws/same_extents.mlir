// Extents that two roles compute are compared op by op, not path by path: there are 2^40 paths here.
// RUN: attn-opt %s | FileCheck %s

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 role more warps 1 regs 24 }>

// CHECK-COUNT-40: arith.muli
// CHECK: ws.work_loop
// CHECK-COUNT-40: arith.muli
// CHECK: ws.work_loop
ws.kernel @f machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %x1 = arith.muli %n, %n : i32
    %x2 = arith.muli %x1, %x1 : i32
    %x3 = arith.muli %x2, %x2 : i32
    %x4 = arith.muli %x3, %x3 : i32
    %x5 = arith.muli %x4, %x4 : i32
    %x6 = arith.muli %x5, %x5 : i32
    %x7 = arith.muli %x6, %x6 : i32
    %x8 = arith.muli %x7, %x7 : i32
    %x9 = arith.muli %x8, %x8 : i32
    %x10 = arith.muli %x9, %x9 : i32
    %x11 = arith.muli %x10, %x10 : i32
    %x12 = arith.muli %x11, %x11 : i32
    %x13 = arith.muli %x12, %x12 : i32
    %x14 = arith.muli %x13, %x13 : i32
    %x15 = arith.muli %x14, %x14 : i32
    %x16 = arith.muli %x15, %x15 : i32
    %x17 = arith.muli %x16, %x16 : i32
    %x18 = arith.muli %x17, %x17 : i32
    %x19 = arith.muli %x18, %x18 : i32
    %x20 = arith.muli %x19, %x19 : i32
    %x21 = arith.muli %x20, %x20 : i32
    %x22 = arith.muli %x21, %x21 : i32
    %x23 = arith.muli %x22, %x22 : i32
    %x24 = arith.muli %x23, %x23 : i32
    %x25 = arith.muli %x24, %x24 : i32
    %x26 = arith.muli %x25, %x25 : i32
    %x27 = arith.muli %x26, %x26 : i32
    %x28 = arith.muli %x27, %x27 : i32
    %x29 = arith.muli %x28, %x28 : i32
    %x30 = arith.muli %x29, %x29 : i32
    %x31 = arith.muli %x30, %x30 : i32
    %x32 = arith.muli %x31, %x31 : i32
    %x33 = arith.muli %x32, %x32 : i32
    %x34 = arith.muli %x33, %x33 : i32
    %x35 = arith.muli %x34, %x34 : i32
    %x36 = arith.muli %x35, %x35 : i32
    %x37 = arith.muli %x36, %x36 : i32
    %x38 = arith.muli %x37, %x37 : i32
    %x39 = arith.muli %x38, %x38 : i32
    %x40 = arith.muli %x39, %x39 : i32
    ws.work_loop extents(%x40, %n, %n) {
    }
  }
  ws.role @more warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    %x1 = arith.muli %n, %n : i32
    %x2 = arith.muli %x1, %x1 : i32
    %x3 = arith.muli %x2, %x2 : i32
    %x4 = arith.muli %x3, %x3 : i32
    %x5 = arith.muli %x4, %x4 : i32
    %x6 = arith.muli %x5, %x5 : i32
    %x7 = arith.muli %x6, %x6 : i32
    %x8 = arith.muli %x7, %x7 : i32
    %x9 = arith.muli %x8, %x8 : i32
    %x10 = arith.muli %x9, %x9 : i32
    %x11 = arith.muli %x10, %x10 : i32
    %x12 = arith.muli %x11, %x11 : i32
    %x13 = arith.muli %x12, %x12 : i32
    %x14 = arith.muli %x13, %x13 : i32
    %x15 = arith.muli %x14, %x14 : i32
    %x16 = arith.muli %x15, %x15 : i32
    %x17 = arith.muli %x16, %x16 : i32
    %x18 = arith.muli %x17, %x17 : i32
    %x19 = arith.muli %x18, %x18 : i32
    %x20 = arith.muli %x19, %x19 : i32
    %x21 = arith.muli %x20, %x20 : i32
    %x22 = arith.muli %x21, %x21 : i32
    %x23 = arith.muli %x22, %x22 : i32
    %x24 = arith.muli %x23, %x23 : i32
    %x25 = arith.muli %x24, %x24 : i32
    %x26 = arith.muli %x25, %x25 : i32
    %x27 = arith.muli %x26, %x26 : i32
    %x28 = arith.muli %x27, %x27 : i32
    %x29 = arith.muli %x28, %x28 : i32
    %x30 = arith.muli %x29, %x29 : i32
    %x31 = arith.muli %x30, %x30 : i32
    %x32 = arith.muli %x31, %x31 : i32
    %x33 = arith.muli %x32, %x32 : i32
    %x34 = arith.muli %x33, %x33 : i32
    %x35 = arith.muli %x34, %x34 : i32
    %x36 = arith.muli %x35, %x35 : i32
    %x37 = arith.muli %x36, %x36 : i32
    %x38 = arith.muli %x37, %x37 : i32
    %x39 = arith.muli %x38, %x38 : i32
    %x40 = arith.muli %x39, %x39 : i32
    ws.work_loop extents(%x40, %n, %n) {
    }
  }
}
