// Constraints of work items, by op and label.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 }>
#bshd = affine_map<(b, h, i, c) -> (b, i, h, c)>

// -----

// Each CTA would take items, and the second CTA its first item again and again.
ws.kernel @kernel_c9_cluster machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected a 'ws.share_work' around it where 'cluster' is 2, got none}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

// The other roles would treat the parts of an item as whole items.
ws.kernel @kernel_c9_parts machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected no 'cut' where 'last_wave_parts' is 1, got one}}
      %w = ws.take_item extents(%n, %n, %n) cut(%n, %n)
    }
  }
}

// -----

ws.kernel @kernel_c9_whole machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, last_wave_parts = 4> schedule #s {
^bb0(%n: i32):
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected a 'cut' where 'last_wave_parts' is 4, got none}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

ws.kernel @kernel_c9_replicas machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.role @a warps 4 regs 240 replicas 2 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.take_item' op expected one thread to hand out items, got role 'a' of 2 x 4 warps}}
      %w = ws.take_item extents(%n, %n, %n)
    }
  }
}

// -----

ws.kernel @kernel_c11_mailbox machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  // expected-note @below {{declared here}}
  ws.edge @e credits 0
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.share_work' op expected @e to be a 'ws.mailbox' of the kernel, got a 'ws.edge'}}
      %w = ws.share_work through @e {
        %x = ws.take_item extents(%n, %n, %n)
        ws.yield %x : !tile.work
      }
    }
  }
}

// -----

ws.kernel @kernel_c13_static machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = static> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  // expected-error @below {{'ws.verdict' op expected work 'grid' or 'dynamic', got 'static'}}
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
    }
  }
}

// -----

// This role would not run the item a second time.
ws.kernel @kernel_c13_not_taken machine "sm_90a" args ["n", "no", "lse" write] problem #p config #c schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.verdict @v
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    // expected-error @below {{'ws.work_loop' op expected to end with a 'ws.second_run' where items may be rejected, got none}}
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      ws.give_verdict @v on %w rejected %no
    }
  }
}

// -----

ws.kernel @kernel_c18_missing machine "sm_90a" args ["o" write, "n", "no"] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.hold @h tensor<64x64xbf16> pieces 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      tile.reject %w if %no
      // expected-error @below {{'ws.store' op expected 'after_first_run' where items may be rejected, got none}}
      ws.store @h[%me], %o at(%n, %n, %n) #bshd : tensor<?x?x?x64xbf16>
    }
  }
}

// -----

ws.kernel @kernel_c18_idle machine "sm_90a" args ["o" write, "n", "no"] problem #p config #c schedule #s {
^bb0(%o: tensor<?x?x?x64xbf16>, %n: i32, %no: i1):
  ws.hold @h tensor<64x64xbf16> pieces 1
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = tile.next_work extents(%n, %n, %n)
      // expected-error @below {{'ws.store' op expected no 'after_first_run' where no item may be rejected, got one}}
      ws.store @h[%me], %o at(%n, %n, %n) #bshd after_first_run %w : tensor<?x?x?x64xbf16>
    }
  }
}

// -----

ws.kernel @share_work_c1 machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.mailbox @m
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      // expected-error @below {{'ws.share_work' op expected to yield the work item that was taken last}}
      %w = ws.share_work through @m {
        %x = ws.take_item extents(%n, %n, %n)
        ws.yield %n : i32
      }
    }
  }
}

// -----

ws.kernel @share_work_c1_computed machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic, cluster = 2> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
  ws.mailbox @m
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %w = ws.share_work through @m {
        // expected-error @below {{'tile.next_work' op expected a 'ws.take_item', then at most one 'ws.choose_item', in a 'ws.share_work'}}
        %x = tile.next_work extents(%n, %n, %n)
        ws.yield %x : !tile.work
      }
    }
  }
}

// -----

// The state of the item besides its coordinates would be lost.
ws.kernel @put_work_c2 machine "sm_90a" args ["n"] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32):
  ws.channel @one [tensor<4xi32>] depth 1
  ws.channel @two [tensor<4xi32>] depth 1
  ws.role @a warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
      %s = ws.wait : <@one, tensor<4xi32>>
      %w = ws.get_work %s : <@one, tensor<4xi32>>
      %t = ws.acquire : <@two, tensor<4xi32>>
      // expected-error @below {{'ws.put_work' op expected the item that its role takes, got that of 'ws.get_work'}}
      ws.put_work %w to %t : <@two, tensor<4xi32>>
    }
  }
}

// =====

// A role whose items are handed out.
ws.kernel @case machine "sm_90a" args ["n", "no", "lse" write] problem #p config <tile_m = 128, tile_n = 128, work = dynamic> schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
...
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
}

// -----

