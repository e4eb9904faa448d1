// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which mutants of short kernels there are, and their texts.

#include "mutant.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::mutation;

namespace {

class Mutants : public testing::Test {
protected:
  void parse(const std::string &body, const std::string &plan = "") {
    bundle.plan = plan;
    bundle.ptx = ".version 8.0\n.target sm_90a\n.address_size 64\n"
                 ".extern .shared .align 1024 .b8 smem[];\n"
                 ".visible .entry kernel(.param .u64 out)\n{\n"
                 ".reg .pred %p<32>;\n.reg .b32 %r<256>;\n"
                 ".reg .b64 %rd<32>;\n" +
                 body + "\n}\n";
    sim::Diagnostic diagnostic;
    ASSERT_TRUE(sim::ptx::parse(bundle.ptx, module, diagnostic))
        << diagnostic.text();
    mutants = enumerateMutants(bundle, module);
  }

  std::vector<std::string> names(const std::string &kind) const {
    std::vector<std::string> found;
    for (const Mutant &mutant : mutants) {
      if (mutant.site.compare(0, kind.size() + 1, kind + ".") == 0) {
        found.push_back(mutant.site + ":" + mutant.operation);
      }
    }
    return found;
  }

  /// The body of a mutant, which also has to be PTX.
  std::string body(const std::string &name) const {
    for (const Mutant &mutant : mutants) {
      if (mutant.site + ":" + mutant.operation != name) {
        continue;
      }
      std::string text = applyMutant(bundle, module, mutant).ptx;
      sim::ptx::Module again;
      sim::Diagnostic diagnostic;
      EXPECT_TRUE(sim::ptx::parse(text, again, diagnostic))
          << diagnostic.text();
      text = text.substr(text.find("%rd<32>;\n") + 9);
      text.erase(std::remove(text.begin(), text.end(), '\t'), text.end());
      return text.substr(0, text.rfind("}\n"));
    }
    ADD_FAILURE() << "no mutant " << name;
    return "";
  }

