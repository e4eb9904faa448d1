// Bad text of #attn.condition, C1 and C2.
// RUN: attn-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected 'seqlen_q', 'seqlen_k' or 'rows', got 'items'}}
#c = #attn.condition<items at_most 3>

// -----

// expected-error @+1 {{expected 'at_most' or 'above', got 'below'}}
#c = #attn.condition<rows below 3>

// -----

// expected-error @+1 {{expected integer value}}
#c = #attn.condition<rows above many>

// -----

// expected-error @+1 {{expected valid keyword}}
#c = #attn.condition<>

// -----

// C1
// expected-error @+1 {{expected one bound 'above' of 'rows', got 3 and 4}}
#c = #attn.condition<rows above 3 and rows above 4>

// -----

// C1
// expected-error @+1 {{expected 'seqlen_k' above less than 512, which it is at most, got 512}}
#c = #attn.condition<seqlen_k at_most 512 and seqlen_k above 512>

// -----

// C2
// expected-error @+1 {{expected the bound of 'seqlen_q' to be at least 0, got -1}}
#c = #attn.condition<seqlen_q above -1>
