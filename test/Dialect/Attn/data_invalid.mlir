// RUN: attn-opt %s --split-input-file --verify-diagnostics

// C1
// expected-error @+1 {{expected space 'reg' once, got it twice}}
#m = #attn.machine<"m" spaces [reg capacity 1 unit 1 private true, reg capacity 1 unit 1 private true]
  mma acc reg a [reg] b [reg] signals_barriers false
  registers <lowest = 1, highest = 1, granule = 1, reserve = 0, small = 1, reserve_small = 0>
  barriers <named = 1, memory = 1, bytes = 8> warps <lanes = 1, group = 1, most = 2>>

// -----

// C1
// expected-error @+1 {{expected capacity and unit of space 'reg' to be positive, got 0 and 4}}
#m = #attn.machine<"m" spaces [reg capacity 0 unit 4 private true]
  mma acc reg a [reg] b [reg] signals_barriers false
  registers <lowest = 1, highest = 1, granule = 1, reserve = 0, small = 1, reserve_small = 0>
  barriers <named = 1, memory = 1, bytes = 8> warps <lanes = 1, group = 1, most = 2>>

// -----

// C1
// expected-error @+1 {{expected 'registers' and 'warps' to be positive, got registers in granules of 0, 1 lanes, groups of 1 and 2 warps}}
#m = #attn.machine<"m" spaces [reg capacity 1 unit 4 private true]
  mma acc reg a [reg] b [reg] signals_barriers false
  registers <lowest = 1, highest = 1, granule = 0, reserve = 0, small = 1, reserve_small = 0>
  barriers <named = 1, memory = 1, bytes = 8> warps <lanes = 1, group = 1, most = 2>>

// -----

// C2
// expected-error @+1 {{expected operand b of 'mma' in a space of the machine, got 'smem'}}
#m = #attn.machine<"m" spaces [reg capacity 1 unit 4 private true]
  mma acc reg a [reg] b [smem] signals_barriers false
  registers <lowest = 1, highest = 1, granule = 1, reserve = 0, small = 1, reserve_small = 0>
  barriers <named = 1, memory = 1, bytes = 8> warps <lanes = 1, group = 1, most = 2>>

// -----

// C2
// expected-error @+1 {{expected a space 'reg', got none}}
#m = #attn.machine<"m" spaces [smem capacity 1 unit 4 private true]
  mma acc smem a [smem] b [smem] signals_barriers false
  registers <lowest = 1, highest = 1, granule = 1, reserve = 0, small = 1, reserve_small = 0>
  barriers <named = 1, memory = 1, bytes = 8> warps <lanes = 1, group = 1, most = 2>>

// -----

// expected-error @+1 {{expected a kind of kernel, got 'fw'}}
#v = #attn.kernel_values<fw {}>

// -----

// expected-error @+1 {{expected 'step'}}
#v = #attn.kernel_values<fwd { steps next w }>
