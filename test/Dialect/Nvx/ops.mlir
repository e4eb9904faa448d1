// RUN: attn-opt %s --verify-roundtrip | FileCheck %s
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | FileCheck %s

// CHECK-LABEL: llvm.func @wgmma_shared
// CHECK: nvx.wgmma bf16 a(%{{.*}} : i32) b(%{{.*}}) {a_desc_hi = 1073741888 : i32, a_offsets = array<i32: 0, 2>, b_desc_hi = 1073741888 : i32, b_offsets = array<i32: 0, 2>} : vector<64xf32>
llvm.func @wgmma_shared(%a: i32, %b: i32) {
  %d = nvx.wgmma bf16 a(%a : i32) b(%b) {a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
    a_offsets = array<i32: 0, 2>, b_offsets = array<i32: 0, 2>} : vector<64xf32>
  llvm.return
}

// CHECK-LABEL: llvm.func @wgmma_registers
// CHECK: nvx.wgmma f16 a(%{{.*}} : vector<8xi32>) b(%{{.*}}) acc(%{{.*}} : vector<4xf32>) {b_desc_hi = 1073741888 : i32, b_offsets = array<i32: 0, 128>, transpose_b} : vector<4xf32>
llvm.func @wgmma_registers(%a: vector<8xi32>, %b: i32, %c: vector<4xf32>) {
  %d = nvx.wgmma f16 a(%a : vector<8xi32>) b(%b) acc(%c : vector<4xf32>) {b_desc_hi = 0x40000040 : i32,
    b_offsets = array<i32: 0, 128>, transpose_b} : vector<4xf32>
  llvm.return
}

// CHECK-LABEL: llvm.func @wgmma_fresh
// CHECK: nvx.wgmma bf16 a(%{{.*}} : vector<4xi32>) b(%{{.*}}) acc(%{{.*}} : vector<4xf32>) fresh(%{{.*}}) {b_desc_hi = 1073741888 : i32, b_offsets = array<i32: 0>} : vector<4xf32>
llvm.func @wgmma_fresh(%a: vector<4xi32>, %b: i32, %c: vector<4xf32>, %first: i1) {
  %d = nvx.wgmma bf16 a(%a : vector<4xi32>) b(%b) acc(%c : vector<4xf32>) fresh(%first) {b_desc_hi = 0x40000040 : i32,
    b_offsets = array<i32: 0>} : vector<4xf32>
  llvm.return
}

// CHECK-LABEL: llvm.func @wgmma_eight_bit
// CHECK: nvx.wgmma e4m3
llvm.func @wgmma_eight_bit(%a: i32, %b: i32) {
  %d = nvx.wgmma e4m3 a(%a : i32) b(%b) {a_desc_hi = 0x40000040 : i32, b_desc_hi = 0x40000040 : i32,
    a_offsets = array<i32: 0>, b_offsets = array<i32: 0>} : vector<128xf32>
  llvm.return
}

// CHECK-LABEL: llvm.func @wait
// CHECK: %{{.*}}:2 = nvx.wgmma_wait 1 (%{{.*}}, %{{.*}}) : vector<32xf32>, vector<16xi32>
// CHECK: nvx.wgmma_wait 0{{$}}
llvm.func @wait(%a: vector<32xf32>, %b: vector<16xi32>) {
  %0:2 = nvx.wgmma_wait 1 (%a, %b) : vector<32xf32>, vector<16xi32>
  nvx.wgmma_wait 0
  llvm.return
}

// CHECK-LABEL: llvm.func @pack
// CHECK: nvx.pack bf16 %{{.*}} : vector<4xf32> -> vector<2xi32>
// CHECK: nvx.pack f16 %{{.*}} : vector<4xf32> -> vector<2xi32>
llvm.func @pack(%a: vector<4xf32>) {
  %0 = nvx.pack bf16 %a : vector<4xf32> -> vector<2xi32>
  %1 = nvx.pack f16 %a : vector<4xf32> -> vector<2xi32>
  llvm.return
}

// CHECK-LABEL: llvm.func @exp2_poly
// CHECK: nvx.exp2_poly %{{.*}} {degree = 3 : i32} : vector<4xf32>
// CHECK: nvx.exp2_poly %{{.*}} {degree = 5 : i32} : f32
llvm.func @exp2_poly(%a: vector<4xf32>, %b: f32) {
  %0 = nvx.exp2_poly %a {degree = 3 : i32} : vector<4xf32>
  %1 = nvx.exp2_poly %b {degree = 5 : i32} : f32
  llvm.return
}

// CHECK-LABEL: llvm.func @mbarrier_wait
// CHECK: nvx.mbarrier_wait %{{.*}}, %{{.*}} : !llvm.ptr<3>
llvm.func @mbarrier_wait(%a: !llvm.ptr<3>, %b: i32) {
  nvx.mbarrier_wait %a, %b : !llvm.ptr<3>
  llvm.return
}

llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK-LABEL: llvm.func @cluster_rank
// CHECK: %{{.*}} = nvx.cluster_rank
llvm.func @cluster_rank() {
  %rank = nvx.cluster_rank
  llvm.return
}

// CHECK-LABEL: llvm.func @smem_base
// CHECK: %{{.*}} = nvx.smem_base @smem
llvm.func @smem_base() {
  %base = nvx.smem_base @smem
  llvm.return
}

// CHECK-LABEL: llvm.func @stamp
// CHECK: nvx.stamp %{{.*}}, %{{.*}} {id = 3 : i32, limit = 1000 : i32, stride = 24 : i32} : !llvm.ptr<1>
llvm.func @stamp(%base: !llvm.ptr<1>, %cursor: i32) {
  %0 = nvx.stamp %base, %cursor {id = 3 : i32, limit = 1000 : i32, stride = 24 : i32} : !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @bulk_reduce_add
// CHECK: nvx.bulk_reduce_add 4096 from %{{.*}} to %{{.*}} : <3>, <1>
llvm.func @bulk_reduce_add(%source: !llvm.ptr<3>, %address: !llvm.ptr<1>) {
  nvx.bulk_reduce_add 4096 from %source to %address : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @turns
// CHECK: nvx.turn_wait %{{.*}} at %{{.*}} if %{{.*}} : <1>
// CHECK: nvx.turn_pass %{{.*}} at %{{.*}} : <1>
llvm.func @turns(%turn: i32, %address: !llvm.ptr<1>, %waits: i1) {
  nvx.turn_wait %turn at %address if %waits : !llvm.ptr<1>
  nvx.turn_pass %turn at %address : !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @reduce_add
// CHECK: nvx.reduce_add %{{.*}} to %{{.*}} : vector<4xf32>, <1>
llvm.func @reduce_add(%values: vector<4xf32>, %address: !llvm.ptr<1>) {
  nvx.reduce_add %values to %address : vector<4xf32>, !llvm.ptr<1>
  llvm.return
}