// kernel_c9_two
// Two roles would take items, and would get different ones.
    // expected-note @below {{the other 'ws.take_item'}}
    %w = ws.take_item extents(%n, %n, %n)
  }
}
ws.role @b warps 4 regs 240 replicas 1 {
^bb0(%me: i32):
  ws.work_loop extents(%n, %n, %n) {
    // expected-error @below {{'ws.take_item' op expected one 'ws.take_item' in a kernel, got another before}}
    %w = ws.take_item extents(%n, %n, %n)

// -----

// kernel_c9_nested
scf.if %no {
  // expected-error @below {{'ws.take_item' op expected to be an op of a 'ws.work_loop' with work 'dynamic', got one of a 'scf.if' with work 'dynamic'}}
  %w = ws.take_item extents(%n, %n, %n)
}

// -----

// kernel_c9_warps
// expected-error @below {{'ws.take_item' op expected one thread to hand out items, got role 'a' of 1 x 4 warps}}
%w = ws.take_item extents(%n, %n, %n)
%row = arith.constant dense<0.0> : vector<1xf32>
tile.store_row %row, %lse at(%n, %n, %n) : vector<1xf32>, tensor<?x?x?xf32>

// -----

// kernel_c13_not_chosen
// The rejected item would never be run again.
ws.verdict @v
...
// expected-error @below {{'ws.take_item' op expected 'ws.choose_item' to be the only use of the item where items may be rejected}}
%w = ws.take_item extents(%n, %n, %n)
ws.give_verdict @v on %w rejected %no

// -----

// kernel_c13_dynamic
ws.verdict @v
...
%w = tile.next_work extents(%n, %n, %n)
// expected-error @below {{'ws.second_run' op expected work 'grid', got 'dynamic'}}
ws.second_run of %w by @v

// -----

// kernel_c14_one_cta
// expected-error @below {{'ws.mailbox' op expected work 'dynamic' in a cluster, got work 'dynamic' and a cluster of 1}}
ws.mailbox @m
...
%w = tile.next_work extents(%n, %n, %n)

// -----

// work_loop_c2
// One request too many: the iteration without an item makes one too.
%w = ws.take_item extents(%n, %n, %n)
scf.if %no {
  // expected-error @below {{'ws.fetch_work' op expected to come after 'ws.end_unless_work' in its iteration, got one before it}}
  ws.fetch_work after %w
}
ws.end_unless_work %w

// -----

// choose_item_c1
ws.verdict @v
...
%w = tile.next_work extents(%n, %n, %n)
// expected-error @below {{'ws.choose_item' op expected the item of a 'ws.take_item' in its block, got that of 'tile.next_work'}}
%x = ws.choose_item %w by @v

// -----

// choose_item_c1_used
ws.verdict @v
...
%w = ws.take_item extents(%n, %n, %n)
// expected-error @below {{'ws.choose_item' op expected no other use of the item of 'ws.take_item', because a rejected item may run before it}}
%x = ws.choose_item %w by @v
ws.end_unless_work %w

// -----

// fetch_work_c1
ws.channel @work [tensor<4xi32>] depth 1
...
%s = ws.wait : <@work, tensor<4xi32>>
%w = ws.get_work %s : <@work, tensor<4xi32>>
// expected-error @below {{'ws.fetch_work' op expected the item that its role takes, got that of 'ws.get_work'}}
ws.fetch_work after %w

// =====

// A role that computes its items from the number of its CTA.
ws.kernel @case machine "sm_90a" args ["n", "no", "lse" write] problem #p config #c schedule #s {
^bb0(%n: i32, %no: i1, %lse: tensor<?x?x?xf32>):
...
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
...
    }
  }
}

// -----

// kernel_c9_grid
// expected-error @below {{'ws.take_item' op expected to be an op of a 'ws.work_loop' with work 'dynamic', got one of a 'ws.work_loop' with work 'grid'}}
%w = ws.take_item extents(%n, %n, %n)

// -----

// kernel_c10_nested
%w = tile.next_work extents(%n, %n, %n)
scf.if %no {
  // expected-error @below {{'tile.reject' op expected to be an op of a 'ws.work_loop', got one of a 'scf.if'}}
  tile.reject %w if %no
}

// -----

// kernel_c11_verdict
// expected-note @below {{declared here}}
ws.edge @e credits 0
...
%w = tile.next_work extents(%n, %n, %n)
// expected-error @below {{'ws.second_run' op expected @e to be a 'ws.verdict' of the kernel, got a 'ws.edge'}}
ws.second_run of %w by @e

// -----

// kernel_c11_two
ws.verdict @x
// expected-error @below {{'ws.verdict' op expected at most one 'ws.verdict' in a kernel, got another before}}
ws.verdict @y
...
%w = tile.next_work extents(%n, %n, %n)

// -----

// work_loop_c1
ws.verdict @v
...
%w = tile.next_work extents(%n, %n, %n)
// expected-error @below {{'ws.second_run' op expected to be the last op of the iteration, got a 'tile.reject' after it}}
ws.second_run of %w by @v
tile.reject %w if %no
