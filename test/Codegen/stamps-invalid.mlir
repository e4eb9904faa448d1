// Two launches of a call that record: their stamps would lie at the same bytes of the workspace.
// RUN: attn-opt %s --attn-lower-to-nvvm -verify-diagnostics

#p = #attn.problem<kind = custom, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>

ws.kernel @first machine "sm_90a" args ["n", "t" write ("n")] problem #p config #c schedule #s smem 8 attributes {attn.checks = []} {
^bb0(%n: i32, %t: tensor<?xf32>):
  ws.stamps events 16 ctas 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected stamps in one launch of a call, got '@first' before it}}
ws.kernel @second machine "sm_90a" args ["n", "t" ("n"), "o" write ("n")] problem #p config #c schedule #s smem 8 attributes {attn.checks = []} {
^bb0(%n: i32, %t: tensor<?xf32>, %o: tensor<?xf32>):
  ws.stamps events 16 ctas 1
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

launch.sequence "both" launches ["first", "second"] temporaries ["t"]
