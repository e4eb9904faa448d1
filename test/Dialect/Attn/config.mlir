// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: attn-opt %s --verify-roundtrip | FileCheck %s

// CHECK: a = #attn.config<tile_m = 128, tile_n = 64, work = static, order = longest_first, section_mib = 16, rescale_threshold = 8, exp2_degree = 5, cta_group = 2>
// CHECK-SAME: b = #attn.config<tile_m = 1, tile_n = 1, work = grid>
// CHECK-SAME: c = #attn.config<tile_m = 1, tile_n = 1, work = grid, row_max = first_block>
// CHECK-SAME: d = #attn.config<tile_m = 1, tile_n = 1, work = dynamic>
// CHECK-SAME: e = #attn.config<tile_m = 1, tile_n = 1, work = dynamic, row_max = integer>
// CHECK-SAME: f = #attn.config<tile_m = 64, tile_n = 64, work = grid, pack_gqa = 8>
// CHECK-SAME: g = #attn.config<tile_m = 1, tile_n = 1, work = dynamic, cluster = 2>
// CHECK-SAME: h = #attn.config<tile_m = 1, tile_n = 1, work = dynamic, last_wave_parts = 16>
module attributes {
  test.a = #attn.config<tile_m = 128, tile_n = 64, work = static, order = longest_first, section_mib = 16, rescale_threshold = 8, exp2_degree = 5, cta_group = 2>,
  test.b = #attn.config<tile_m = 1, tile_n = 1, work = grid, exp2_degree = 3>,
  test.c = #attn.config<tile_m = 1, tile_n = 1, work = grid, row_max = first_block>,
  test.d = #attn.config<tile_m = 1, tile_n = 1, work = dynamic, row_max = running>,
  test.e = #attn.config<tile_m = 1, tile_n = 1, work = dynamic, row_max = integer>,
  test.f = #attn.config<tile_m = 64, tile_n = 64, work = grid, pack_gqa = 8>,
  test.g = #attn.config<tile_m = 1, tile_n = 1, work = dynamic, cluster = 2>,
  test.h = #attn.config<tile_m = 1, tile_n = 1, work = dynamic, last_wave_parts = 16>
} {}
