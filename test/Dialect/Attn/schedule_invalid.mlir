// Bad text of #attn.schedule: located messages, and C1 to C4.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected an item of the schedule or '}'}}
#s = #attn.schedule<"x" machine "m" { 3 }>

// -----

// expected-error @+1 {{expected 'split', 'remat', 'role', 'chan', 'hold', 'edge', 'turn', 'sync', 'knob' or 'body', got 'rol'}}
#s = #attn.schedule<"x" machine "m" { rol }>

// -----

// expected-error @+1 {{expected 'machine'}}
#s = #attn.schedule<"x">

// -----

// expected-error @+1 {{expected one 'split', got a second one}}
#s = #attn.schedule<"x" machine "m" { split M 2 split M 2 }>

// -----

// expected-error @+1 {{expected the name of an axis}}
#s = #attn.schedule<"x" machine "m" { split 2 }>

// -----

// expected-error @+1 {{expected a number of sub-tiles as a number}}
#s = #attn.schedule<"x" machine "m" { split M two }>

// -----

// expected-error @+1 {{expected a number of warps in 0..1048576, got -1}}
#s = #attn.schedule<"x" machine "m" { role a warps -1 regs 24 }>

// -----

// expected-error @+1 {{expected a number of registers in 0..1048576, got 99999999999999999999}}
#s = #attn.schedule<"x" machine "m" { role a warps 1 regs 99999999999999999999 }>

// -----

// expected-error @+1 {{expected at least one replica of role 'a', got 0}}
#s = #attn.schedule<"x" machine "m" { role a[0] warps 1 regs 24 }>

// -----

// expected-error @+1 {{expected 'regs'}}
#s = #attn.schedule<"x" machine "m" { role a warps 1 registers 24 }>

// -----

// expected-error @+1 {{expected 'reg', 'smem' or 'tmem', got 'gmem'}}
#s = #attn.schedule<"x" machine "m" { hold a = a in gmem }>

// -----

// expected-error @+1 {{expected the name of a value}}
#s = #attn.schedule<"x" machine "m" { chan a = a | 3 in smem }>

// -----

// expected-error @+1 {{expected 'cross'}}
#s = #attn.schedule<"x" machine "m" { chan a = a in smem over b[1] }>

// -----

// expected-error @+1 {{expected 'thread', 'warp' or 'wg', got 'lane'}}
#s = #attn.schedule<"x" machine "m" { chan a = a in smem gran lane }>

// -----

// expected-error @+1 {{expected 'split', 'remat', 'role', 'chan', 'hold', 'edge', 'turn', 'sync', 'knob' or 'body', got 'depth'}}
#s = #attn.schedule<"x" machine "m" { chan a = a in smem free_implied depth 2 }>

// -----

// expected-error @+1 {{expected knob 'exp2_soft', 'peel', 'skip'}}
#s = #attn.schedule<"x" machine "m" { knob speed 9 of 9 }>

// -----

// expected-error @+1 {{expected 'none', 'first', 'first_masked', 'first_branch' or 'shifted_branch', got 'all'}}
#s = #attn.schedule<"x" machine "m" { knob peel all }>

// -----

// expected-error @+1 {{expected 'none', 'right' or 'both', got 'left'}}
#s = #attn.schedule<"x" machine "m" { split M 2 knob skip left }>

// -----

// expected-error @+1 {{expected 'alone' or 'dependent', got 'early'}}
#s = #attn.schedule<"x" machine "m" { knob launch early }>

// -----

// expected-error @+1 {{expected 'before', 'kv', 'after' or '}' in the body of role 'a'}}
#s = #attn.schedule<"x" machine "m" { body a { loop { } } }>

// -----

// expected-error @+1 {{expected one list 'kv' in a body, got a second one}}
#s = #attn.schedule<"x" machine "m" { body a { kv { b } kv { c } } }>

// -----

// expected-error @+1 {{expected 'await', 'get', 'put', 'sig', 'commit', 'wait', 'take', 'give' or 'sync' before '(', got 'acquire'}}
#s = #attn.schedule<"x" machine "m" { body a { kv { acquire(k) } } }>

// -----

// expected-error @+1 {{expected the name of what 'wait' acts on}}
#s = #attn.schedule<"x" machine "m" { body a { kv { wait() } } }>

// -----

// expected-error @+1 {{expected ':'}}
#s = #attn.schedule<"x" machine "m" { body a { kv { once wait(b) } } }>

// -----

// expected-error @+1 {{expected a shift as a number}}
#s = #attn.schedule<"x" machine "m" { body a { kv { pv + one } } }>

// -----

// C1
// expected-error @+1 {{expected each role once, got 'a' twice}}
#s = #attn.schedule<"x" machine "m" { role a warps 1 regs 24 role a warps 1 regs 24 }>

// -----

// C1
// expected-error @+1 {{expected each place once, got 'a' twice}}
#s = #attn.schedule<"x" machine "m" { chan a = a in smem hold a = b in smem }>

// -----

// C1
// expected-error @+1 {{expected each edge or turn once, got 'a' twice}}
#s = #attn.schedule<"x" machine "m" { turn a ring r edge a }>

// -----

// C1
// expected-error @+1 {{expected each rendezvous once, got 'a' twice}}
#s = #attn.schedule<"x" machine "m" { sync a ring r sync a ring r }>

// -----

// C2
// expected-error @+1 {{expected one body a role, got a second one for 'a'}}
#s = #attn.schedule<"x" machine "m" { body a {} body a[1] {} body a {} }>

// -----

// C3
// expected-error @+1 {{expected parts of 'a' with a denominator of at least 1, got 0}}
#s = #attn.schedule<"x" machine "m" { chan a = a in smem parts(1 of 0) }>

// -----

// C3
// expected-error @+1 {{expected 'exp2_soft' to be a share as "1/8", got 3/2}}
#s = #attn.schedule<"x" machine "m" { knob exp2_soft 3 of 2 }>

// -----

// C3
// expected-error @+1 {{expected a split in 1 to 64 sub-tiles, got 0}}
#s = #attn.schedule<"x" machine "m" { split M 0 }>

// -----

// C4
// expected-error @+1 {{expected the depth of 'a' to be at most 64, got 65}}
#s = #attn.schedule<"x" machine "m" { chan a = a in smem depth 65 }>

// -----

// C4
// expected-error @+1 {{expected the shift of 'b' to be at most 64, got 1000}}
#s = #attn.schedule<"x" machine "m" { body a { kv { b + 1000 } } }>

// -----

// C5
// expected-error @+1 {{expected knob 'skip' to be none without a split in at least 2 sub-tiles, got right}}
#s = #attn.schedule<"x" machine "m" { knob skip right }>

// -----

// C5
// expected-error @+1 {{expected knob 'skip' to be none without a split in at least 2 sub-tiles, got right}}
#s = #attn.schedule<"x" machine "m" { split M 1 knob skip right }>
