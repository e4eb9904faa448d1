#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits legal schedule files into illegal ones, one at a time, and shows that
attn-compile refuses each: exit status 1, a message with the rule and the name of
the step or place, and no output file."""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(os.path.dirname(HERE), "Inputs", "causal_d128.mlir")
BASE = "rescale_before_pv"

HEAD_DIMS = ("head_dim 64, 64", "head_dim 128, 128")

# The fault; edits as (old, new) pairs; text that the message has to contain; the file.
CASES = [
    ("a ring of one slot for K and V, which are held at once",
     [("depth 4", "depth 1")], "V18: .*deadlock with 'load' at .*the free barrier of 'kv'", "union_ring"),
    ("blocks skipped in a ring that mixes those of K and V",
     [("knob peel first_masked", "knob peel first_masked\n  knob skip right")],
     "V27: expected one shift of the waits for 'kv' in the loop of role 'wg.0.', which skips blocks, got 0 and 1", "union_ring"),
    ("K waited for twice", [("score mask", "score get(k) mask")], "V7: expected role 'wg.0.' to take the cycles of 'k' in the order .*cycle 0 after 0"),
    ("Q waited for in the loop and before it", [("score mask", "score get(q) mask")], "V7: expected role 'wg.0.' to take the cycles of 'q' in the order .*cycle 0 after 0"),
    ("a turn given before it is taken in a block that is skipped",
     [HEAD_DIMS, ("take(tc) + 1 ", ""), ("give(tc) + 1 ", ""), ("pv + 1", "give(tc) + 1 take(tc) pv + 1")],
     "V17: expected phase 1 of edge 'tc of wg.0.'(.|\n)*with work items of 1 iterations, of which the first sub-tile skips 1", "skip_right"),
    ("a step left out", [(" exp sum ", " exp ")], "V5: .*'lf'"),
    ("a tile of O overwritten before the store of the last one is awaited", [("await(st_o) + 1 cvt_o", "cvt_o await(st_o) + 1")],
     "V8: expected 'st_o.*to find 'oe.*got 'oe.*work item 1", "dynamic_d128"),
    ("a store that is never awaited", [("await(st_o) + 1 ", "")], "V19: expected 'st_o.*to end", "dynamic_d128"),
    ("a store left out", [(" st_o st_lse", " st_o")], "V2: expected 'st_lse.*got 0 runs"),
    ("a load left out", [(" ld_v + 1", "")], "V5: .*'v'"),
    ("the mask left out", [(" mask ", " ")], "V5: .*'s2'"),
    ("a step twice", [(" exp sum ", " exp sum sum ")], "V2: expected 'sum.*got 2 runs"),
    ("a load twice", [(" ld_v + 1", " ld_v + 1 ld_v + 1")], "V2: expected 'ld_v'.*got 2 runs"),
    ("a step that is not there", [(" exp sum ", " exp dropout sum ")], "V1: .*'dropout'"),
    ("a value that is not there", [("chan v = v ", "chan v = w2 ")], "V1: .*'v'.*'w2'"),
    ("a turn that is not there", [("take(tc)", "take(td)")], "V1: .*'td'"),
    ("PV before its P", [("get(v) + 1", "get(v)"), ("pv + 1", "pv"), ("rescale + 1 ", "")], "V(2|5|8|20): "),
    ("the product of this block before its softmax", [("get(v) + 1 take(tc) + 1 pv + 1", "get(v) take(tc) + 1 pv")],
     "V8: expected 'pv.*to find 'p", "pv_before_qk"),
    ("exp2 before the maximum", [(" stat exp ", " exp stat ")], "V8: expected 'exp.*to find 's3"),
    ("more shared memory than there is", [("tile_n = 96", "tile_n = 128")], "V11: expected at most 232448 bytes of shared memory, got 262", "ring_depth_3"),
    ("more registers than a thread has", [("tile_n = 64", "tile_n = 128")],
     "V13: expected places in registers to take at most 128 a thread, got 160 for 'p', 's', 'o'", "three_consumers"),
    ("more registers than the machine has", [("regs 232", "regs 256")], "V13: expected at most 65536 registers over all roles, got"),
    ("more warps than a CTA has", [("warps 4 regs 232", "warps 16 regs 56")], "V13: expected at most 32 warps over all roles, got 36"),
    ("a second group of warps for a role that stands apart",
     [("  role load_v warps 1 regs 40\n", ""), ("warps 4 regs 232", "warps 4 regs 232\n  role load_v warps 1 regs 40")],
     "V13: expected at most 65536 registers over all roles, got 69632", "two_loaders"),
    ("roles of one group of warps with other registers", [("role load_v warps 1 regs 40", "role load_v warps 1 regs 32")],
     "V13: expected roles 'load' and 'load_v', which share a warpgroup, to agree on registers, got 40 and 32", "two_loaders"),
    ("more named barriers than there are, with those of stores", [("  turn tc ring wg\n", "".join(f"  turn t{i} ring wg\n" for i in range(6)) + "  turn tc ring wg\n")],
     "V14: expected at most 16 named barriers and 128 in memory, got 17 and 10"),
    ("more barriers in memory than there are, with those of verdicts", [("chan work = w in smem depth 2", "chan work = w in smem depth 64")],
     "V14: expected at most 16 named barriers and 128 in memory, got 5 and 14[0-9]", "dynamic_d128"),
    ("a number of registers that cannot be set", [("regs 232", "regs 228")], "V13: expected role 'wg'.*228"),
    ("a turn that nobody gives first", [("ring wg", "ring wg unprimed")], "V18: .*'tc of wg"),
    ("a turn taken and not given", [(" give(tc) + 1", "")], "V6: .*'tc of wg"),
    ("V without a place", [("  chan v = v in smem depth 2\n", "")], "V20: .*'v' of 'pv'"),
    ("K that nobody says is free", [("chan k = k in smem depth 2", "chan k = k in smem depth 2 free_implied")], "V9: .*'ld_k'"),
    ("a place in a space of another machine", [("hold s = s in reg", "hold s = s in tmem")], "V20: .*'s'.*'tmem'"),
    ("replicas that are no sub-tiles", [("wg[2]", "wg[3]")], "V3: expected role 'wg'.*2 sub-tiles, got 3"),
    ("O staged over V without the rendezvous", [("sync(drain) ", ""), ("  sync drain ring wg\n", "")], "V9: ", "o_over_v"),
    ("O staged over V without a signal", [(" sig(o_free)", "")], "V6: .*'o_free'", "o_over_v"),
    ("the O of the item before under V", [("credits 1", "credits 0")], "V18: .*'o_free'", "o_over_v_static"),
    ("another head dim", [("head_dim 96, 96", "head_dim 64, 64")], "head dims 128 and 128.*got .*head dims 64 and 64", "head_dim_96"),
    ("another machine", [("sm_90a", "sm_100a")], "machine 'sm_90a', got 'sm_100a'"),
    ("a machine that is not there", [("sm_90a", "sm_99z")], "machine 'sm_90a', got 'sm_99z'"),
    ("items of a counter that every role asks for itself", [("role load", "remat(next)\n  role load"), ("before { next }", "")],
     "V26: expected one role to run 'next'.*got 'remat next'", "dynamic_d128"),
    ("items that a role computes once more in its body", [("body load {", "body load {\n    before { next }")],
     "V26: expected 'remat next' alone to run 'next', got it in the body of role 'load' too"),
    ("items of a counter that nobody hands on", [("  chan work = w in smem depth 2\n", "")], "V26: expected a channel of 'w'", "dynamic_d128"),
    ("a work item that nobody says is free", [("w in smem depth 2", "w in smem depth 2 free_implied")], "V17: .*the full barrier of 'work'", "dynamic_d128"),
    ("K and V shared by a cluster of one CTA", [(", cluster = 2", "")], "V25: expected a cluster of at least 2 CTAs for 'k' of scope 'cluster', got 1", "cluster_d128"),
    ("Q, which each CTA has its own of, shared by a cluster", [("chan q = q in smem depth 2", "chan q = q in smem depth 2 scope cluster")],
     "V25: expected 'q' of scope 'cluster' to be a channel of values that are loaded in every iteration, got 'q'", "cluster_d128"),
    ("K shared by a pair", [("scope cluster", "scope pair")], "V25: expected 'k' to have scope 'cta' or 'cluster', got 'pair'", "cluster_d128"),
    ("K that nobody says is free in the other CTA", [("chan k = k in smem depth 2 scope", "chan k = k in smem depth 2 free_implied scope")], "V9: .*'ld_k'.* of CTA", "cluster_d128"),
    ("O staged over V that the other CTA fills", [("credits 1 scope cluster", "credits 1")], "V9: .*of CTA [01].*of CTA [01]", "cluster_d256"),
    ("more registers than the CTA is launched with", [("regs 40", "regs 48")],
     "V13: expected at most 64512 registers over all roles, with which 384 threads are launched, got 65536", "no_overlap"),
    ("parts of items that nothing joins", [HEAD_DIMS, ("join fin", "fin")], "V5: .*'lj'", "last_wave"),
    ("parts joined after the sums are final", [HEAD_DIMS, ("join fin", "fin join")], "V8: expected 'fin.*to find 'lj", "last_wave"),
    ("parts joined in the loop over keys", [HEAD_DIMS, ("after { join", "after {"), ("cvt rescale }", "cvt rescale join }")], "V1: expected 'join' before or after the loop", "last_wave"),
    ("a join of items that are never cut", [HEAD_DIMS, (", last_wave_parts = 4", "")], "V1: .*'join'", "last_wave"),
    ("parts of items that are counted out", [("work = dynamic", "work = static"), ("first_block", "running")], "'last_wave_parts' to be 1 where 'work' is static, got 4", "last_wave"),
    ("parts of items of a cluster", [("parts = 4", "parts = 4, cluster = 2")], "'last_wave_parts' to be 1 where 'cluster' is 2, got 4", "last_wave"),
    ("sections of heads in an order that has none", [("longest_first", "linear")], "'section_mib' to be 0 where 'order' is linear", "dynamic_d128"),
    # Legal, but beyond what the compiler can lower today.
    ("exponentials through shared memory", [("tile_n = 128", "tile_n = 64"), ("  hold p = p in reg depth 1\n", "  hold p = p in reg depth 1\n  hold e = p32 in smem depth 1\n")], "V29: .*held_by_threads"),
    ("a first step that is no copy of its own", [("peel first_masked", "peel none")], r"V29: .*'peel none'"),
    ("text that ends early", [("knob peel first_masked", "")], None),
]

# The same of kernels of gradients: the file is one of the table's or of the inputs, and the last field the kernel's source.
TABLE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "passes", "schedule", "data", "schedules", "sm_90a")
ORDERED, DQ, DK_DV = (("bwd_ordered_d128", "bwd_ordered_d128"), ("bwd_dq_d128", "bwd_dq_d128"), ("bwd_dk_dv_d128", "bwd_dk_dv_d128"))
ANY, PERSISTENT = (os.path.join(os.path.dirname(SOURCE), "bwd_d128_80"), "bwd_d128"), ("bwd_d128_none", "bwd_d128")
ADDING = "  body add {\n    kv { wait(dq_full) red_dq[0] red_dq[1] await(red_dq[1]) sig(dq_free) }\n  }\n"
TRANSPOSED = ("bwd_ordered_d128_none", "bwd_ordered_d128")
BACKWARD = [
    ("dX read before both warpgroups have put theirs", [("sync(put) + 1 ", "")], r"V8: expected 'mm_dq\[0\]'.* to read 'dss\[1\]'.* after 'put_ds\[1\]'", *ORDERED),
    ("dX put where the block before is read", [("dss in smem depth 2", "dss in smem depth 1")], r"V9: expected 'put_ds\[1\]'.* to overwrite 'dss\[1\]'", *ORDERED),
    ("a turn that nobody waits for", [("wait(turn) + 1 ", "")], "V6: expected edge 'turn'.*got no wait", *ORDERED),
    ("additions that nobody signals", [("sig(added) + 1 ", "")], "V6: expected edge 'added'.*got no signal", *ORDERED),
    ("transposed shares added before their turn", [("wait(turn) red_dq", "red_dq wait(turn)")], "V30: expected edges", *TRANSPOSED),
    ("additions without turns", [("wait(turn) + 1 ", ""), ("sig(turn) ", ""), ("  edge turn credits 0\n", "")], "V30: expected edges", *ORDERED),
    ("additions signalled before they are made", [("red_dq + 1 sig(added) + 1", "sig(added) + 1 red_dq + 1")], "V30: expected edges", *ORDERED),
    ("additions signalled a block early", [("sig(added) + 1", "sig(added)")], "V30: expected edges", *ORDERED),
    ("a first turn for nothing", [("edge turn credits 0", "edge turn credits 1")], "V30: expected edges", *ORDERED),
    ("a turn passed on once for nothing", [("edge added credits 0", "edge added credits 1")], "V30: expected edges", *ORDERED),
    ("a turn signalled before it has come", [("wait_dq sig(turn)", "sig(turn) wait_dq")], "V30: expected edges", *ORDERED),
    ("a turn passed on before it has come", [("wait_dq sig(turn) wait(added) pass_dq", "pass_dq wait_dq sig(turn) wait(added)")], "V30: expected edges", *ORDERED),
    ("additions awaited before the turn is signalled", [("sig(turn) wait(added)", "wait(added) sig(turn)")], "V18: .*deadlock with 'turns' at .*'added'", *ORDERED),
    ("a turn awaited a block early", [("wait(turn) + 1", "wait(turn)")], "V18: .*deadlock with 'turns' at", *ORDERED),
    ("dX put before all have read the last one", [("dss in smem depth 2", "dss in smem depth 1")], r"V9: expected 'put_ds\[[01]\]'.* to overwrite 'dss\[[01]\]'", *ANY),
    ("the meeting before dX is put", [("put_ds mm_dv sync(put)", "sync(put) put_ds mm_dv")], r"V8: expected 'mm_dqt.* to find 'dss", *ANY),
    ("a share added before it is put", [("wait(dq_full) red_dq[0]", "red_dq[0] wait(dq_full)")], r"V8: expected 'red_dq\[0\]'.* to find 'dqte", *ANY),
    ("a share put over one that may be read", [("wait(dq_free) ", ""), (" sig(dq_free)", ""), ("  edge dq_free credits 1\n", "")],
     r"V9: expected 'put_dqt.*to overwrite 'dqte", *ANY),
    ("memory of a share that is free before it is read", [("await(red_dq[1]) sig(dq_free)", "sig(dq_free) await(red_dq[1])")],
     r"V9: expected 'put_dqt.*to overwrite 'dqte", *ANY),
    ("the share of one warpgroup alone", [(" red_dq[1] await(red_dq[1])", " await(red_dq[0])")], r"V2: .*'red_dq", *ANY),
    ("transposed shares that their warps add", [("  role add warps 1 regs 24\n", ""), (ADDING, ""), ("  edge dq_full credits 0\n  edge dq_free credits 1\n", ""),
                                                ("wait(dq_free) put_dqt sig(dq_full)", "put_dqt red_dq await(red_dq)")],
     r"V29: .*an addition by 'red_dq' of a transposed hold by the warps of 'wg\[0\]' \('stored_elsewhere'\)", *ANY),
    ("delta read after its use", [("read(dl) dsoft", "dsoft read(dl)")], "V1: expected one 'read' of row vector 'dl', before the steps of role 'wg.*that use it, got it after 'dsoft'", *ANY),
    ("delta read twice", [("read(dl)", "read(dl) read(dl)")], "V1: expected one 'read' of row vector 'dl'.*got it twice", *ANY),
    ("delta read for the first block alone", [("read(dl)", "once : read(dl)")], "V1: expected one 'read' of row vector 'dl'.*got it under the guard 'once'", *ANY),
    ("a tile read into registers", [("read(dl)", "read(q)")], "V1: expected one 'read' of row vector 'q'.*got no row vector", *ANY),
    ("a row vector without a channel", [("read(dl)", "read(p)")], "V1: expected 'read' of a value that a channel carries, got 'p'", *ANY),
    ("delta read after the loop", [("after { sync(end)", "after { read(dl) sync(end)")], "V1: expected 'read' only in 'kv', got it of 'dl' outside", *ANY),
    ("delta read by the loader", [("ld_lse ld_dl }", "ld_lse ld_dl read(dl) }")], "V1: expected one 'read' of row vector 'dl', before the steps of role 'load' that use it, got no such step", *ANY),
    ("dK staged over K before all have read it", [("sync(end) ", ""), ("  sync end ring wg\n", "")], "V9: expected 'cvt_dk.*to overwrite 'k'", *ANY),
    ("K loaded while dK is stored from there", [("await(st_dk) sig(k_free)", "sig(k_free) await(st_dk)")], "V9: expected 'ld_k'.*to overwrite 'dke", *ANY),
    ("K loaded over dK without a signal", [("once : wait(k_free) ", ""), ("sig(k_free) ", ""), ("  edge k_free credits 1\n", "")], "V9: expected 'ld_k'.*to overwrite 'dke", *ANY),
    ("a first K that waits for a dK", [("k_free credits 1", "k_free credits 0")], "V18: .*deadlock with 'load' at .*'k_free'", *ANY),
    ("a signal that loads are issued, to nobody", [("    after { wait(issued) }\n", "")], "V6: expected edge 'issued'.*got no wait", *PERSISTENT),
    ("a wait for a signal that does not come", [("    after { sig(issued) }\n", "")], "V6: expected edge 'issued'.*got no signal", *PERSISTENT),
    ("a wait before the item is asked for", [("    before { next }\n    after { wait(issued) }\n", "    before { wait(issued) next }\n")],
     "V26: expected 'next' to be the first entry of 'before' in role 'items'", *PERSISTENT),
    ("dX of the next item over dK that is being stored", [(" sync(fin)", ""), ("  sync fin ring wg\n", "")],
     r"attn-verify-sync: V9: expected 'ws\.put' of role 'wg'.*\(work item 1\) to overwrite tile 0 of 'dke'", *PERSISTENT),
    ("dV over a share that is being added", [(" wait(dq_done)", ""), (" sig(dq_done)", ""), ("  edge dq_done credits 0\n", "")],
     r"V8: expected 'red_dq\[0\]'.* to find 'dqte\[0\]'.* got 'dve\[0\]'", *PERSISTENT),
    ("dK over dX that the other warpgroup reads", [("sync(end) sig(dq_end)", "sig(dq_end)"), ("  sync end ring wg\n", "")],
     r"V9: expected 'cvt_dk\[0\]'.* to overwrite 'dss\[0\]'", *PERSISTENT),
    ("dQ's store never awaited", [("await(st_dq) + 1 ", "")], "V19: expected 'st_dq", *DQ),
    ("statistics never awaited", [(" await(ld_dl)", "")], "V19: expected 'ld_lse", *DQ),
    ("a ring of K that nobody says is free", [("chan k = k in smem depth 2", "chan k = k in smem depth 2 free_implied")], "V9: expected 'ld_k'", *DQ),
    ("the product of dX before dX", [("cvt_ds mm_dq", "mm_dq cvt_ds")], "V8: expected 'mm_dq.*to find 'ds", *DQ),
    ("delta used before it is there", [("await(ld_dl) ", "")], "V8: expected 'dsoft.*to find 'dl", *DK_DV),
    ("P over dP, which is still read", [("hold p = p in reg over s", "hold p = p in reg over dp")], "V9: expected 'cvt_p.*to overwrite 'dp", *DK_DV),
]


def read(folder, name):
    with open(os.path.join(folder, name + ".mlir"), encoding="utf-8") as file:
        return file.read()


def write(args, name, text):
    path = os.path.join(args.temp, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def schedule_text(folder, base, edits):
    text = read(folder, base)
    for old, new in edits:
        if old not in text:
            sys.exit(f"{base}: has no '{old}' to replace")
        text = text.replace(old, new)
    return text


def problem_of(args, case):
    """The fault of the compiler's answer to one case, or None."""
    _, edits, wanted, *rest = case
    base, kernel = (rest + [BASE, None][len(rest):])
    text = schedule_text(TABLE if kernel else HERE, base, edits)
    if wanted is None:
        text, wanted = text[: len(text) * 2 // 3], "to be valid IR"
    source = SOURCE
    if kernel:
        source = write(args, "source.mlir", re.sub(r"mask\(\w+\)", "mask(none)", read(os.path.dirname(SOURCE), kernel)))
    schedule = write(args, "schedule.mlir", text)
    output = os.path.join(args.temp, "out.ptx")
    if os.path.exists(output):
        os.remove(output)
    run = subprocess.run([args.compiler, source, f"--schedule={schedule}", "--emit=ptx", "-o", output],
                         capture_output=True, text=True, timeout=60)
    if run.returncode != 1:
        return f"exit status {run.returncode}, not 1\n{run.stderr}"
    if os.path.exists(output):
        return "it wrote an output file"
    if "error:" not in run.stderr or not re.search(wanted, run.stderr):
        return f"expected a message with /{wanted}/, got\n{run.stderr}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--temp", required=True, help="folder to write into")
    args = parser.parse_args()
    os.makedirs(args.temp, exist_ok=True)
    wrong = 0
    for case in CASES + BACKWARD:
        problem = problem_of(args, case)
        if problem:
            wrong += 1
            print(f"{case[0]}: {problem}")
    print(f"{len(CASES + BACKWARD) - wrong} of {len(CASES + BACKWARD)} illegal schedules refused as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
