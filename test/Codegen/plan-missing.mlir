// A bundle needs a launch plan of its binary.
// RUN: not env ATTN_PTXAS=none attn-compile %s -o %t.attn 2>&1 | FileCheck %s
// CHECK: error: expected a 'launch.plan' of '@fwd', got none
gpu.binary @fwd [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "">]
