// attn-start-fresh, after the passes that it builds on: an accumulator that
// enters the steady loops as zeros, and is only used by products there, is not
// written before the first product, which becomes `fresh`. Zeros that the first
// step scales by a finite factor remain zeros. The zeros are written if a step
// may read them, or if the factor may be infinite, NaN or negative.
// RUN: attn-opt %s --attn-pipeline --attn-drop-zero-scaling --attn-start-fresh | FileCheck %s
// RUN: sed 's/peel first_branch/peel first_masked/' %s | attn-opt --attn-pipeline --attn-drop-zero-scaling --attn-start-fresh | FileCheck %s --check-prefix=LOOPS
// RUN: sed 's/maxnumf %max, %old /addf %max, %old /' %s | attn-opt --attn-pipeline --attn-drop-zero-scaling --attn-start-fresh | FileCheck %s --check-prefix=INFINITE
// RUN: sed 's/math.exp2 %growth/arith.constant dense<-2.0>/' %s | attn-opt --attn-pipeline --attn-drop-zero-scaling --attn-start-fresh | FileCheck %s --check-prefix=INFINITE
// RUN: sed 's/dense<-3.4.*>/dense<0xFF800000>/' %s | attn-opt --attn-pipeline --attn-drop-zero-scaling --attn-start-fresh | FileCheck %s --check-prefix=INFINITE
// RUN: not attn-opt %s --attn-start-fresh -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNEXPANDED
// RUN: attn-compile %examples/causal.mlir --emit=ws | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/issue 8 shift 0/issue 3 shift 1/' %s | attn-opt --attn-pipeline --attn-drop-zero-scaling --attn-start-fresh | FileCheck %s --check-prefix=SEEN
// RUN: sed 's/issue 4 shift 1/issue 9 shift 0/' %s | attn-opt --attn-pipeline --attn-drop-zero-scaling --attn-start-fresh | FileCheck %s --check-prefix=FIRST

// UNEXPANDED: 'ws.for' op attn-start-fresh: expected the loop to be expanded

#p = #attn.problem<kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = none, score_region = absent, mask_region = absent>
#c = #attn.config<tile_m = 128, tile_n = 128, work = grid>
#s = #attn.schedule<"s" machine "sm_90a" { role wg warps 4 regs 240 knob peel first_branch }>
!q = !ws.slot<@q, tensor<64x64xbf16>>
!acc = tensor<64x64xf32, #tile.layout<atom = wgmma_acc, repeats = 8>>
!row = tensor<64xf32, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>

// CHECK-LABEL: ws.kernel @scaled
// CHECK: scf.if
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NOT: arith.mulf %{{.*}} : tensor<64x64
// CHECK: %[[POISON:.*]] = ub.poison : tensor<64x64xf32
// CHECK: %[[LOOP:.*]]:2 = scf.for %[[TIME:[^ ]*]] = %[[ONE]] to %[[END:[^ ]*]] {{.*}}%[[ACC:[^ ]*]] = %[[POISON]]
// CHECK: %[[NOW:.*]] = arith.cmpi eq, %[[TIME]], %[[ONE]]
// CHECK-NEXT: ws.mma {{.*}} acc(%[[ACC]] : {{.*}}) fresh(%[[NOW]])
// CHECK: arith.mulf %{{.*}} : tensor<64x64
// CHECK: %[[ONLY:.*]] = arith.cmpi eq, %[[END]], %[[ONE]]
// CHECK-NEXT: ws.mma {{.*}} acc(%[[LOOP]]#{{[01]}} : {{.*}}) fresh(%[[ONLY]])
// CHECK: } else {
// CHECK-NOT: ub.poison

