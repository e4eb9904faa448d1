// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choosing among versions of a vector kernel by what the host CPU has.
// Functions between ATTN_SIM_BEGIN_* and ATTN_SIM_END_TARGET are compiled for
// that target.

#ifndef ATTN_SIM_UNITS_SIMD_H
#define ATTN_SIM_UNITS_SIMD_H

#define ATTN_SIM_INLINE inline __attribute__((always_inline))

#if defined(__x86_64__)
#define ATTN_SIM_X86 1
#define ATTN_SIM_AVX2 __attribute__((target("avx2,fma")))
#define ATTN_SIM_AVX512                                                        \
  __attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl,avx512bw")))
#else
#define ATTN_SIM_X86 0
#endif

namespace attn::sim {

enum class HostVectors { Baseline, Avx2, Avx512 };

inline HostVectors detectHostVectors() {
#if ATTN_SIM_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return HostVectors::Avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return HostVectors::Avx2;
  }
#endif
  return HostVectors::Baseline;
}

} // namespace attn::sim

#endif // ATTN_SIM_UNITS_SIMD_H