  runtime::Bundle bundle;
  sim::ptx::Module module;
  std::vector<Mutant> mutants;
};

using Names = std::vector<std::string>;

const char *const kWait = "{\n.reg .pred done;\nagain:\n"
                          "mbarrier.try_wait.parity.shared::cta.b64 done, "
                          "[%r1], %r2;\n@!done bra again;\n}";

TEST_F(Mutants, KnowWhatRunsOnce) {
  const std::string fence = "fence.proxy.async;\n";
  parse(fence + "loop:\n" + fence + "@%p0 bra end;\n" + kWait +
        "\n@%p1 bra other;\n" + fence + "bra loop;\nother:\n" + fence +
        "ret;\nend:\n" + fence + kWait);
  std::vector<bool> once;
  for (const Mutant &mutant : mutants) {
    if (mutant.operation == "drop") {
      once.push_back(mutant.once);
    }
  }
  EXPECT_EQ(once,
            (std::vector<bool>{true, false, false, false, true, true, true}));
}

TEST_F(Mutants, KnowWhatIsUsedOnce) {
  const std::string add = "add.s32 %r1, %r3, 8;\n";
  const std::string use = "mbarrier.arrive.shared.b64 _, [%r1];\n";
  auto isOnce = [&](const std::string &body) {
    parse(body);
    return mutants.front().once;
  };
  EXPECT_TRUE(isOnce(use + "ret;"));
  EXPECT_FALSE(isOnce("loop:\n" + use + "bra loop;"));
  parse(add + use + "loop:\n@%p0 bra loop;");
  EXPECT_TRUE(mutants.back().once) << mutants.back().before;
  parse(add + "loop:\n" + use + "@%p0 bra loop;");
  EXPECT_FALSE(mutants.back().once) << mutants.back().before;
}

TEST_F(Mutants, LaunchWait) {
  parse("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;");
  EXPECT_EQ(names("launch-wait"), (Names{"launch-wait.1:drop"}));
  EXPECT_EQ(body("launch-wait.1:drop"), "griddepcontrol.launch_dependents;\n");
}

TEST_F(Mutants, Wait) {
  parse(kWait);
  EXPECT_EQ(names("wait"), (Names{"wait.1:drop", "wait.1:once", "wait.1:parity",
                                  "wait.1:address-8", "wait.1:address+8"}));
  EXPECT_EQ(body("wait.1:drop"), "");
  EXPECT_EQ(body("wait.1:once"),
            "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta"
            ".b64 done, [%r1], %r2;\n}\n");
  EXPECT_NE(body("wait.1:parity")
                .find("xor.b32 mutated, %r2, 1;\nmbarrier.try_wait.parity"
                      ".shared::cta.b64 done, [%r1], mutated;"),
            std::string::npos);
  EXPECT_NE(body("wait.1:address+8").find("[%r1+8], %r2"), std::string::npos);
}

TEST_F(Mutants, Arrive) {
  parse("mbarrier.arrive.shared.b64 %rd1, [smem+16];\n"
        "mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 256;");
  EXPECT_EQ(names("arrive"),
            (Names{"arrive.1:drop", "arrive.1:twice", "arrive.1:address-8",
                   "arrive.1:address+8"}));
  EXPECT_EQ(names("expect"),
            (Names{"expect.1:drop", "expect.1:twice", "expect.1:address-8",
                   "expect.1:address+8", "expect.1:bytes-16",
                   "expect.1:bytes+16", "expect.1:no-bytes"}));
  EXPECT_NE(body("expect.1:bytes+16").find("[smem], 272;"), std::string::npos);
  EXPECT_NE(body("expect.1:no-bytes")
                .find("mbarrier.arrive.shared.b64 %rd2, [smem];"),
            std::string::npos);
  EXPECT_EQ(body("arrive.1:drop"),
            "mbarrier.arrive.expect_tx.shared.b64 %rd2, [smem], 256;\n");
}

TEST_F(Mutants, FenceCommitAndGroupWait) {
  parse("fence.proxy.async.shared::cta;\nwgmma.fence.sync.aligned;\n"
        "wgmma.commit_group.sync.aligned;\n"
        "wgmma.wait_group.sync.aligned 1;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;");
  EXPECT_EQ(names("fence"), (Names{"fence.1:drop", "fence.2:drop"}));
  EXPECT_EQ(names("commit"), (Names{"commit.1:drop", "commit.2:drop"}));
  EXPECT_EQ(names("wgmma-wait"),
            (Names{"wgmma-wait.1:drop", "wgmma-wait.1:count+1"}));
  EXPECT_EQ(
      names("bulk-wait"),
      (Names{"bulk-wait.1:drop", "bulk-wait.1:count+1", "bulk-wait.1:read"}));
  EXPECT_NE(body("wgmma-wait.1:count+1").find("wait_group.sync.aligned 2;"),
            std::string::npos);
}

TEST_F(Mutants, Products) {
  parse("tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd2, %rd3, %r4, %p5;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r2], %rd3, %r4, 1;");
  EXPECT_EQ(names("umma").size(), 29u + 24u);
  EXPECT_EQ(names("accumulate"),
            (Names{"accumulate.1:negate", "accumulate.2:negate"}));
  EXPECT_NE(body("accumulate.2:negate").find("%rd3, %r4, 0;"),
            std::string::npos);
  EXPECT_NE(body("umma.1:d-column+8").find("[%r1+8], %rd2"), std::string::npos);
  EXPECT_NE(body("umma.2:a-lane+16").find("[%r2+1048576], %rd3"),
            std::string::npos);
  EXPECT_NE(body("umma.1:b-stride+16")
                .find("add.s64 mutated, %rd3, 4294967296;\n"
                      "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd2, "
                      "mutated, %r4, %p5;"),
            std::string::npos);
  EXPECT_NE(body("umma.1:n+8").find("add.s32 mutated, %r4, 131072;"),
            std::string::npos);
}

TEST_F(Mutants, TensorMemory) {
  parse("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 64;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];\n"
        "tcgen05.wait::ld.sync.aligned;\n"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};\n"
        "tcgen05.wait::st.sync.aligned;\n"
        "tcgen05.fence::before_thread_sync;\n"
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd1];\n"
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;");
  EXPECT_EQ(names("columns"),
            (Names{"columns.1:drop", "columns.1:twice", "columns.1:half",
                   "columns.1:double", "columns.1:one-more", "columns.2:drop",
                   "columns.2:twice", "columns.2:half", "columns.2:double",
                   "columns.2:one-more"}));
  EXPECT_EQ(names("permit"), (Names{"permit.1:drop"}));
  EXPECT_EQ(names("tensor-load"),
            (Names{"tensor-load.1:drop", "tensor-load.1:column-8",
                   "tensor-load.1:column+8", "tensor-load.1:lane+32"}));
  EXPECT_EQ(names("tensor-store").size(), 4u);
  EXPECT_EQ(names("tensor-wait"),
            (Names{"tensor-wait.1:drop", "tensor-wait.2:drop"}));
  EXPECT_EQ(names("tensor-fence"), (Names{"tensor-fence.1:drop"}));
  EXPECT_EQ(names("commit"),
            (Names{"commit.1:drop", "commit.1:twice", "commit.1:address-8",
                   "commit.1:address+8"}));
  EXPECT_NE(body("columns.2:half").find("%r2, 32;"), std::string::npos);
  // Neighbors change places, but for a load and what uses it.
  EXPECT_FALSE(names("order").empty());
}

