// RUN: attn-compile %s --emit=llvm -o - | FileCheck %s
// RUN: sed -e 's/?x1x32x64/?x?x?x64/g' -e 's/?x?x8x64/?x?x?x64/g' -e 's/?x32x1xf32/?x?x?xf32/g' %s \
// RUN:   | attn-compile - --emit=llvm -o - | FileCheck %s --check-prefix=MANY

// K and V that one work item alone reads come from memory, by 128 bytes. The roles need half of the registers, so
// that two CTAs fit on a multiprocessor.
// CHECK-COUNT-4: promotion b128
// CHECK-NOT: promotion b256
// CHECK: nvvm.minctasm = 2 : i32
// CHECK: nvvm.setmaxregister decrease 88
// CHECK: nvvm.setmaxregister increase 168

// MANY-NOT: promotion b128
// MANY: nvvm.minctasm = 1 : i32
func.func @step(%q: tensor<?x1x32x64xbf16>, %k: tensor<?x?x8x64xbf16>, %v: tensor<?x?x8x64xbf16>, %scale: f32)
    -> (tensor<?x1x32x64xbf16>, tensor<?x32x1xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(none) layout(bshd)
      : (tensor<?x1x32x64xbf16>, tensor<?x?x8x64xbf16>, tensor<?x?x8x64xbf16>) -> (tensor<?x1x32x64xbf16>, tensor<?x32x1xf32>)
  return %o, %lse : tensor<?x1x32x64xbf16>, tensor<?x32x1xf32>
}
