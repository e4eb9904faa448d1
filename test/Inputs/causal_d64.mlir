// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention with mask 'causal_bottom_right' and head dim 64.
func.func @causal_d64(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>,
                    %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.attention %q, %k, %v scale(%scale) mask(causal_bottom_right) layout(bshd)
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
        -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
