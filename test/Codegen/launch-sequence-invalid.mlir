// What attn-lower-to-nvvm refuses in the launches of one call.
// RUN: %cases %s | attn-opt --attn-lower-to-nvvm -split-input-file -verify-diagnostics

#p = #attn.problem<kind = custom, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>

ws.kernel @first machine "sm_90a" args ["n", "t" write ("rows"), "u" accumulate ("n")] problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32, %t: tensor<?xf32>, %u: tensor<?xf32>):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}
...
problem #p config #c schedule #s smem 0 attributes {attn.checks = []} {
^bb0(%n: i32, %t: tensor<?xf32>, %o: tensor<?xf32>):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}
...

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o" write ("n")]
...
// expected-error @below {{'launch.sequence' op attn-lower-to-nvvm: expected the name of a kernel, or of a group of variants, that no other sequence has, got 'third'}}
launch.sequence "all" launches ["first", "third"] temporaries ["t"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o" write ("n")]
...
launch.sequence "all" launches ["first", "second"] temporaries ["t"] sizes {rows = "n"}
// expected-error @below {{'launch.sequence' op attn-lower-to-nvvm: expected the name of a kernel, or of a group of variants, that no other sequence has, got 'second'}}
launch.sequence "more" launches ["second", "first"] temporaries ["t"]

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected argument "t" to be that of '@first', which the same call launches: its symbol, role, sizes and type}}
ws.kernel @second machine "sm_90a" args ["n", "t" ("n"), "o" write ("n")]
...
launch.sequence "all" launches ["first", "second"] temporaries ["t"]

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected one launch of a call to write argument "t", got '@first' before it}}
ws.kernel @second machine "sm_90a" args ["n", "t" write ("rows"), "o" write ("n")]
...
launch.sequence "all" launches ["first", "second"] temporaries ["t"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o" write ("n")]
...
// The order is that of the sequence.
// expected-error @-5 {{'ws.kernel' op attn-lower-to-nvvm: expected argument "t" to be written before it is read, got '@second' before it, which reads it}}
launch.sequence "all" launches ["second", "first"] temporaries ["t"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o" write ("n")]
...
// expected-error @below {{'launch.sequence' op attn-lower-to-nvvm: expected temporary "x" to be a tensor argument of the kernels, got none}}
launch.sequence "all" launches ["first", "second"] temporaries ["x"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o" write ("n")]
...
// expected-error @below {{'launch.sequence' op attn-lower-to-nvvm: expected temporary "n" to be a tensor argument of the kernels, got another argument}}
launch.sequence "all" launches ["first", "second"] temporaries ["n"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "v" ("n"), "o" write ("n")]
...
// expected-error @below {{'launch.sequence' op attn-lower-to-nvvm: expected a launch to write temporary "v", got only '@second', which reads it}}
launch.sequence "all" launches ["first", "second"] temporaries ["v"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o" write ("n")]
...
// expected-error @below {{'launch.sequence' op attn-lower-to-nvvm: expected '@first' to write temporary "u", got one to accumulate}}
launch.sequence "all" launches ["first", "second"] temporaries ["u"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o other" as "out" write ("n")]
...
// expected-error @below {{'launch.sequence' op attn-lower-to-nvvm: expected the symbol of temporary "o other" to be its name, got "out"}}
launch.sequence "all" launches ["first", "second"] temporaries ["o other"]

// -----

ws.kernel @second machine "sm_90a" args ["n", "t" ("rows"), "o" write ("n")]
...
// The rows of `t` are those of no argument of the caller.
// expected-error @below {{'launch.temporary' op expected the name of a size, a stride, an integer argument or a value before it, got 'rows'}}
launch.sequence "all" launches ["first", "second"] temporaries ["t"]
