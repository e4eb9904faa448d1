// attn-schedule: hit in the table, entry from a file, a schedule that is kept; and each error.

// RUN: attn-opt %attn_root/test/Inputs/causal_d96.mlir --attn-configure --attn-tile --attn-fuse-online-softmax -o %t.tile.mlir
// RUN: attn-opt %t.tile.mlir --attn-schedule --remark-format=emitRemark --remarks-filter=attn 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// CHECK: tile.kernel @
// CHECK-SAME: schedule <"fwd_d96_none_causal" machine "sm_90a" {
// REMARK: remark: {{.*}}schedule{{.*}}'fwd_d96_none_causal' for 'sm_90a' from entry '@fwd_d96_none_causal' of 'schedules/sm_90a/fwd_d96_none_causal.mlir'
// REMARK: remark: {{.*}}schedule-resources{{.*}} bytes of shared memory, {{.*}} 0 columns of tensor memory

// RUN: attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/mine.mlir --remark-format=emitRemark --remarks-filter=attn 2>&1 -o /dev/null | FileCheck %s --check-prefix=FILE
// FILE: remark: {{.*}}'mine' for 'sm_90a' from entry '@mine' of '{{.*}}Inputs{{/|\\}}mine.mlir'

// RUN: attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/mine.mlir --attn-schedule --attn-verify-schedule --remark-format=emitRemark --remarks-filter=attn 2>&1 -o /dev/null | FileCheck %s --check-prefix=KEEP
// KEEP: remark: {{.*}}'mine' for 'sm_90a' from entry '@mine'
// KEEP: remark: {{.*}}'mine' for 'sm_90a' from the kernel
// KEEP: schedule-resources
// KEEP-NOT: error

// RUN: sed 's/head_dim = 128, head_dim_v = 128/head_dim = 320, head_dim_v = 80/' %S/Inputs/fwd_d128.mlir | not attn-opt --attn-schedule 2>&1 | FileCheck %s --check-prefix=MISS
// MISS: error: 'tile.kernel' op expected a schedule for fwd, bf16, head dims 320 and 80, mask 'causal_bottom_right', on 'sm_90a' in the table, which has
// MISS: @fwd_d128: fwd, bf16 or f16, head dims 128 and 128, mask 'none' and 'causal_top_left' and 'causal_bottom_right' and 'window', on 'sm_90a'
// MISS: @fwd_d64_none: fwd, bf16 or f16, head dims 64 and 64, mask 'none', on

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=target=sm_80 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: 'tile.kernel' op expected a target among {{.*}}'sm_90a', got 'sm_80'

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=target=sm_100a 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'tile.kernel' op expected a schedule for fwd, bf16, head dims 128 and 128, mask 'causal_bottom_right', on 'sm_100a' in the table, which has

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/none.mlir 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: error: 'tile.kernel' op expected schedule file '{{.*}}none.mlir' to exist, got no such file

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/broken.mlir 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: broken.mlir:19:8: error: {{.*}}expected knob 'exp2_soft', 'peel', 'skip'
// BROKEN: error: 'tile.kernel' op expected schedule file '{{.*}}broken.mlir' to be valid IR, got a file that does not parse

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: 'tile.kernel' op expected an attn.table_entry in '{{.*}}empty.mlir', got none

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/d64.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: 'tile.kernel' op expected the entry '@mine' of '{{.*}}d64.mlir' to be for fwd, bf16, head dims 128 and 128, mask 'causal_bottom_right', got fwd, bf16 or f16, head dims 64 and 64, mask 'none' and 'causal_top_left' and 'causal_bottom_right'

// An entry may name element types; without them it serves bf16 and f16.
// RUN: sed 's/^\( *\)config </\1dtypes [f16] config </' %S/Inputs/mine.mlir > %t.f16.mlir
// RUN: attn-opt %t.f16.mlir | FileCheck %s --check-prefix=DTYPES
// DTYPES: attn.table_entry fwd @mine head_dim 128, 128 masks {{.*}} dtypes [f16] config <
// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%t.f16.mlir 2>&1 | FileCheck %s --check-prefix=DTYPE
// DTYPE: error: 'tile.kernel' op expected the entry '@mine' of '{{.*}}.f16.mlir' to be for fwd, bf16, head dims 128 and 128, {{.*}}, got fwd, f16, head dims 128 and 128,

