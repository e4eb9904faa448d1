// What attn-lower-to-nvvm refuses in the checks that a kernel makes of its launches.
// RUN: %cases %s | attn-opt --attn-lower-to-nvvm -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to list what has to hold of a launch, got none}}
ws.kernel @f machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "x"] problem #p config #c schedule #s smem 0 {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %x: f32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// =====

ws.kernel @case machine "sm_90a" args ["q" ("b", "sq", "hq", "d"), "n", "x"] problem #p config #c schedule #s smem 0 attributes {attn.checks =
...
} {
^bb0(%q: tensor<?x?x?x64xbf16>, %n: i32, %x: f32):
  ws.role @load warps 1 regs 24 replicas 1 {
  ^bb0(%me: i32):
    ws.work_loop extents(%n, %n, %n) {
    }
  }
}

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to list what has to hold of a launch, got another attribute}}
42 : i64

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of [expression, i64, message], got ["items", 1]}}
[["items", 1]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of [expression, i64, message], got ["items", 1 : i32, "m"]}}
[["items", 1 : i32, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of [expression, i64, message], got ["items", true, "m"]}}
[["items", true, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be made of lists, i64 numbers, 'items' and names of sizes and integer arguments, got 5 : ui32}}
[[["lt", "items", 5 : ui32], 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be made of lists, i64 numbers, 'items' and names of sizes and integer arguments, got "sk"}}
[["sk", 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be made of lists, i64 numbers, 'items' and names of sizes and integer arguments, got "x"}}
[["x", 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to begin lists with an operator of launch plans, got ["frob", 1]}}
[[["frob", 1], 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to begin lists with an operator of launch plans, got []}}
[[[], 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to give 'lt' 2 operands, got ["lt", "n"]}}
[[["lt", "n"], 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to give 'lt' 2 operands, got ["lt", "n", 1, 2]}}
[[["lt", "n", 1, 2], 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to give 'max' 2 or more operands, got ["max", "n"]}}
[[["max", "n"], 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have names of sizes and integer arguments in the braces of messages, got '{sg}'}}
[["n", 1, "got {sg}"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have names of sizes and integer arguments in the braces of messages, got '{}'}}
[["n", 1, "got {}"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have names of sizes and integer arguments in the braces of messages, got '{n'}}
[["n", 1, "got {n"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have messages in UTF-8}}
[["n", 1, "\FF"]]