// Two loops: in the second one the first step of all may be fresh, too.
// LOOPS-LABEL: ws.kernel @scaled
// LOOPS: %[[POISON:.*]] = ub.poison
// LOOPS: scf.for %[[A:[^ ]*]] = %[[ONE:[^ ]*]] to
// LOOPS: arith.cmpi eq, %[[A]], %[[ONE]]
// LOOPS-NEXT: ws.mma {{.*}} fresh
// LOOPS: scf.for %[[B:[^ ]*]] =
// LOOPS: arith.cmpi eq, %[[B]], %[[ONE]]
// LOOPS-NEXT: ws.mma {{.*}} fresh
// LOOPS: arith.cmpi eq, %{{.*}}, %[[ONE]]
// LOOPS-NEXT: ws.mma {{.*}} fresh

// INFINITE-LABEL: ws.kernel @scaled
// INFINITE: arith.mulf %{{.*}} : tensor<64x64
// INFINITE-NOT: ub.poison
// INFINITE-NOT: fresh

// The factor of a reference from the first block comes through branches and selections.
// WHOLE: ub.poison
// WHOLE: ws.mma {{.*}} fresh

// The step that scales comes before the product.
// SEEN-LABEL: ws.kernel @scaled
// SEEN-NOT: ub.poison
// SEEN-NOT: fresh

// The prologue has the first product.
// FIRST-LABEL: ws.kernel @scaled
// FIRST: scf.if
// FIRST: ws.mma
// FIRST-NOT: acc(
// FIRST: scf.for
// FIRST-NOT: fresh
// FIRST: ws.mma {{.*}} acc(
// FIRST-NOT: fresh
ws.kernel @scaled machine "sm_90a" args ["n", "m", "k"] problem #p config #c schedule #s {
^bb0(%n: i32, %m: i32, %k: i32):
  ws.channel @q [tensor<64x64xbf16>] depth 1
  ws.role @wg warps 4 regs 240 replicas 1 {
  ^bb0(%me: i32):
    %zeros = arith.constant dense<0.0> : !acc
    %lowest = arith.constant dense<-3.40282347E+38> : !row
    %slot = ws.wait : <@q, tensor<64x64xbf16>>
    %o, %l = ws.for ranges <down [masked, full]> bounds(%n, %m, %k) init(%zeros, %lowest) : (!acc, !row) -> (!acc, !row) {
    ^bb0(%j: i32, %sum: !acc, %old: !row):
      %s = ws.entry @qk issue 0 shift 0 -> !acc {
        %r, %t = ws.mma %slot, %slot transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
        ws.yield %r : !acc
      }
      %x = ws.entry @mask issue 1 shift 0 masked(%s : !acc) after [@qk] -> !acc {
        %y = math.absf %s : !acc
        ws.yield %y : !acc
      }
      %next, %alpha = ws.entry @stat issue 2 shift 0 after [@qk] -> !row, !row {
        %max = tile.reduce max %x dim 1 : !acc -> !row
        %larger = arith.maxnumf %max, %old : !row
        %growth = arith.subf %old, %larger : !row
        %factor = math.exp2 %growth : !row
        ws.yield %larger, %factor : !row, !row
      }
      %scaled = ws.entry @rescale issue 8 shift 0 after [@pv] -> !acc {
        %one = arith.constant dense<1.0> : !row
        %grew = arith.cmpf olt, %alpha, %one : !row
        %any = tile.any %grew : tensor<64xi1, #tile.layout<atom = wgmma_acc, repeats = 1, slice = 1>>
        %o = scf.if %any -> !acc {
          %all = tile.broadcast %alpha dim 1 : !row -> !acc
          %less = arith.mulf %sum, %all : !acc
          scf.yield %less : !acc
        } else {
          scf.yield %sum : !acc
        }
        ws.yield %o : !acc
      }
      %product = ws.entry @pv issue 4 shift 1 -> !acc {
        %r, %t = ws.mma %slot, %slot acc(%scaled : !acc) transpose_b : !q, <@q, tensor<64x64xbf16>> -> !acc
        ws.yield %r : !acc
      }
      ws.yield %product, %next : !acc, !row
    }
    ws.release %slot : <@q, tensor<64x64xbf16>>
  }
}
