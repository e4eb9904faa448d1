// A kernel may bring the names of its values, and has to name all of them.

// RUN: sed 's/step exp p32<M, N>/step exp q32<M, N>/; s/module attributes {attn.values = \(.*\)/#values = \1/; s/^}>} {}/}>/' %attn_root/passes/schedule/data/values/fwd.mlir > %t.values
// RUN: sed 's/rescale_threshold = 8> {$/rescale_threshold = 8> attributes {attn.values = #values} {/' %S/Inputs/fwd_d128.mlir > %t.kernel

// Its own names. One that no place refers to differs from the usual one.
// RUN: cat %t.values %t.kernel | attn-opt --attn-schedule=schedule-file=%S/Inputs/mine.mlir | FileCheck %s --check-prefix=OWN
// OWN: schedule <"mine" machine "sm_90a" {
// OWN: attn.values = #attn.kernel_values<fwd {
// OWN: step exp q32<M, N>

// One that a place does refer to.
// RUN: sed 's/step cvt p</step cvt probs</' %t.values > %t.renamed
// RUN: cat %t.renamed %t.kernel | not attn-opt --attn-schedule=schedule-file=%S/Inputs/mine.mlir 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: mine.mlir:{{[0-9]+}}:1: error: 'attn.table_entry' op V1: expected place 'p' to name a value of the kernel, got 'p'

// RUN: sed 's/= #values/= 1/' %t.kernel | not attn-opt --attn-schedule=schedule-file=%S/Inputs/mine.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: 'tile.kernel' op expected 'attn.values' to be #attn.kernel_values, got 1

// RUN: sed 's/@exp/@expo/' %S/Inputs/fwd_d128.mlir | not attn-opt --attn-schedule=schedule-file=%S/Inputs/mine.mlir 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: 'tile.kernel' op V1: expected names for the 1 results of step 'expo', got 0

// RUN: sed 's/tile_m = 128/tile_m = 64/' %S/Inputs/fwd_d128.mlir | not attn-opt --attn-schedule=schedule-file=%S/Inputs/tile64.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: 'tile.kernel' op V1: expected axis 'M' of value 'q' to have 64 elements, got 128
