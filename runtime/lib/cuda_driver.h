// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The subset of the CUDA driver API that the runtime uses. It is declared from
// the public ABI, so that building needs no CUDA, and loaded with dlopen, so
// that starting needs none.

#ifndef ATTN_RUNTIME_LIB_CUDA_DRIVER_H
#define ATTN_RUNTIME_LIB_CUDA_DRIVER_H

#include "attn/runtime/internal/status.h"

#include <cstddef>
#include <cstdint>

namespace attn::runtime {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUuserObject = struct CUuserObject_st *;

constexpr CUresult kCudaSuccess = 0;

// CUdevice_attribute
constexpr int kAttributeMultiprocessorCount = 16;
constexpr int kAttributeComputeCapabilityMajor = 75;
constexpr int kAttributeComputeCapabilityMinor = 76;
// CUfunction_attribute
constexpr int kFunctionLocalSizeBytes = 3;
constexpr int kFunctionNumRegs = 4;
constexpr int kFunctionMaxDynamicSharedSizeBytes = 8;
// CUjit_option
constexpr int kJitErrorLogBuffer = 5;
constexpr int kJitErrorLogBufferSizeBytes = 6;
// CUstreamCaptureStatus
constexpr int kCaptureStatusNone = 0;
constexpr int kCaptureStatusActive = 1;
// CUstreamCaptureMode
constexpr int kCaptureModeRelaxed = 2;
// CUuserObject_flags, CUuserObjectRetain_flags
constexpr unsigned kUserObjectNoDestructorSync = 1;
constexpr unsigned kGraphUserObjectMove = 1;
// CUlaunchAttributeID
constexpr int kLaunchAttributeClusterDimension = 4;
constexpr int kLaunchAttributeProgrammaticStreamSerialization = 6;

/// CUtensorMap.
struct alignas(128) TensorMap {
  uint64_t opaque[16];
};

/// CUlaunchAttribute, with the values used here.
struct CudaLaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned clusterDim[3];
    int programmaticStreamSerializationAllowed;
  } value;
};
static_assert(sizeof(CudaLaunchAttribute) == 72, "the driver's layout");

/// CUlaunchConfig.
struct CudaLaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
static_assert(sizeof(CudaLaunchConfig) == 56, "the driver's layout");

/// The driver functions for loading and launching. Tests substitute their own.
struct CudaDriver {
  CUresult (*init)(unsigned flags);
  CUresult (*getErrorName)(CUresult, const char **);
  CUresult (*deviceGetCount)(int *);
  CUresult (*deviceGet)(CUdevice *, int ordinal);
  CUresult (*deviceGetAttribute)(int *, int attribute, CUdevice);
  CUresult (*primaryContextRetain)(CUcontext *, CUdevice);
  CUresult (*contextGetCurrent)(CUcontext *);
  CUresult (*contextPush)(CUcontext);
  CUresult (*contextPop)(CUcontext *);
  CUresult (*streamIsCapturing)(CUstream, int *status);
  CUresult (*streamGetCaptureInfo)(CUstream, int *status, uint64_t *id,
                                   CUgraph *, const void **dependencies,
                                   size_t *numDependencies);
  CUresult (*threadExchangeStreamCaptureMode)(int *mode);
  CUresult (*userObjectCreate)(CUuserObject *, void *object,
                               void (*destroy)(void *), unsigned references,
                               unsigned flags);
  CUresult (*userObjectRelease)(CUuserObject, unsigned references);
  CUresult (*graphRetainUserObject)(CUgraph, CUuserObject, unsigned references,
                                    unsigned flags);
  CUresult (*moduleLoadDataEx)(CUmodule *, const void *image, unsigned count,
                               int *options, void **values);
  CUresult (*moduleUnload)(CUmodule);
  CUresult (*moduleGetFunction)(CUfunction *, CUmodule, const char *name);
  CUresult (*funcGetAttribute)(int *, int attribute, CUfunction);
  CUresult (*funcSetAttribute)(CUfunction, int attribute, int value);
  CUresult (*tensorMapEncodeTiled)(TensorMap *, int dataType, uint32_t rank,
                                   void *address, const uint64_t *sizes,
                                   const uint64_t *strides, const uint32_t *box,
                                   const uint32_t *elementStrides,
                                   int interleave, int swizzle, int l2Promotion,
                                   int oobFill);
  CUresult (*tensorMapReplaceAddress)(TensorMap *, void *address);
  CUresult (*memsetD8Async)(CUdeviceptr, unsigned char value, size_t bytes,
                            CUstream);
  CUresult (*launchKernelEx)(const CudaLaunchConfig *, CUfunction,
                             void **params, void **extra);
};

/// Looks `name` up in libcuda.so.1, which is loaded on first use and stays.
/// Null if there is no such library or no such function.
void *findDriverFunction(const char *name);

/// Returns the process's driver, initialized. Fails if there is none, if it is
/// too old to have all functions of the table, or if cuInit fails.
Status loadCudaDriver(const CudaDriver *&driver);

/// For example "CUDA_ERROR_INVALID_VALUE".
std::string cudaErrorName(const CudaDriver &driver, CUresult result);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDA_DRIVER_H