TEST_F(Mutants, NamedBarrier) {
  parse("bar.sync 0;\nbar.sync 1, 128;\nbar.sync 2, 256;\nbar.arrive 3, 256;");
  // A second barrier where all threads wait is no fault.
  EXPECT_EQ(
      names("bar-sync"),
      (Names{"bar-sync.1:drop", "bar-sync.1:id+1", "bar-sync.2:drop",
             "bar-sync.2:id+1", "bar-sync.2:threads-32",
             "bar-sync.2:threads+32", "bar-sync.2:arrive", "bar-sync.3:drop",
             "bar-sync.3:twice", "bar-sync.3:id+1", "bar-sync.3:threads-32",
             "bar-sync.3:threads+32", "bar-sync.3:arrive"}));
  EXPECT_NE(body("bar-arrive.1:sync").find("bar.sync 3, 256;"),
            std::string::npos);
}

TEST_F(Mutants, ClusterBarrier) {
  parse("barrier.cluster.arrive;\nbarrier.cluster.wait;\nbar.sync 2, 64;\n"
        "mapa.shared::cluster.u32 %r2, %r1, 1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [%r2];");
  EXPECT_EQ(names("cluster-arrive"),
            (Names{"cluster-arrive.1:drop", "cluster-arrive.1:twice"}));
  EXPECT_EQ(names("cluster-wait"),
            (Names{"cluster-wait.1:drop", "cluster-wait.1:twice"}));
  EXPECT_EQ(names("bar-sync").size(), 5U);
  // The other CTA's barrier comes from another rank.
  EXPECT_EQ(names("stage"),
            (Names{"stage.1:operand2-1", "stage.1:operand2+1"}));
}

TEST_F(Mutants, Flags) {
  parse("atom.global.inc.u32 %r1, [%rd1], %r2;\n"
        "atom.shared.or.b32 %r1, [smem], 1;\n"
        "$L1:\nld.acquire.gpu.global.b32 %r1, [%rd1];\n"
        "setp.ne.b32 %p1, %r1, 2;\n@%p1 bra $L1;\n"
        "st.relaxed.gpu.global.b32 [%rd1], 0;\nfence.acq_rel.gpu;");
  EXPECT_EQ(names("atomic"),
            (Names{"atomic.1:drop", "atomic.1:twice", "atomic.1:value+1",
                   "atomic.1:cta", "atomic.2:drop", "atomic.2:twice",
                   "atomic.2:value+1"}));
  EXPECT_EQ(names("flag"),
            (Names{"flag.1:once", "flag.1:relaxed", "flag.1:cta", "flag.2:drop",
                   "flag.2:value+1", "flag.2:cta"}));
  EXPECT_EQ(names("scope"), (Names{"scope.1:cta"}));
  EXPECT_NE(body("atomic.1:cta").find("atom.relaxed.cta.global.inc.u32 %r1"),
            std::string::npos);
  EXPECT_EQ(body("flag.1:once").find("bra"), std::string::npos);
  EXPECT_NE(body("flag.1:relaxed").find("ld.relaxed.gpu.global.b32 %r1"),
            std::string::npos);
  EXPECT_NE(body("flag.2:value+1").find("[%rd1], 1;"), std::string::npos);
  EXPECT_NE(body("scope.1:cta").find("fence.acq_rel.cta;"), std::string::npos);
}

