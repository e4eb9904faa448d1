// SPDX-License-Identifier: Apache-2.0
//
// The part of the DLPack ABI (https://github.com/dmlc/dlpack, Apache-2.0) that
// this runtime reads: tensors as frameworks exchange them.

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLPACK_VERSION 80
#define DLPACK_ABI_VERSION 1

#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLCUDAManaged = 13
} DLDeviceType;

/// Where a tensor's memory is.
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U
} DLDataTypeCode;

/// An element type: a DLDataTypeCode, its width in bits and a vector length.
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

/// A tensor that somebody else owns.
typedef struct {
  /// The start of the memory; elements start `byte_offset` bytes later.
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  /// `ndim` extents, in elements.
  int64_t *shape;
  /// `ndim` strides, in elements; null means packed and row major.
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

/// A tensor together with the function that gives it back to its owner.
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#ifdef __cplusplus
} // extern "C"
#endif

#endif // DLPACK_DLPACK_H_
