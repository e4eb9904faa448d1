// One test for each constraint of ws.kernel on its work items and arguments, by its label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

ws.kernel @c15_extents machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s {
^bb0(%n: i32, %m: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-note @below {{the first work loop}}
    ws.work_loop extents(%n, %n, %n) {
    }
  }
  ws.role @b warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.work_loop' op expected all work loops of the kernel to have the same extents, got others}}
    ws.work_loop extents(%m, %n, %n) {
    }
  }
}

// -----

ws.kernel @c15_repeated machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s {
^bb0(%n: i32, %m: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %four = arith.constant 4 : i32
    %b = arith.muli %n, %four : i32
    // expected-note @below {{the first work loop}}
    ws.work_loop extents(%b, %n, %n) {
    }
  }
  ws.role @b warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %four = arith.constant 4 : i32
    %b = arith.muli %n, %four : i32
    ws.work_loop extents(%b, %n, %n) {
    }
  }
  ws.role @c warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %five = arith.constant 5 : i32
    %b = arith.muli %n, %five : i32
    // expected-error @below {{'ws.work_loop' op expected all work loops of the kernel to have the same extents, got others}}
    ws.work_loop extents(%b, %n, %n) {
    }
  }
}

// -----

ws.kernel @c15_next_work machine "sm_90a" args ["n", "m"] problem #p config #c schedule #s {
^bb0(%n: i32, %m: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-note @below {{the work loop}}
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'tile.next_work' op expected the extents of its work loop, got others}}
      %w = tile.next_work extents(%n, %m, %n)
    }
  }
}

// -----

ws.kernel @c12_copy machine "sm_90a" args ["a" write] problem #p config #c schedule #s {
^bb0(%a: tensor<?x?x?x64xbf16>):
  ws.channel @k [tensor<128x64xbf16>] depth 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %s = ws.acquire : !ws.slot<@k, tensor<128x64xbf16>>
    // expected-error @below {{'ws.copy' op expected argument "a" to be one to read, got one to write}}
    ws.copy %a at(%me, %me, %me) #bshd to %s : tensor<?x?x?x64xbf16>, <@k, tensor<128x64xbf16>>
  }
}

// -----

ws.kernel @c12_store machine "sm_90a" args ["a"] problem #p config #c schedule #s {
^bb0(%a: tensor<?x?x?x64xbf16>):
  ws.hold @h tensor<64x64xbf16> pieces 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.store' op expected argument "a" to be one to write, got one to read}}
    ws.store @h[%me], %a at(%me, %me, %me) #bshd : tensor<?x?x?x64xbf16>
  }
}

// -----

ws.kernel @c12_reduce_add_first machine "sm_90a" args ["a" accumulate] problem #p config #c schedule #s {
^bb0(%a: tensor<?x?x?x64xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %t = arith.constant dense<0.0> : tensor<64x64xf32>
    %yes = arith.constant true
    // expected-error @below {{'tile.reduce_add' op expected argument "a" to be one to write, got one to accumulate}}
    tile.reduce_add %t, %a at(%me, %me, %me) first(%yes) #bshd : tensor<64x64xf32>, tensor<?x?x?x64xf32>
  }
}

// -----

ws.kernel @c12_reduce_add machine "sm_90a" args ["a" write] problem #p config #c schedule #s {
^bb0(%a: tensor<?x?x?x64xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %t = arith.constant dense<0.0> : tensor<64x64xf32>
    // expected-error @below {{'tile.reduce_add' op expected argument "a" to be one to accumulate, got one to write}}
    tile.reduce_add %t, %a at(%me, %me, %me) #bshd : tensor<64x64xf32>, tensor<?x?x?x64xf32>
  }
}

// -----

// expected-error @below {{'ws.kernel' op expected 'from' and 'to' only of an f32 argument, got them of "n", 'i32'}}
ws.kernel @c16 machine "sm_90a" args ["n" from 1.0 to 2.0] problem #p config #c schedule #s {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// expected-error @below {{'ws.kernel' op expected at most 0 'tile.cut' and 'tile.join' where 'last_wave_parts' is 1, got 1 and 0}}
ws.kernel @c17_cut machine "sm_90a" args ["n"] problem #p config #c schedule #s {
^bb0(%n: i32):
  %whole, %parts = tile.cut %n by 64 most 4
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// expected-error @below {{'ws.kernel' op expected at most 1 'tile.cut' and 'tile.join' where 'last_wave_parts' is 4, got 2 and 0}}
ws.kernel @c17_two machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 4> schedule #s {
^bb0(%n: i32):
  %whole, %parts = tile.cut %n by 64 most 4
  %whole1, %parts1 = tile.cut %n by 64 most 4
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

ws.kernel @c17_most machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 4> schedule #s {
^bb0(%n: i32):
  // expected-error @below {{'tile.cut' op expected as many parts as 'last_wave_parts', 4, got 3}}
  %whole, %parts = tile.cut %n by 64 most 3
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %v = arith.constant dense<0.0> : tensor<64xf32>
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      %r = tile.join %w of %parts(%v) : (tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
        tile.yield %a : tensor<64xf32>
      }
    }
  }
}

// -----

// Roles with different orders of heads run different items.
ws.kernel @c15_section machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-note @below {{the first one}}
      %w = tile.next_work extents(%n, %n, %n) section(%n)
    }
  }
  ws.role @b warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'tile.next_work' op expected the 'section' of the other roles, got none}}
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}

// -----

// The launch plan only counts the parts of the cut.
ws.kernel @c17_number machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 2> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected parts as a 'tile.cut' has them, got another number}}
      %w = ws.take_item extents(%n, %n, %n) cut(%n, %n)
    }
  }
}

// -----

ws.kernel @c17_role machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 2> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'tile.cut' op expected to be an op of the 'ws.kernel', got one of a 'ws.role'}}
    %whole, %parts = tile.cut %n by 64 most 2
  }
}

// -----

ws.kernel @c17_part machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = grid> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'tile.part_of' op expected 'last_wave_parts' above 1, got 1}}
      %part, %is_part, %item = tile.part_of %w
    }
  }
}