// An entry's masks and element types are words of a list.
// RUN: sed 's/"none", /"any", /' %S/Inputs/mine.mlir | not attn-opt 2>&1 | FileCheck %s --check-prefix=MASK
// MASK: error: {{.*}}expected masks of none, causal_top_left, causal_bottom_right, window, gathers, got 'any'
// RUN: sed 's/^\( *\)config </\1dtypes [f32] config </' %S/Inputs/mine.mlir | not attn-opt 2>&1 | FileCheck %s --check-prefix=F32
// F32: error: 'attn.table_entry' op attribute 'dtypes' failed to satisfy constraint: bf16 and f16

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/sm_100a.mlir 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: 'tile.kernel' op expected the schedule of entry '@mine' of '{{.*}}sm_100a.mlir' to be for machine 'sm_90a', got 'sm_100a'

// RUN: attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/mine.mlir -o %t.scheduled && not attn-opt %t.scheduled --attn-schedule=target=sm_100a 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: error: 'tile.kernel' op expected its schedule to be for machine 'sm_100a', got 'sm_90a'

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/tile64.mlir 2>&1 | FileCheck %s --check-prefix=CONFIG
// CONFIG: error: 'tile.kernel' op expected 'tile_m' of its 'config' to be 64, as in entry '@mine' of '{{.*}}tile64.mlir', got 128; --schedule reads an entry with another value

// RUN: sed 's/config <[^>]*>//' %S/Inputs/fwd_d128.mlir | not attn-opt --attn-schedule 2>&1 | FileCheck %s --check-prefix=NOCONFIG
// NOCONFIG: error: 'tile.kernel' op expected a 'config'

// RUN: not attn-opt %S/Inputs/fwd_d128.mlir --attn-schedule=schedule-file=%S/Inputs/racy.mlir 2>&1 | FileCheck %s --check-prefix=RACY
// RACY: racy.mlir:{{[0-9]+}}:1: error: 'attn.table_entry' op V9: expected 'cvt_o[0]' (work item 0) to overwrite 'v' (work item 0, iteration 0) with 'oe[0]' (work item 0) after 'pv[1]' (work item 0, iteration 0) read it, got no order between them
// RACY: fwd_d128.mlir:{{[0-9]+}}:{{[0-9]+}}: note: the kernel that it is for
// RACY: note: with work items of 1 iterations

// An edited config is named beside an error that may follow from it.
// RUN: attn-compile %attn_root/test/Inputs/causal_d128.mlir --emit=attn -o %t.attn.mlir
// RUN: sed 's/row_max = first_block/row_max = running/' %t.attn.mlir > %t.edited.mlir
// RUN: not attn-compile %t.edited.mlir --emit=schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=EDITED
// EDITED: error: 'attn.table_entry' op V1: expected an entry to name a step of the kernel, got 'check'
// EDITED: note: the kernel that it is for
// EDITED-NEXT: note: 'row_max' of the kernel's 'config' is running, that of the entry is first_block; --schedule reads an entry with another value

// The size of a section is that of a kernel whose items have sections.
// RUN: sed -e 's/, section_mib = [0-9]*//' -e 's/work = [a-z]*\(, order = [a-z_]*\)\?/work = grid, order = longest_first, section_mib = 16/' %S/Inputs/fwd_d128.mlir | not attn-opt --attn-schedule=schedule-file=%S/Inputs/mine.mlir 2>&1 | FileCheck %s --check-prefix=SECTION
// SECTION: error: 'tile.kernel' op expected 'section_mib' of its 'config' to be 0, as its 'tile.next_work' has no 'section', got 16
