// The JSON of a launch plan. The runtime accepts it; only the kernels are
// missing.
// RUN: env ATTN_PTXAS=none attn-compile %s -o %t.attn
// RUN: grep -ao '{"args":.*' %t.attn | FileCheck %s
// RUN: not attn-run %t.attn --device=sim --q=1x8x2x64 2>&1 | FileCheck %s --check-prefix=LOADED
// LOADED: attn-run: error: PTX: no kernel 'few_keys'

// CHECK: {"args":[{"access":"read","dims":["b","sq","hq",64],"dtype":"bf16","kind":"tensor","name":"q","role":"query"},
// CHECK-SAME: {"access":"read","dims":["b",128,"hk",64],"dtype":"bf16","kind":"tensor","name":"k","role":"key"},
// CHECK-SAME: {"access":"read","dims":["b",128,"hk",64],"dtype":"bf16","kind":"tensor","name":"v","role":"value"},
// CHECK-SAME: {"at_least":0.5,"at_most":2,"kind":"f32","name":"scale","role":"scale"},
// CHECK-SAME: {"kind":"i32","name":"left","role":"bound","symbol":"window left"},
// CHECK-SAME: {"access":"write","dims":["b","sq","hq",64],"dtype":"bf16","kind":"tensor","name":"o","role":"output"},
// CHECK-SAME: {"access":"readwrite","dims":["b","hq","sq"],"dtype":"f32","kind":"tensor","name":"lse","role":"lse"}],
// CHECK-SAME: "checks":[{"equals":0,"expr":["mod","hq",["max","hk",1]],"message":"{hq} heads"},{"equals":1,"expr":["ge","window left",-1],"message":"left"}],
// CHECK-SAME: "name":"fwd","problem":{"dtype":"bf16","head_dim":64,"head_dim_v":64,
// CHECK-SAME: "keys":{"bounds":[{"at_least":0,"name":"left"}],"first":["sub","i","window left"],"last":["add","i",["sub",128,"sq"]]},
// CHECK-SAME: "kind":"fwd","layout":"bshd","mask":"window_bottom_right","mask_region":"none","score_program":{{\[\[}}"f32","yield","s"]],"score_region":"custom"},
// CHECK-SAME: "target":"sm_90a",
// CHECK-SAME: "temporaries":[{"dims":["rows","hq",64],"dtype":"f32","name":"t"}],
// CHECK-SAME: "values":[{"expr":["mul",["ceildiv","sq",128],128],"name":"rows"}],"variants":[
// CHECK-SAME: {"gradient_numerics":{"delta_relative":0.125,"dp_relative":0.0625,"exponent_relative":0.25,"exponential":0.5,"flush":0.03125,"kept_least":0.6875,"kept_relative":0.8125,"least":0.75,"lse2_relative":0.375,"operations":0.625,"per_addition":0.875,"per_product":0.1875,"rounding":0.3125,"score_relative":0.4375},
// CHECK-SAME: "launches":[{"block":[384,1,1],"cluster":[2,1,1],"dependent":1,"grid":{{\[\[}}"min",["ceildiv","sq",128],"sm_count"],1,1],"kernel":"few_keys","params":[
// CHECK-SAME: {"dims":[{"box":64,"size":64},{"box":128,"size":"sq","stride":["mul","q.stride.1",2]}],"kind":"tensor_map","l2_promotion":256,"swizzle":128,"tensor":"q"},
// CHECK-SAME: {"kind":"pointer","tensor":"lse"},{"aligned_rows":1,"kind":"pointer","tensor":"o"},{"kind":"workspace"},
// CHECK-SAME: {"expr":"cut.parts","kind":"i32"},{"expr":"o.stride.1","kind":"i64"},{"arg":"scale","kind":"f32"}],"smem":1024}],
// CHECK-SAME: "numerics":{"flush":0.25,"lse_absolute":0.25,"lse_per_root_key":0.25,"lse_relative":0.25,"o_per_key":0,"o_relative":0.125,"score_relative":0.5},
// CHECK-SAME: "report":{"knobs":{"exp2_soft":"0/1","launch":"alone","peel":"none","skip":"none","store_hint":"none"},"mbarriers":12,"roles":[{"name":"load","registers":40,"replicas":1,"warps":1},{"name":"wg","registers":232,"replicas":2,"warps":4}],
// CHECK-SAME: "rung":1,"schedule":"s","shared_memory":1024,"stamps":{"ctas":4,"events":4096,"names":{{\[\[}}"item",""],["acquire","k"]],"offset":256},"threads":384,"when":"seqlen_q at_most 512"},
// CHECK-SAME: "schedule":"#attn.schedule<\"s\" machine \"sm_90a\" {\n  role wg warps 4 regs 240\n{{[^"]*}}}>",
// CHECK-SAME: "values":[{"expr":["mod","sq","sm_count"],"name":"cut.tail"},{"expr":["select","cut.tail",1,2],"name":"cut.parts"}],
// CHECK-SAME: "when":["ge",512,"sq"],"workspace":["add","cut.tail",33024],"zeroed":33024},
// CHECK-SAME: {"launches":[{"block":[128,1,1],"cluster":[1,1,1],"grid":[1,1,1],"kernel":"before",
// CHECK-SAME: "params":[{"kind":"pointer","tensor":"t"},{"expr":"t.stride.0","kind":"i64"}],
// CHECK-SAME: "report":{"knobs":{"exp2_soft":"0/1","launch":"alone","peel":"none","skip":"none","store_hint":"none"},"mbarriers":3,"roles":[{"name":"r","registers":240,"replicas":1,"warps":4}],"rung":1,"schedule":"first","shared_memory":0,"threads":128},"schedule":"#attn.schedule<\"first\" {{[^"]*\\"[^"]*\\"[^"]*}}","smem":0},
// CHECK-SAME: {"block":[128,1,1],"cluster":[1,1,1],"grid":[1,1,1],"kernel":"after","params":[{"aligned_rows":1,"kind":"pointer","tensor":"t"}],
// CHECK-SAME: "report":{"mbarriers":4,"roles":[{"name":"r","registers":240,"replicas":1,"warps":4}],"rung":0,"shared_memory":0,"threads":128},"smem":0}],"when":1,"workspace":0}],"version":1}
launch.plan @fwd target "sm_90a" args ["q" query ("b", "sq", "hq", "d"), "k" key ("b", "sk", "hk", "d"),
    "v" value ("b", "sk", "hk", "dv"), "scale" scale from 0.5 to 2.0, "left" as "window left" bound,
    "o" output write ("b", "sq", "hq", "dv"), "lse" lse accumulate ("b", "hq", "sq")]
    problem <kind = fwd, dtype = bf16, head_dim = 64, head_dim_v = 64, layout = bshd, mask = window_bottom_right, score_region = present, mask_region = absent, bounds = window_left>
    first_key sub(i, "window left") last_key add(i, sub(128, sq)) programs {score = [["f32", "yield", "s"]]} {
^bb0(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x128x?x64xbf16>, %v: tensor<?x128x?x64xbf16>, %scale: f32, %left: i32, %o: tensor<?x?x?x64xbf16>, %lse: tensor<?x?x?xf32>):
  launch.value "rows" = mul(ceildiv(sq, 128), 128)
  launch.temporary "t" : tensor<?x?x64xf32> sizes [rows, hq, 64]
  launch.check mod(hq, max(hk, 1)) equals 0 "{hq} heads"
  launch.check ge("window left", -1) equals 1 "left"
  launch.variant when ge(512, sq) condition <seqlen_q at_most 512> workspace add(cut.tail, 33024) zeroed 33024
      numerics <score_relative = 0.5, o_relative = 0.125, o_per_key = 0.0, flush = 0.25, lse_relative = 0.25, lse_absolute = 0.25, lse_per_root_key = 0.25>
      gradients <score_relative = 0.4375, exponential = 0.5, exponent_relative = 0.25, flush = 0.03125, dp_relative = 0.0625, delta_relative = 0.125, lse2_relative = 0.375, operations = 0.625, per_product = 0.1875, per_addition = 0.875, rounding = 0.3125, least = 0.75, kept_relative = 0.8125, kept_least = 0.6875>
      schedule <"s" machine "sm_90a" { role wg warps 4 regs 240 }> {
    launch.value "cut.tail" = mod(sq, sm_count)
    launch.value "cut.parts" = select(cut.tail, 1, 2)
    launch.kernel @few_keys grid min(ceildiv(sq, 128), sm_count) block 384 cluster 2 shared 1024 dependent
        params [#launch.tensor_map<"q" span b128 promotion b256 dims [<size 64 box 64>, <size sq stride mul(q.stride.1, 2) box 128>]>,
                #launch.pointer<"lse">, #launch.pointer<"o" aligned_rows>, #launch.workspace, #launch.number<i32 cut.parts>,
                #launch.number<i64 o.stride.1>, #launch.scalar<"scale">]
        report <roles [<"load" replicas 1 warps 1 registers 40>, <"wg" replicas 2 warps 4 registers 232>] mbarriers 12 rung 1
                stamps <offset 256 events 4096 ctas 4 names [<item "">, <acquire "k">]>>
  }
  launch.variant workspace 0 {
    launch.kernel @before grid 1 block 128 cluster 1 shared 0 params [#launch.pointer<"t">, #launch.number<i64 t.stride.0>]
        report <roles [<"r" replicas 1 warps 4 registers 240>] mbarriers 3 rung 1> schedule <"first" machine "sm_90a" { role wg warps 4 regs 240 }>
    launch.kernel @after grid 1 block 128 cluster 1 shared 0 params [#launch.pointer<"t" aligned_rows>] report <roles [<"r" replicas 1 warps 4 registers 240>] mbarriers 4 rung 0>
  }
}
gpu.binary @fwd [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".version 8.0\0A.target sm_90a\0A.address_size 64\0A">]
