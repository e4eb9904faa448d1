// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CUDA GPU behind the Device interface.

#ifndef ATTN_RUNTIME_LIB_CUDA_DEVICE_H
#define ATTN_RUNTIME_LIB_CUDA_DEVICE_H

#include "cuda_driver.h"
#include "device.h"

namespace attn::runtime {

class CudaDevice final : public Device {
public:
  /// Opens GPU `ordinal` and retains its primary context. `driver` must outlive
  /// the device.
  static Status open(const CudaDriver &driver, int ordinal,
                     std::unique_ptr<CudaDevice> &device);

  int64_t getMultiprocessorCount() const override { return multiprocessors; }
  Status load(const Bundle &code, const LaunchPlan &plan,
              const std::vector<const PlanLaunch *> &launches,
              std::unique_ptr<LoadedKernels> &kernels) override;
  Status clear(void *address, size_t bytes, void *stream) override;
  bool isCapturing(void *stream) const override;

  const CudaDriver &getDriver() const { return driver; }
  CUcontext getCudaContext() const { return context; }

private:
  explicit CudaDevice(const CudaDriver &driver) : driver(driver) {}
  Status checkTarget(const std::string &target) const;

  const CudaDriver &driver;
  CUcontext context = nullptr;
  int multiprocessors = 0;
  int major = 0;
  int minor = 0;
};

/// Makes a device's context current during its lifetime; costs only a query if
/// it already is.
class CurrentContext {
public:
  explicit CurrentContext(const CudaDevice &device);
  ~CurrentContext();
  CurrentContext(const CurrentContext &) = delete;

  CUresult getResult() const { return result; }

private:
  const CudaDriver &driver;
  CUresult result = kCudaSuccess;
  bool pushed = false;
};

/// The process's GPU `ordinal`, opened on first use.
Status getCudaDevice(int ordinal, CudaDevice *&device);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LIB_CUDA_DEVICE_H
