// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call that launches decode_d128.mlir and then combine_d128.mlir: the
// partial results are in its workspace, and it computes their number itself.
// The kernels are those of the two files; this is what is added to them.
//
// RUN: sed '/^#bshd/!d' %S/decode_d128.mlir > %t.mlir
// RUN: sed '/^#bshd/d' %S/decode_d128.mlir >> %t.mlir
// RUN: sed '/^#bshd/d' %S/combine_d128.mlir >> %t.mlir
// RUN: cat %s >> %t.mlir
// RUN: attn-compile %t.mlir --emit=nvvm -o - | FileCheck %s
// RUN: attn-compile %t.mlir --emit=ptx -o - | FileCheck %s --check-prefix=PTX
//
// CHECK: launch.plan @split_decode target "sm_90a" args ["q" ("b", "sq", "hq", "d"),
// CHECK-SAME: "scale" from {{.*}}, "o" write ("b", "sq", "hq", "d"), "lse" write ("b", "hq", "sq")] problem <kind = decode,
// CHECK: launch.value "parts" = min(max(ceildiv(sk, 128), 1), 4)
// CHECK-NEXT: launch.temporary "o_part" : tensor<?x?x?x?x128xf32> sizes [parts, b, sq, hq, 128]
// CHECK-NEXT: launch.temporary "lse_part" : tensor<?x?x?x?xf32> sizes [parts, b, hq, sq]
// CHECK-NEXT: launch.check
// CHECK: launch.variant workspace 0 {
// CHECK-NEXT: launch.kernel @decode_d128 grid
// CHECK: #launch.pointer<"o_part" aligned_rows>
// CHECK: #launch.number<i32 parts>
// CHECK: #launch.number<i64 o_part.stride.0>
// CHECK: report <{{.*}}> schedule <"decode_gqa_split"
// CHECK: launch.kernel @combine_d128 grid
// CHECK: #launch.pointer<"o_part" aligned_rows>
// CHECK: report <{{.*}}> schedule <"combine_reg"
// CHECK-NOT: launch.plan
// CHECK: gpu.module @split_decode
// CHECK-NOT: gpu.module
//
// PTX: .visible .entry decode_d128(
// PTX: .visible .entry combine_d128(
//
// Each stage resumes with the same result.
// RUN: attn-compile %t.mlir --emit=ptx -o %t.ptx
// RUN: attn-compile %t.mlir --emit=schedule -o - | attn-compile - --emit=ptx -o - | cmp - %t.ptx
// RUN: attn-compile %t.mlir --emit=ws -o - | attn-compile - --emit=ptx -o - | cmp - %t.ptx
// RUN: attn-compile %t.mlir --emit=nvvm -o - | attn-compile - --emit=ptx -o - | cmp - %t.ptx
// RUN: attn-compile %t.mlir --emit=llvm -o - | attn-compile - --emit=ptx -o - | cmp - %t.ptx
// RUN: env ATTN_PTXAS=none attn-compile %t.mlir -o %t.attn
// RUN: env ATTN_PTXAS=none attn-compile %t.mlir --emit=ws -o %t.ws.mlir
// RUN: env ATTN_PTXAS=none attn-compile %t.ws.mlir -o %t.ws.attn
// RUN: cmp %t.attn %t.ws.attn

launch.sequence "split_decode" launches ["decode_d128", "combine_d128"] temporaries ["o_part", "lse_part"]
    sizes {parts = #launch.apply<min(max(ceildiv(sk, 128), 1), 4)>}
    problem <kind = decode, dtype = bf16, head_dim = 128, head_dim_v = 128, layout = bshd, mask = none, score_region = absent, mask_region = absent>
