// A captured tensor without elements: every index is out of bounds and reads zero, and no address after the start of the tensor is read, whichever of its sizes is 0.
// RUN: attn-compile %s -o %t.attn
// RUN: attn-run %t.attn --device=sim --q=1x70x2x64 --kv=1x200x1x64 --tensor=t=300x0x300:normal --check --guard | FileCheck %s
// RUN: attn-run %t.attn --device=sim --q=1x70x2x64 --kv=1x200x1x64 --tensor=t=0x70x300:normal --check --guard | FileCheck %s
// RUN: attn-run %t.attn --device=sim --q=1x70x2x64 --kv=1x200x1x64 --tensor=t=300x70x0:normal --check --guard | FileCheck %s
// RUN: attn-compile %s --bwd -o %t.bwd.attn
// RUN: attn-run %t.bwd.attn --device=sim --q=1x70x2x64 --kv=1x200x1x64 --tensor=t=300x0x300:normal --check --guard | FileCheck %s
// An index that all elements share.
// RUN: sed '/extract/ s/jj, %%ii, %%jj/jj, %%hh, %%one/' %s > %t.shared.mlir
// RUN: attn-compile %t.shared.mlir -o %t.shared.attn
// RUN: attn-run %t.shared.attn --device=sim --q=1x70x2x64 --kv=1x200x1x64 --tensor=t=0x300x300:normal --check --guard | FileCheck %s
// CHECK: check: passed
// CHECK: guard: passed
!t = tensor<?x?x?x64xbf16>
func.func @empty(%q: !t, %k: !t, %v: !t, %scale: f32, %t: tensor<?x?x?xf16> {attn.name = "t"}) -> (!t, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd) captures(%t : tensor<?x?x?xf16>)
      score_region {
      ^bb0(%x: f32, %b: i32, %h: i32, %i: i32, %j: i32, %of: tensor<?x?x?xf16>):
        %ii = arith.index_cast %i : i32 to index
        %jj = arith.index_cast %j : i32 to index
        %hh = arith.index_cast %h : i32 to index
        %one = arith.constant 1 : index
        %half = tensor.extract %of[%jj, %ii, %jj] : tensor<?x?x?xf16>
        %e = arith.extf %half : f16 to f32
        %z = arith.addf %x, %e : f32
        attn.yield %z : f32
      } : (!t, !t, !t) -> (!t, tensor<?x?x?xf32>)
  return %o, %lse : !t, tensor<?x?x?xf32>
}
