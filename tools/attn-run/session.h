// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One problem on the GPU: its tensors, launches and results.

#ifndef ATTN_TOOLS_ATTN_RUN_SESSION_H
#define ATTN_TOOLS_ATTN_RUN_SESSION_H

#include "attn/runtime/attn.h"
#include "check_gradients.h"
#include "device_tensors.h"
#include "workspace.h"

namespace attn::run {

class Session {
public:
  Session(Gpu &gpu, attn_bundle *bundle, const runtime::LaunchPlan &plan,
          const Problem &problem, double timeout)
      : gpu(gpu), bundle(bundle), plan(plan), problem(problem),
        timeout(timeout), tensors(gpu), workspace(gpu) {}

  // Each function returns false and sets the error on failure.

  /// Allocates and uploads the tensors, with poisoned outputs, and finds the
  /// variant that launches run.
  bool prepare();
  bool launch();
  /// Switches later launches to `other`, which has the same arguments, with the
  /// original inputs and a reset workspace.
  bool restart(attn_bundle *other);
  /// Launches once with poisoned outputs and downloads them.
  bool launchAndDownload();
  /// The same on a workspace of zeros; also downloads the workspace.
  bool launchOnZeros(std::vector<unsigned char> &bytes) {
    return workspace.clear(error) && launchAndDownload() &&
           workspace.download(bytes, error);
  }
  /// Checks that the results of launchAndDownload() are in bounds and complete,
  /// that the inputs are unchanged, and that the workspace is fit for the next
  /// launch.
  bool checkGuards() {
    return tensors.checkGuards(error) && workspace.checkZeroed(error);
  }
  /// Launches `count` times and checks that the outputs are identical.
  bool repeat(int64_t count);
  /// The median time of a launch in milliseconds.
  bool measure(int64_t rounds, double &milliseconds);

  CheckResult check() const;
  ReferenceInputs referenceInputs() const {
    return makeReferenceInputs(plan, variant, problem, tensors.tensors);
  }
  /// The number of the variant that launches run.
  size_t getVariant() const { return variant; }
  /// The first kernel of the variant that launches run.
  const std::string &getKernel() const {
    return plan.variants[variant].launches.front().kernel;
  }
  /// On the host: inputs, and the latest downloaded outputs.
  const std::vector<HostTensor> &getTensors() const { return tensors.tensors; }
  const std::string &getError() const { return error; }
  /// Whether the GPU cannot be used any more after a hang or a fault.
  bool isGpuLost() const { return gpuLost; }

private:
  bool fail(const std::string &message);
  bool failGpu();
  bool finish();
  bool timeSlice(size_t count, std::vector<double> &times);

  Gpu &gpu;
  attn_bundle *bundle;
  const runtime::LaunchPlan &plan;
  Problem problem;
  double timeout;

  DeviceTensors tensors;
  /// The results of a kernel of gradients.
  Gradients gradients;
  std::vector<double> scalars;
  Workspace workspace;
  attn_launch_args args = {};
  size_t variant = 0;
  std::string error;
  bool gpuLost = false;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTN_RUN_SESSION_H
