// What attn-lower-to-nvvm refuses in the checks that a kernel makes of its launches.
// RUN: %cases %s | attn-opt --attn-lower-to-nvvm -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role load warps 1 regs 24 }>

// -----

// expected-error @below {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to list the conditions of a launch, got none}}
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
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to list the conditions of a launch, got another attribute}}
42 : i64

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of {expr, equals, message}, an expression, an i64 and a text, got {equals = 1 : i64, expr = "items"}}}
[{expr = "items", equals = 1}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of {expr, equals, message}, an expression, an i64 and a text, got {equals = 1 : i64, expr = "items", message = "m", other = 0 : i64}}}
[{expr = "items", equals = 1, message = "m", other = 0}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of {expr, equals, message}, an expression, an i64 and a text, got {equals = 1 : i32, expr = "items", message = "m"}}}
[{expr = "items", equals = 1 : i32, message = "m"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of {expr, equals, message}, an expression, an i64 and a text, got {equals = true, expr = "items", message = "m"}}}
[{expr = "items", equals = true, message = "m"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be a list of {expr, equals, message}, an expression, an i64 and a text, got ["items", 1, "m"]}}
[["items", 1, "m"]]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be made of operators, i64 numbers, 'items' and names of sizes and integer arguments, got 5 : ui32}}
[{expr = 5 : ui32, equals = 1, message = "m"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be made of operators, i64 numbers, 'items' and names of sizes and integer arguments, got ["lt", "items", 5]}}
[{expr = ["lt", "items", 5], equals = 1, message = "m"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be made of operators, i64 numbers, 'items' and names of sizes and integer arguments, got "sk"}}
[{expr = #launch.apply<lt(sk, 1)>, equals = 1, message = "m"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to be made of operators, i64 numbers, 'items' and names of sizes and integer arguments, got "x"}}
[{expr = "x", equals = 1, message = "m"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have names of sizes and integer arguments in the braces of messages, got '{sg}'}}
[{expr = "n", equals = 1, message = "got {sg}"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have names of sizes and integer arguments in the braces of messages, got '{}'}}
[{expr = "n", equals = 1, message = "got {}"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have names of sizes and integer arguments in the braces of messages, got '{n'}}
[{expr = "n", equals = 1, message = "got {n"}]

// -----
// expected-error @above {{'ws.kernel' op attn-lower-to-nvvm: expected 'attn.checks' to have messages in UTF-8}}
[{expr = "n", equals = 1, message = "\FF"}]
