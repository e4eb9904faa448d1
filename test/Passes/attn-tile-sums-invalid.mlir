// What attn-tile-sums requires of its input.
// RUN: attn-opt %s --attn-tile-sums -split-input-file -verify-diagnostics

func.func @no_config_of_clear() -> tensor<?x?x?x64xf32> {
  // expected-error @below {{'attn.clear_sums' op expected 'config', which attn-configure attaches}}
  %sums = attn.clear_sums dtype(bf16) sums tensor<?x?x?x64xf32>
  return %sums : tensor<?x?x?x64xf32>
}

// -----

func.func @no_config_of_convert(%sums: tensor<?x?x?x64xf32>, %scale: f32) -> tensor<?x?x?x64xbf16> {
  // expected-error @below {{'attn.convert_sums' op expected 'config', which attn-configure attaches}}
  %dq = attn.convert_sums %sums scale(%scale) layout(bshd) : tensor<?x?x?x64xf32> -> tensor<?x?x?x64xbf16>
  return %dq : tensor<?x?x?x64xbf16>
}
