// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// @config_tile_m
// expected-error @below {{expected 'tile_m' to be a whole number of at least 1, got 0}}
module attributes {test.a = #attn.config<tile_m = 0, tile_n = 64, work = grid>} {}

// -----

// @config_tile_n
// expected-error @below {{expected 'tile_n' to be a whole number of at least 1, got 0}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 0, work = grid>} {}

// -----

// @config_rescale_threshold
// expected-error @below {{expected 'rescale_threshold' to be a whole number in 0..64, got -1}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, rescale_threshold = -1>} {}

// -----

// @config_rescale_threshold_above
// expected-error @below {{expected 'rescale_threshold' to be a whole number in 0..64, got 65}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, rescale_threshold = 65>} {}

// -----

// @config_exp2_degree
// expected-error @below {{expected 'exp2_degree' to be a whole number in 3..5, got 2}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, exp2_degree = 2>} {}

// -----

// @config_cta_group
// expected-error @below {{expected 'cta_group' to be a whole number in 1..2, got 3}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, cta_group = 3>} {}

// -----

// @config_tile_d
// expected-error @below {{expected 'tile_d' to be a multiple of 16 in 0..256, got 72}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, tile_d = 72>} {}

// -----

// @config_tile_dv_above
// expected-error @below {{expected 'tile_dv' to be a multiple of 16 in 0..256, got 272}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, tile_dv = 272>} {}

// -----

// @config_section_mib
// expected-error @below {{expected 'section_mib' to be a whole number in 0..1024, got 1025}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, order = longest_first, section_mib = 1025>} {}

// -----

// @config_section_mib_below
// expected-error @below {{expected 'section_mib' to be a whole number in 0..1024, got -1}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, order = longest_first, section_mib = -1>} {}

// -----

// @config_section_mib_order
// expected-error @below {{expected 'section_mib' to be 0 where 'order' is linear, got 16}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, section_mib = 16>} {}

// -----

// @config_row_max_work
// expected-error @below {{expected 'row_max' to be running where 'work' is static, got first_block}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = static, row_max = first_block>} {}

// -----

// @config_pack_gqa
// expected-error @below {{expected 'pack_gqa' to be a whole number in 1..64, got 65}}
module attributes {test.a = #attn.config<tile_m = 128, tile_n = 64, work = grid, pack_gqa = 65>} {}

// -----

// @config_pack_gqa_divides
// expected-error @below {{expected 'pack_gqa', rounded up to a power of two, to divide 'tile_m', got 5 and 4}}
module attributes {test.a = #attn.config<tile_m = 4, tile_n = 64, work = grid, pack_gqa = 5>} {}

// -----

// @config_cluster
// expected-error @below {{expected 'cluster' to be a whole number in 1..2, got 3}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, cluster = 3>} {}

// -----

// @config_last_wave_parts
// expected-error @below {{expected 'last_wave_parts' to be a whole number in 1..64, got 65}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = dynamic, last_wave_parts = 65>} {}

// -----

// @config_last_wave_parts_work
// expected-error @below {{expected 'last_wave_parts' to be 1 where 'work' is grid, got 2}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, last_wave_parts = 2>} {}

// -----

// @config_last_wave_parts_cluster
// expected-error @below {{expected 'last_wave_parts' to be 1 where 'cluster' is 2, got 2}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = dynamic, cluster = 2, last_wave_parts = 2>} {}

// -----

// @config_rung
// expected-error @below {{expected 'rung' to be a whole number of at least 0, got -1}}
module attributes {test.a = #attn.config<tile_m = 64, tile_n = 64, work = grid, rung = -1>} {}
