// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle with every kind of argument and parameter, whose kernel is small: it
// copies boxes through a tensor map, reads, writes and counts in the workspace.

#ifndef ATTN_RUNTIME_FUZZ_PROBE_BUNDLE_H
#define ATTN_RUNTIME_FUZZ_PROBE_BUNDLE_H

namespace attn::fuzz {

constexpr char kProbePlan[] = R"({"version":1,"name":"probe","target":"sm_90a",
 "problem":{"kind":"fwd","dtype":"bf16","head_dim":8,"head_dim_v":8,
  "layout":"bhsd","mask":"none","keys":{"bounds":[]},"score_region":"none","mask_region":"custom"},
 "args":[
  {"name":"q","kind":"tensor","dtype":"bf16","access":"read","dims":["b","h","s",8]},
  {"name":"scale","kind":"f32"},
  {"name":"mask","kind":"tensor","dtype":"f32","access":"read","dims":["b","s"]},
  {"name":"n","kind":"i32"},
  {"name":"m","kind":"i64"},
  {"name":"y","kind":"tensor","dtype":"f32","access":"write","dims":["b","s"]}],
 "checks":[{"expr":["mod","h",2],"equals":0,"message":"h must be even"}],
 "variants":[
  {"when":["lt","s",3],"workspace":0,"launches":[{"kernel":"probe",
   "grid":["s",["min","b",2],1],"block":[32,1,1],"cluster":[1,1,1],"smem":0,
   "params":[
    {"kind":"tensor_map","tensor":"q","swizzle":0,"l2_promotion":0,"dims":[
     {"size":8,"box":8},{"size":"s","stride":["mul","q.stride.2",2],"box":4},
     {"size":"h","stride":["mul","q.stride.1",2],"box":1},
     {"size":"b","stride":["mul","q.stride.0",2],"box":1}]},
    {"kind":"pointer","tensor":"mask"},{"kind":"pointer","tensor":"y"},
    {"kind":"i64","expr":["mul","mask.stride.0",4]},
    {"kind":"i64","expr":["mul","y.stride.0",4]},
    {"kind":"f32","arg":"scale"},{"kind":"i32","expr":["sub","n",1]},
    {"kind":"workspace"}]}]},
  {"when":1,"values":[{"name":"blocks","expr":["min",["ceildiv","s",4],3]}],
   "workspace":["add",["mul","blocks",16],["mul","sm_count",2]],"zeroed":128,
   "launches":[{"kernel":"probe","grid":["blocks",["min","b",2],1],
    "block":[32,1,1],"cluster":[1,1,1],"smem":0,"dependent":1,"params":[
    {"kind":"tensor_map","tensor":"q","swizzle":0,"l2_promotion":0,"dims":[
     {"size":8,"box":8},{"size":"s","stride":["mul","q.stride.2",2],"box":4},
     {"size":"h","stride":["mul","q.stride.1",2],"box":1},
     {"size":"b","stride":["mul","q.stride.0",2],"box":1}]},
    {"kind":"pointer","tensor":"mask"},{"kind":"pointer","tensor":"y"},
    {"kind":"i64","expr":["mul","mask.stride.0",4]},
    {"kind":"i64","expr":["mul","y.stride.0",4]},
    {"kind":"f32","arg":"scale"},{"kind":"i32","expr":"m"},
    {"kind":"workspace"}]}]}]})";

constexpr char kProbePtx[] = R"(.version 8.3
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[64];
.shared .align 8 .b64 bar;
.visible .entry probe(.param .align 64 .b8 map[128], .param .u64 mask,
  .param .u64 y, .param .u64 mask_stride, .param .u64 y_stride,
  .param .f32 scale, .param .u32 n, .param .u64 space)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<16>;
  mov.u32 %r0, %tid.x;
  setp.ne.b32 %p1, %r0, 0;
  @%p1 bra ready;
  mbarrier.init.shared.b64 [bar], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  @%p1 bra issued;
  mov.b64 %rd0, map;
  cvta.param.u64 %rd1, %rd0;
  mov.u32 %r4, 0;
  mbarrier.arrive.expect_tx.shared.b64 %rd2, [bar], 64;
  cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r4, %r1, %r4, %r2}], [bar];
issued:
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;
  @!%p2 bra wait;
  @%p1 bra done;
  ld.param.u64 %rd3, [mask];
  ld.param.u64 %rd4, [y];
  ld.param.u64 %rd5, [mask_stride];
  ld.param.u64 %rd6, [y_stride];
  ld.param.f32 %f0, [scale];
  ld.param.u64 %rd12, [space];
  cvt.u64.u32 %rd7, %r2;
  mul.lo.s64 %rd8, %rd7, %rd5;
  mul.lo.s64 %rd9, %rd7, %rd6;
  mul.wide.u32 %rd10, %r1, 4;
  add.s64 %rd3, %rd3, %rd8;
  add.s64 %rd3, %rd3, %rd10;
  add.s64 %rd4, %rd4, %rd9;
  add.s64 %rd4, %rd4, %rd10;
  ld.global.f32 %f1, [%rd3];
  mul.rn.f32 %f1, %f1, %f0;
  st.global.f32 [%rd4], %f1;
  ld.param.u32 %r5, [n];
  setp.eq.u32 %p3, %r5, 0;
  @%p3 bra done;
  atom.global.add.u32 %r5, [%rd12], 1;
done:
  ret;
}
)";

} // namespace attn::fuzz

#endif // ATTN_RUNTIME_FUZZ_PROBE_BUNDLE_H
