// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules for simulated kernels. A report ends with the id of its rule in
// brackets; ids in this table do not change.

#ifndef ATTN_SIM_HAZARDS_RULES_H
#define ATTN_SIM_HAZARDS_RULES_H

#include <cstdint>
#include <string>

namespace attn::sim {

enum class MbarrierStatus : uint8_t;

/// The treatment of reports.
enum class HazardMode : uint8_t {
  Error, // the first of severity Error fails the launch, others are collected
  Warn,  // all are collected
  Off    // only rules that need no tracker are reported
};

enum class Severity : uint8_t {
  Error,   // undefined by the ISA, or certain corruption
  Strict,  // the ISA forbids it, yet known kernels rely on it
  Warning, // a risk, no error yet
  Slow     // correct, but the assembler will serialize
};

// X(name, id, severity, what the kernel did wrong)
//
// Rules marked "always" end the launch whatever the mode: execution cannot go
// on after them. Those marked "sm_100: strict" are errors up to sm_90a.
#define ATTN_SIM_RULES(X)                                                      \
  /* Memory that several threads or engines use. */                            \
  X(RaceShared, "race.shared", Error,                                          \
    "conflicting accesses to shared memory, neither before the other")         \
  X(RaceGlobal, "race.global", Error,                                          \
    "conflicting accesses to global memory, neither before the other at a "    \
    "scope that has both")                                                     \
  X(RaceLanes, "race.lanes", Error,                                            \
    "lanes of one instruction write different values to one address")          \
  X(RaceSum, "race.sum-order", Error,                                          \
    "floating-point additions to one address, neither before the other, "      \
    "where they have to have an order (`additions`)")                          \
  X(RaceSame, "race.same-value", Strict,                                       \
    "two threads store the same value to shared memory, or issue the same "    \
    "copy, or init of an mbarrier, as lanes of one instruction")               \
  X(RaceReadOnly, "race.nc", Error,                                            \
    "ld.global.nc of bytes that the grid writes")                              \
  X(RaceLaunch, "race.launch", Error,                                          \
    "a launch that may begin before the one before it has ended uses global "  \
    "memory, or ends, without a griddepcontrol.wait before")                   \
  /* Generic accesses and the async proxy. */                                  \
  X(ProxyFence, "proxy.missing-fence", Error,                                  \
    "bytes written by plain stores and read by wgmma or a bulk copy without "  \
    "a fence.proxy.async between")                                             \
  X(ProxyCopyFence, "proxy.copy-missing-fence", Strict,                        \
    "bytes written by cp.async and read by tcgen05 without a "                 \
    "fence.proxy.async between")                                               \
  X(ProxyReuse, "proxy.reuse-without-fence", Warning,                          \
    "bytes accessed plainly and then overwritten by a bulk copy without a "    \
    "fence.proxy.async between")                                               \
  /* Asynchronous operations. */                                               \
  X(LoadNotAwaited, "async.load-not-awaited", Error,                           \
    "access to bytes that a bulk load writes, without knowing that its "       \
    "mbarrier phase is complete")                                              \
  X(WgmmaSource, "async.wgmma-source-overwritten", Error,                      \
    "shared memory is overwritten that wgmma may still read: no wait_group "   \
    "before the release")                                                      \
  X(WgmmaWait, "async.wgmma-waited-by-one-warp", Strict,                       \
    "shared memory is overwritten that wgmma may still read: some of its "     \
    "warps have waited before the release, not all four")                      \
  X(StoreSource, "async.store-source-overwritten", Error,                      \
    "shared memory is overwritten that a bulk store may still read: no "       \
    "wait_group.read by the thread that issued it")                            \
  X(StoreNotAwaited, "async.store-not-awaited", Error,                         \
    "access to global bytes that a bulk store writes, without a full "         \
    "wait_group by the thread that issued it")                                 \
  X(CopyNotAwaited, "async.copy-not-awaited", Error,                           \
    "access to bytes that cp.async writes, without a wait_group by the "       \
    "thread "                                                                  \
    "that issued it")                                                          \
  /* mbarriers. */                                                             \
  X(MbarrierInvisible, "mbarrier.init-not-visible", Error,                     \
    "use of an mbarrier whose init is not ordered before it (for a bulk "      \
    "copy: also without fence.mbarrier_init or fence.proxy.async)")            \
  X(MbarrierNotLive, "mbarrier.not-live", Error,                               \
    "always: use before init or after inval")                                  \
  X(MbarrierReinit, "mbarrier.reinit", Error,                                  \
    "always: init of a live mbarrier")                                         \
  X(MbarrierCount, "mbarrier.bad-count", Error,                                \
    "always: a count outside 1 to 2^20-1")                                     \
  X(MbarrierOverArrival, "mbarrier.over-arrival", Error,                       \
    "always: more arrivals than the phase expects")                            \
  X(MbarrierTxRange, "mbarrier.tx-range", Error,                               \
    "always: the tx-count leaves -(2^20-1) to 2^20-1")                         \
  X(MbarrierNoComplete, "mbarrier.no-complete", Error,                         \
    "always: a .noComplete arrival completes the phase")                       \
  X(MbarrierToken, "mbarrier.bad-token", Error,                                \
    "always: a token of neither the current nor the last phase")               \
  X(MbarrierAddress, "mbarrier.bad-address", Error,                            \
    "always: an mbarrier misaligned or outside shared memory")                 \
  X(MbarrierEarly, "mbarrier.early-completion", Error,                         \
    "a phase completes while a bulk copy issued in it is still to deliver "    \
    "bytes: they were not expected in time")                                   \
  X(MbarrierAlias, "mbarrier.parity-alias", Error,                             \
    "a wait for a phase when the next is complete too: its parity names "      \
    "another phase")                                                           \
  X(MbarrierParity, "mbarrier.bad-parity", Error,                              \
    "a wait for a parity that is neither 0 nor 1")                             \
  X(MbarrierIgnored, "mbarrier.result-ignored", Warning,                       \
    "nothing uses what a test_wait or try_wait gives: it has waited for "      \
    "nothing")                                                                 \
  X(MbarrierUnwaited, "mbarrier.phase-not-awaited", Strict,                    \
    "arrivals for a phase when no thread has waited for the last one")         \
  X(MbarrierUnknown, "mbarrier.phase-not-known", Error,                        \
    "an arrival for a phase by a thread of the mbarrier's CTA that does not "  \
    "know that the last one is complete: it could count for that one")         \
  X(MbarrierAccess, "mbarrier.generic-access", Error,                          \
    "a load, store or copy touches a live mbarrier")                           \
  X(MbarrierGone, "mbarrier.inval-before-commit", Strict,                      \
    "inval of an mbarrier at which a tcgen05.commit may still arrive")         \
  X(MbarrierInval, "mbarrier.inval-in-use", Error,                             \
    "inval of an mbarrier while uses of it are not ordered before")            \
  /* Clusters. */                                                              \
  X(ClusterStart, "cluster.not-started", Error,                                \
    "use of the shared memory of a CTA that is not known to have started")     \
  X(ClusterExited, "cluster.exited", Error,                                    \
    "use of the shared memory of a CTA that does not wait for it and may "     \
    "have "                                                                    \
    "exited")                                                                  \
  X(ClusterArrival, "cluster.exited-before-arrival", Strict,                   \
    "a tcgen05.commit for an mbarrier of a CTA that waits for its operations " \
    "and may have exited when it arrives")                                     \
  X(ClcResponse, "clc.bad-response", Error,                                    \
    "always: clusterlaunchcontrol.query_cancel of what is no response")        \
  X(ClcFailed, "clc.failed-response", Strict,                                  \
    "clusterlaunchcontrol.query_cancel.get_first_ctaid of a response that "    \
    "names no CTA")                                                            \
  X(ClcAfterFailure, "clc.after-failure", Error,                               \
    "always: clusterlaunchcontrol.try_cancel by a CTA that has seen one fail") \
  X(ClusterOrder, "cluster.barrier-order", Error,                              \
    "always: a thread arrives at the cluster's barrier twice without "         \
    "waiting, "                                                                \
    "or waits without having arrived")                                         \
  /* The end of a CTA. */                                                      \
  X(ExitTx, "exit.tx-outstanding", Error,                                      \
    "sm_100: strict: an mbarrier's expected and delivered bytes differ at "    \
    "the end")                                                                 \
  X(ExitLoad, "exit.load-not-awaited", Error,                                  \
    "a bulk load that no thread has waited for at the end")                    \
  X(ExitWgmma, "exit.wgmma-not-awaited", Error,                                \
    "a warp ends and has not waited for its wgmma")                            \
  X(ExitStore, "exit.store-not-awaited", Error,                                \
    "sm_100: strict: a thread ends and has not waited until its bulk stores "  \
    "read their "                                                              \
    "sources")                                                                 \
  X(ExitPhase, "exit.phase-incomplete", Warning,                               \
    "an mbarrier has some of a phase's arrivals at the end, not all")          \
  /* Contents and places. */                                                   \
  X(UninitShared, "uninit.shared", Error,                                      \
    "shared memory is read that nothing has written")                          \
  X(UninitGlobal, "uninit.global", Error,                                      \
    "memory of a fresh output or workspace is read that nothing has written")  \
  X(Bounds, "memory.bounds", Error, "always: access outside every buffer")     \
  X(Align, "memory.align", Error, "always: misaligned access")                 \
  X(Window, "memory.window", Strict,                                           \
    "a tcgen05.commit without .shared::cluster, whose address is generic, at " \
    "an address of shared memory")                                             \
  X(TensorMapSpace, "tensormap.space", Error,                                  \
    "always: a tensor map neither in parameters nor in global memory")         \
  X(TensorMapInvalid, "tensormap.invalid", Error,                              \
    "always: no tensor map, or not one for this copy")                         \
  X(TensorMapCoordinates, "tensormap.coordinates", Error,                      \
    "always: a row of a box not at a multiple of 16 bytes, or a store at a "   \
    "negative coordinate")                                                     \
  X(TensorMapWritten, "tensormap.written", Error,                              \
    "a tensor map that the grid has written, without a "                       \
    "fence.proxy.tensormap that acquires it")                                  \
  /* Registers. */                                                             \
  X(UninitRegister, "uninit.register", Error,                                  \
    "a register is read that the lane has not written")                        \
  /* wgmma. */                                                                 \
  X(WgmmaPending, "wgmma.not-awaited", Error,                                  \
    "a register of a wgmma is read or written before a wait_group for it")     \
  X(WgmmaCopy, "wgmma.copy-in-flight", Slow,                                   \
    "an accumulator is copied before a wait_group for its wgmma")              \
  X(WgmmaFence, "wgmma.missing-fence", Error,                                  \
    "a register of a wgmma was used before it without a wgmma.fence between")  \
  X(WgmmaWarps, "wgmma.warps-differ", Error,                                   \
    "the warps of a warpgroup issue different operations")                     \
  X(WgmmaLanes, "wgmma.lanes-differ", Error,                                   \
    "always: a descriptor or scale-d is not the same in all lanes")            \
  X(WgmmaGroup, "wgmma.partial-group", Error,                                  \
    "always: fewer than the 128 threads of a warpgroup")                       \
  X(WgmmaDescriptor, "wgmma.bad-descriptor", Error,                            \
    "always: a descriptor with reserved bits or a base offset, or one that "   \
    "starts within the rows of its swizzle pattern")                           \
  X(WgmmaOverlap, "wgmma.overlapping-rows", Warning,                           \
    "a descriptor whose stride is shorter than what it steps over")            \
  X(WgmmaBounds, "wgmma.bounds", Error,                                        \
    "always: an operand that leaves shared memory")                            \
  /* Tensor memory, and tcgen05.mma and cp. */                                 \
  X(TmemResult, "tmem.result-not-awaited", Error,                              \
    "tensor memory is read that an mma, cp or shift may still write: no "      \
    "commit by its thread, and wait for that, before")                         \
  X(TmemOperand, "tmem.operand-overwritten", Error,                            \
    "tensor or shared memory is written that an mma, cp or shift may still "   \
    "read or write: no commit by its thread, and wait for that, before")       \
  X(TmemStore, "tmem.store-not-awaited", Error,                                \
    "tensor memory is read or written that a tcgen05.st may still write: no "  \
    "wait::st by its warp before")                                             \
  X(TmemLoad, "tmem.load-not-awaited", Error,                                  \
    "tensor memory, or a register, is written that a tcgen05.ld may still "    \
    "read or write: its warp has neither waited nor used the result before")   \
  X(TmemLoadUsed, "tmem.load-used-not-awaited", Strict,                        \
    "tensor memory is written after a tcgen05.ld of it whose result its warp " \
    "has used, but not waited for")                                            \
  X(TmemFence, "tmem.missing-fence", Strict,                                   \
    "accesses to tensor memory by two threads, or one before a wait for a "    \
    "commit and one after, without tcgen05.fence::before_thread_sync and "     \
    "::after_thread_sync between")                                             \
  X(TmemPipeline, "tmem.not-pipelined", Strict,                                \
    "operations on the same tensor memory whose order only the order of the "  \
    "queue makes: they are no pair that the ISA pipelines")                    \
  X(TmemLane, "tmem.lane", Error,                                              \
    "always: lanes that the warp cannot access, or that the operation cannot " \
    "begin at")                                                                \
  X(TmemRow, "tmem.lane-of-pair", Strict,                                      \
    "the second CTA of a pair accesses its lanes as those from 128 on")        \
  X(TmemColumn, "tmem.column", Error,                                          \
    "always: columns that the CTA has not allocated")                          \
  X(TmemAddress, "tmem.address-differs", Error,                                \
    "always: an operand of a warp's instruction is not the same in all lanes") \
  X(TmemAlloc, "tmem.alloc", Error,                                            \
    "always: an allocation of a wrong size, of more columns than the last, "   \
    "or after the permit was given up; a dealloc of what is not allocated")    \
  X(TmemLeak, "tmem.leak", Error,                                              \
    "tensor memory is allocated when the CTA ends")                            \
  X(UninitTmem, "uninit.tmem", Error,                                          \
    "tensor memory is read that nothing has written since its allocation")     \
  X(UmmaInstruction, "umma.bad-idesc", Error,                                  \
    "always: an instruction descriptor that the kind does not have")           \
  X(UmmaDescriptor, "umma.bad-descriptor", Error,                              \
    "always: a descriptor without sm_100's version, with reserved bits, a "    \
    "base offset or no swizzle mode, or one that starts within the rows of "   \
    "its swizzle pattern")                                                     \
  X(UmmaBounds, "umma.bounds", Error,                                          \
    "always: an operand that leaves shared memory")                            \
  X(UmmaGroup, "umma.group-mixed", Error,                                      \
    "always: instructions of cta_group::1 and ::2 in one kernel, or ::2 "      \
    "without a pair of CTAs")                                                  \
  X(ExitUmma, "exit.umma-not-awaited", Error,                                  \
    "no thread knows at the end that an mma, cp or shift is complete")         \
  /* Warps. */                                                                 \
  X(WarpDivergent, "warp.divergent", Error,                                    \
    "always: not all lanes of a warp execute an .aligned instruction or take " \
    "a .uni branch")                                                           \
  X(WarpMask, "warp.bad-mask", Error,                                          \
    "always: lanes with differing masks, outside their mask, or of a mask "    \
    "and "                                                                     \
    "never there")                                                             \
  X(WarpAbsent, "warp.absent-lane", Error,                                     \
    "always: a lane reads from one that does not take part")                   \
  /* Named barriers. */                                                        \
  X(BarrierId, "barrier.bad-id", Error, "always: no barrier 0 to 15")          \
  X(BarrierCount, "barrier.bad-count", Error,                                  \
    "always: a count that is no multiple of 32 or more than the CTA has")      \
  X(BarrierDiffers, "barrier.count-differs", Error,                            \
    "always: arrivals of one phase with different counts")                     \
  X(BarrierLanes, "barrier.lanes-differ", Error,                               \
    "always: the lanes of a warp name different barriers or counts")           \
  X(BarrierTwice, "barrier.double-arrival", Error,                             \
    "a warp arrives twice in a phase without waiting")                         \
  X(BarrierExited, "barrier.exited-warps", Error,                              \
    "always: a barrier waits for warps that have ended")                       \
  /* setmaxnreg. */                                                            \
  X(RegistersPool, "setmaxnreg.pool", Error,                                   \
    "always: more registers are wanted than others will give back")            \
  X(RegistersWay, "setmaxnreg.wrong-way", Error,                               \
    "always: inc to fewer or dec to more")                                     \
  X(RegistersGroup, "setmaxnreg.partial-group", Error,                         \
    "sm_100: strict: the warps of a warpgroup do not execute the same "        \
    "setmaxnreg")                                                              \
  X(RegistersUnknown, "setmaxnreg.unknown-count", Slow,                        \
    "setmaxnreg in a kernel whose directives do not fix its register count: "  \
    "the assembler ignores it")                                                \
  /* Progress. */                                                              \
  X(Deadlock, "progress.deadlock", Error, "always: no warp can run")           \
  X(Livelock, "progress.livelock", Error,                                      \
    "always: no end within the budget of instructions")

enum class Rule : uint8_t {
#define ATTN_SIM_RULE(name, id, severity, text) name,
  ATTN_SIM_RULES(ATTN_SIM_RULE)
#undef ATTN_SIM_RULE
};

constexpr unsigned kRules = 0
#define ATTN_SIM_RULE(name, id, severity, text) +1
    ATTN_SIM_RULES(ATTN_SIM_RULE)
#undef ATTN_SIM_RULE
    ;

struct RuleInfo {
  const char *id;
  Severity severity;
  const char *text;
};

const RuleInfo &getRuleInfo(Rule rule);

/// Whether a rule of severity Error is Strict for sm_100 and later, since
/// kernels that are known to work there break it.
bool isStrictOnBlackwell(Rule rule);

/// The rule that an mbarrier operation broke; not of Ok.
Rule ruleOf(MbarrierStatus status);

/// " [race.shared]", the end of a report.
std::string ruleSuffix(Rule rule);

} // namespace attn::sim

#endif // ATTN_SIM_HAZARDS_RULES_H
