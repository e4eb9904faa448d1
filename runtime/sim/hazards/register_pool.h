// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// setmaxnreg: registers move between the warpgroups of a CTA through a pool,
// which starts with the registers of the launch.

#ifndef ATTN_SIM_HAZARDS_REGISTER_POOL_H
#define ATTN_SIM_HAZARDS_REGISTER_POOL_H

#include <cstdint>
#include <vector>

namespace attn::sim {

class Cta;
class Warp;
struct Program;

class RegisterPool {
public:
  RegisterPool(const Program &program, uint32_t threads);

  /// The reply to a warp's request.
  enum class Answer { Granted, NotYet, Refused };
  Answer request(Warp &warp, uint32_t wanted, bool increase);
  uint64_t getFree() const { return free; }
  /// Reports warpgroups in which only some warps made a request.
  void checkEnd(Cta &cta) const;

private:
  struct Request {
    uint32_t wanted;
    uint32_t pc;
  };

  bool checkGroup(Warp &warp, uint32_t wanted);

  uint64_t free = 0;
  /// By warp, the registers per thread, and the requested number.
  std::vector<uint32_t> counts;
  std::vector<std::vector<Request>> requests;
};

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_REGISTER_POOL_H
