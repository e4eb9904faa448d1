// attn.consumed is a record of knobs, and a kernel whose config, schedule or problem says otherwise is refused.
// RUN: %cases %s | attn-opt -split-input-file -verify-diagnostics

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid, order = linear, last_wave_parts = 1>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 knob peel first }>

// -----

// no_dictionary
// expected-error @below {{'ws.kernel' op expected 'attn.consumed' to be a dictionary, got "tile_m"}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = "tile_m"} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// unknown_name
// expected-error @below {{'ws.kernel' op expected 'attn.consumed' to have the text of a knob of its config or schedule, got 'tile_x' = "1"}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {tile_x = "1"}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// no_text
// expected-error @below {{'ws.kernel' op expected 'attn.consumed' to have the text of a knob of its config or schedule, got 'tile_m' = 128 : i64}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {tile_m = 128}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// field
// expected-error @below {{'ws.kernel' op expected 'tile_n' of its 'config' to be 64, with which attn-tile made the kernel, got 128; edit it at --emit=attn, or in an entry for --schedule}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {tile_m = "128", tile_n = "64"}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// missing_field
// expected-error @below {{'ws.kernel' op expected 'last_wave_parts' of its 'config' to be 4, with which attn-tile made the kernel, got 1; edit it at --emit=attn, or in an entry for --schedule}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {last_wave_parts = "4"}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// statement
// expected-error @below {{'ws.kernel' op expected 'peel' of its 'schedule' to be first_masked, with which attn-pipeline made the kernel, got first; edit it at --emit=schedule, or in an entry for --schedule}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {peel = "first_masked"}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// problem
// expected-error @below {{'ws.kernel' op expected 'problem' to be <kind = bwd>, with which attn-tile made the kernel, got #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>; edit it at --emit=attn}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {problem = "<kind = bwd>"}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// structure
// expected-error-re @below {{'ws.kernel' op expected the digest of the roles, places and bodies of its 'schedule' to be 0, with which attn-warp-specialize made the kernel, got {{[0-9a-f]+}}; edit it at --emit=schedule, or in an entry for --schedule}}
ws.kernel @k machine "sm_90a" args ["n"] problem #p config #c schedule #s attributes {attn.consumed = {structure = "0"}} {
^bb0(%n: i32):
  ws.role @a warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
  }
}

// -----

// no_config: the kernel has lost the attribute that the record is about.
// expected-error @below {{'tile.kernel' op expected 'attn.consumed' to have the text of a knob of its config or schedule, got 'tile_m' = "128"}}
tile.kernel @k args ["n"] problem #p attributes {attn.consumed = {tile_m = "128"}} {
^bb0(%n: i32):
}
