// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// @config_c1_tile_sizes
// expected-error @below {{expected 'tile_m' and 'tile_n' of at least 1, got 0 and 64}}
module attributes {test.a = #attn.config<tile_m = 0, tile_n = 64, work = grid>} {}

// -----

// @config_c2_threshold
// expected-error @below {{expected 'rescale_threshold' in 0..64, got -1}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, rescale_threshold = -1>} {}

// -----

// @config_c2_threshold_above
// expected-error @below {{expected 'rescale_threshold' in 0..64, got 65}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, rescale_threshold = 65>} {}

// -----

// @config_c3_degree
// expected-error @below {{expected 'exp2_degree' in 3..5, got 2}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, exp2_degree = 2>} {}

// -----

// @config_c4_cta_group
// expected-error @below {{expected 'cta_group' to be 1 or 2, got 3}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, cta_group = 3>} {}

// -----

// @config_c5_columns
// expected-error @below {{expected 'tile_d' and 'tile_dv' to be 0 or multiples of 16 up to 256, got 72 and 0}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, tile_d = 72>} {}

// -----

// @config_c5_columns_above
// expected-error @below {{expected 'tile_d' and 'tile_dv' to be 0 or multiples of 16 up to 256, got 0 and 272}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, tile_dv = 272>} {}

// -----

// @config_c6_section
// expected-error @below {{expected 'section_mib' in 0..1024, got 1025}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, order = longest_first, section_mib = 1025>} {}

// -----

// @config_c6_section_below
// expected-error @below {{expected 'section_mib' in 0..1024, got -1}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, order = longest_first, section_mib = -1>} {}

// -----

// @config_c6_order
// expected-error @below {{expected 'section_mib' only with order 'longest_first', got order 'linear'}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, section_mib = 16>} {}

// -----

// @config_c7_row_max
// expected-error @below {{expected 'row_max' to be running where 'work' is static, got first_block}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = static, row_max = first_block>} {}

// -----

// @config_c8_power
// expected-error @below {{expected 'pack_gqa' to be a power of two up to 64 that divides 'tile_m', got 3 and 64}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, pack_gqa = 3>} {}

// -----

// @config_c8_bound
// expected-error @below {{expected 'pack_gqa' to be a power of two up to 64 that divides 'tile_m', got 128 and 128}}
module attributes {test.a = #attn.config<tile_m = 128, tile_n = 64, work = grid, pack_gqa = 128>} {}

// -----

// @config_c8_divides
// expected-error @below {{expected 'pack_gqa' to be a power of two up to 64 that divides 'tile_m', got 8 and 4}}
module attributes {test.a = #attn.config<tile_m = 4, tile_n = 64, work = grid, pack_gqa = 8>} {}

// -----

// @config_c9
// expected-error @below {{expected 'cluster' to be 1 or 2, got 3}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, cluster = 3>} {}

// -----

// @config_c10_range
// expected-error @below {{expected 'last_wave_parts' in 1..16, got 17}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = dynamic, last_wave_parts = 17>} {}

// -----

// @config_c10_work
// expected-error @below {{expected 'last_wave_parts' only with work 'dynamic' and 'cluster' 1, got work 'grid' and 1}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, last_wave_parts = 2>} {}

// -----

// @config_c10_cluster
// expected-error @below {{expected 'last_wave_parts' only with work 'dynamic' and 'cluster' 1, got work 'dynamic' and 2}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = dynamic, cluster = 2, last_wave_parts = 2>} {}

// -----

// @config_c11
// expected-error @below {{expected 'rung' of at least 0, got -1}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, rung = -1>} {}