TEST_F(Mutants, FloatsAreAddedTwice) {
  parse("atom.global.add.f32 %r1, [%rd1], %r2;");
  EXPECT_EQ(names("atomic"), (Names{"atomic.1:drop", "atomic.1:twice",
                                    "atomic.1:double", "atomic.1:cta"}));
  EXPECT_NE(body("atomic.1:double").find("%r2, 8388608;"), std::string::npos);
}

TEST_F(Mutants, Registers) {
  parse("setmaxnreg.dec.sync.aligned.u32 40;");
  EXPECT_EQ(names("registers"),
            (Names{"registers.1:drop", "registers.1:count-8",
                   "registers.1:count+8"}));
  EXPECT_EQ(body("registers.1:count+8"),
            "setmaxnreg.dec.sync.aligned.u32 48;\n");
}

TEST_F(Mutants, Init) {
  parse("mbarrier.init.shared.b64 [smem], 8;");
  EXPECT_EQ(names("init"), (Names{"init.1:drop", "init.1:twice",
                                  "init.1:count-1", "init.1:count+1"}));
  EXPECT_EQ(body("init.1:count-1"), "mbarrier.init.shared.b64 [smem], 7;\n");
}

TEST_F(Mutants, NeighborsChangePlaces) {
  parse("wgmma.wait_group.sync.aligned 0;\n@%p1 bra $L1;\n"
        "mbarrier.arrive.shared.b64 %rd1, [smem];\n$L1:\nbar.sync 0;");
  EXPECT_EQ(names("order"), (Names{"order.1:swap", "order.2:swap"}));
  EXPECT_EQ(body("order.1:swap"),
            "@%p1 bra $L1;\nmbarrier.arrive.shared.b64 %rd1, [smem];\n$L1:\n"
            "wgmma.wait_group.sync.aligned 0;\nbar.sync 0;\n");
}

TEST_F(Mutants, NeighborsStayBehindWhatTheyNeed) {
  // The wait's address is computed behind the fence, which can move.
  parse("fence.proxy.async.shared::cta;\nadd.s32 %r1, %r3, 8;\n" +
        std::string(kWait));
  EXPECT_EQ(body("order.1:swap"), "add.s32 %r1, %r3, 8;\n" +
                                      std::string(kWait) +
                                      "\nfence.proxy.async.shared::cta;\n");
  // Neither can be moved: one's result is the other's address.
  parse("mbarrier.arrive.shared.b64 %rd1, [smem];\n"
        "mbarrier.arrive.shared.b64 %rd2, [%rd1];");
  EXPECT_EQ(names("order"), Names{});
}

TEST_F(Mutants, LoopsKeepNeighborsApart) {
  parse("fence.proxy.async.shared::cta;\n$L1:\nbar.sync 0;\n"
        "@%p1 bra $L1;\nbar.sync 1;");
  EXPECT_EQ(names("order"), Names{});
}

TEST_F(Mutants, Copy) {
  parse("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
        "complete_tx::bytes [smem], [%rd1, {0, %r1}], [smem+1024];");
  EXPECT_EQ(names("copy"),
            (Names{"copy.1:drop", "copy.1:twice", "copy.1:address+128",
                   "copy.1:coordinate0-1", "copy.1:coordinate0+1",
                   "copy.1:coordinate1-1", "copy.1:coordinate1+1",
                   "copy.1:barrier+8"}));
  EXPECT_NE(body("copy.1:coordinate0-1").find("{-1, %r1}"), std::string::npos);
  EXPECT_NE(body("copy.1:coordinate1+1").find("add.s32 mutated, %r1, 1;"),
            std::string::npos);
}

