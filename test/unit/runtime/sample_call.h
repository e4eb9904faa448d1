// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments that fit the sample plan, which tests use and break.

#ifndef ATTN_TEST_UNIT_RUNTIME_SAMPLE_CALL_H
#define ATTN_TEST_UNIT_RUNTIME_SAMPLE_CALL_H

#include "arguments.h"
#include "sample_plan.h"

#include <deque>

namespace attn::runtime {

/// One tensor with its own shape and strides; nothing reads its memory.
struct SampleTensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  DLTensor view = {};

  SampleTensor(std::vector<int64_t> sizes, DataType type, uintptr_t address)
      : shape(std::move(sizes)), strides(shape.size()) {
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= shape[i];
    }
    view.data = reinterpret_cast<void *>(address);
    view.device = {kDLCUDA, 0};
    view.dtype = toDLPack(type);
  }

  const DLTensor *get() {
    view.ndim = int32_t(shape.size());
    view.shape = shape.data();
    view.strides = strides.empty() ? nullptr : strides.data();
    return &view;
  }
};

/// batch 2, 5 queries, 7 keys, 4 query heads, 2 key heads, in plan order.
struct SampleCall {
  SampleTensor q{{2, 5, 4, 128}, DataType::BF16, 0x10000};
  SampleTensor k{{2, 7, 2, 128}, DataType::BF16, 0x20000};
  SampleTensor v{{2, 7, 2, 128}, DataType::BF16, 0x30000};
  SampleTensor slopes{{4}, DataType::F32, 0x40000};
  SampleTensor o{{2, 5, 4, 128}, DataType::BF16, 0x50000};
  SampleTensor lse{{2, 4, 5}, DataType::F32, 0x60000};
  double scale = 0.5;

  void resize(int64_t b, int64_t sq, int64_t sk, int64_t hq, int64_t hk) {
    q = {{b, sq, hq, 128}, DataType::BF16, 0x10000};
    k = {{b, sk, hk, 128}, DataType::BF16, 0x20000};
    v = {{b, sk, hk, 128}, DataType::BF16, 0x30000};
    slopes = {{hq}, DataType::F32, 0x40000};
    o = {{b, sq, hq, 128}, DataType::BF16, 0x50000};
    lse = {{b, hq, sq}, DataType::F32, 0x60000};
  }

  /// Valid until the call changes.
  attn_launch_args get() {
    pointers = {q.get(), k.get(), v.get(), slopes.get(), o.get(), lse.get()};
    attn_launch_args args = {};
    args.size = sizeof(args);
    args.num_tensors = pointers.size();
    args.tensors = pointers.data();
    args.num_scalars = 1;
    args.scalars = &scale;
    args.device = {kDLCUDA, 0};
    return args;
  }

private:
  std::vector<const DLTensor *> pointers;
};

/// Binds `call`; returns the message, "" on success.
inline std::string bindError(const LaunchPlan &plan, SampleCall &call,
                             BoundArguments &bound) {
  CallValues values;
  if (Status status = collectArguments(plan, call.get(), values)) {
    return status.getMessage();
  }
  return bindArguments(plan, values, 132, bound).getMessage();
}

} // namespace attn::runtime

#endif // ATTN_TEST_UNIT_RUNTIME_SAMPLE_CALL_H