TEST_F(Mutants, Matrix) {
  parse("{\n.reg .pred yes;\n.reg .b32 high;\n.reg .b64 base, desc;\n"
        "mov.b32 high, 1073741888;\nsetp.eq.b32 yes, 0, 0;\n"
        "mov.b64 base, {%r9, high};\n"
        "wgmma.fence.sync.aligned;\nadd.s64 desc, base, 2;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r1, %r2, %r3, "
        "%r4}, desc, desc, yes, 1, 1, 0, 0;\n"
        "wgmma.commit_group.sync.aligned;\n}");
  EXPECT_EQ(names("accumulate"), (Names{"accumulate.1:negate"}));
  EXPECT_EQ(names("descriptor"),
            (Names{"descriptor.1:stride-16", "descriptor.1:stride+16",
                   "descriptor.1:base+1", "descriptor.1:swizzle-1",
                   "descriptor.1:swizzle+1", "descriptor.2:operand2-1",
                   "descriptor.2:operand2+1", "descriptor.2:skip"}));
  EXPECT_NE(body("descriptor.1:swizzle+1").find("mov.b32 high, 2147483712;"),
            std::string::npos);
  EXPECT_NE(body("descriptor.2:skip").find("mov.b64 desc, base;"),
            std::string::npos);
  EXPECT_NE(body("accumulate.1:negate").find("not.pred mutated, yes;"),
            std::string::npos);
  // The fence behind, and the commit before, the multiplication.
  EXPECT_EQ(names("order"), (Names{"order.1:swap", "order.2:swap"}));
}

TEST_F(Mutants, RingCounter) {
  parse("add.s32 %r1, %r1, 1;\nsetp.eq.b32 %p1, %r1, 3;\n"
        "selp.b32 %r1, 0, %r1, %p1;\nselp.b32 %r3, 1, 0, %p1;\n"
        "xor.b32 %r2, %r2, %r3;\nshl.b32 %r4, %r1, 3;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], %r2;");
  // What the parity is computed from is found first.
  EXPECT_EQ(
      names("phase"),
      (Names{"phase.1:operand2-1", "phase.1:operand2+1", "phase.1:skip",
             "phase.2:operand2-1", "phase.2:operand2+1", "phase.2:negate",
             "phase.3:operand1-1", "phase.3:operand1+1", "phase.3:exchange",
             "phase.4:operand1-1", "phase.4:operand1+1", "phase.4:operand2-1",
             "phase.4:operand2+1", "phase.4:exchange", "phase.5:skip"}));
  EXPECT_EQ(names("stage"), (Names{"stage.1:operand2-1", "stage.1:operand2+1",
                                   "stage.1:skip"}));
}

TEST_F(Mutants, Mask) {
  parse("add.s32 %r1, %r2, 9;\nsetp.lt.s32 %p1, %r1, %r3;\n"
        "selp.f32 %r4, %r5, 0fFF800000, %p1;");
  EXPECT_EQ(names("mask"),
            (Names{"mask.1:operand2-1", "mask.1:operand2+1", "mask.1:skip",
                   "mask.2:compare", "mask.2:negate"}));
  EXPECT_NE(body("mask.2:compare").find("setp.le.s32"), std::string::npos);
  EXPECT_NE(body("mask.2:negate").find("setp.ge.s32"), std::string::npos);
}

TEST_F(Mutants, Guard) {
  parse("@%p1 bra $L1;\nbar.sync 0;\n$L1:\nret;");
  EXPECT_EQ(names("guard"),
            (Names{"guard.1:never", "guard.1:always", "guard.1:negate"}));
  EXPECT_NE(body("guard.1:negate").find("@!%p1 bra $L1;"), std::string::npos);
}

TEST_F(Mutants, Plan) {
  parse("ret;", "{\"dims\":[{\"box\":64},{\"box\":1}],\"swizzle\":128}");
  EXPECT_EQ(names("map-swizzle"),
            (Names{"map-swizzle.1:swizzle=0", "map-swizzle.1:swizzle=32",
                   "map-swizzle.1:swizzle=64"}));
  EXPECT_EQ(names("map-box"), (Names{"map-box.1:half", "map-box.1:box-8"}));
  EXPECT_EQ(applyMutant(bundle, module, mutants.front()).plan,
            "{\"dims\":[{\"box\":64},{\"box\":1}],\"swizzle\":0}");
}

} // namespace
