#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the probes on the simulator and compares what they write with what
run_on_gpu.py recorded; prints a table of each form, or with --summary the tables of
docs/simulator.md: the outcomes of the forms of each opcode, and the forms that are not identical.

A probe's rule says what may differ:
  exact       nothing
  ulps        "bound" units in the last place
  relative    "bound" times the result
  absolute    "bound"
  either      "absolute" or "relative"
NaNs agree with NaNs except where the rule is "exact". With "within", only rows
whose first operand is at most that far from zero count.

usage: compare.py [--sim attn-sim-probe] [--failures] [--summary] [--digests FILE]
                  DIR [results.json]

A probe that the device ends with an error agrees with a simulator that ends it
with one of its rules' names.

Without results it says which probes the simulator cannot run; with --digests, a
line "PROBE DIGEST" each, whether it still writes what a device wrote. With both
it writes that file, of the probes that agree bit by bit; "refused" stands for
the digest of those that neither runs.
"""

import argparse
import base64
import collections
import hashlib
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

# name: (bytes, exponent bits, fraction bits)
FORMATS = {"f16": (2, 5, 10), "bf16": (2, 8, 7), "f32": (4, 8, 23), "f64": (8, 11, 52)}


def value_of(bits, name):
    _, exponent_bits, fraction_bits = FORMATS[name]
    sign = -1.0 if bits >> exponent_bits + fraction_bits & 1 else 1.0
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    if exponent == (1 << exponent_bits) - 1:
        return math.nan if fraction else sign * math.inf
    bias = (1 << exponent_bits - 1) - 1
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp(fraction | 1 << fraction_bits, exponent - bias - fraction_bits)


def ordered(bits, name):
    """An integer that grows by 1 from each number of the format to the next."""
    size, _, _ = FORMATS[name]
    sign = 1 << 8 * size - 1
    return -(bits & sign - 1) if bits & sign else bits


def words(data, size):
    return struct.unpack("<%d%s" % (len(data) // size, {1: "B", 2: "H", 4: "I", 8: "Q"}[size]),
                         data)


def map_words(probe):
    """The words of a probe's tensor map for attn-sim-probe."""
    if "map" not in probe:
        return []
    arguments = probe["map"]
    words = [probe["map_of"], arguments["type"], arguments["rank"]]
    for field in ("dims", "strides", "box", "steps"):
        words += arguments[field]
    return words + [arguments[field] for field in ("interleave", "swizzle", "l2", "oob")]


def run_simulator(tool, folder, probes):
    """Returns the bytes that each probe wrote, or what went wrong as a string."""
    outputs = {}
    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        for number, probe in enumerate(probes):
            lines.append(" ".join(str(word) for word in [
                os.path.join(folder, probe["name"] + ".ptx"), os.path.join(folder, probe["input"]),
                os.path.join(scratch, str(number)), probe["rows"] * probe["out_row"],
                probe["rows"] // probe["threads"], probe["threads"], probe.get("cluster", 1)]
                + map_words(probe)))
        done = subprocess.run([tool], input="\n".join(lines) + "\n", stdout=subprocess.PIPE,
                              universal_newlines=True)
        answers = done.stdout.splitlines()
        for number, (probe, answer) in enumerate(zip(probes, answers)):
            if answer == "ok":
                with open(os.path.join(scratch, str(number)), "rb") as file:
                    outputs[probe["name"]] = file.read()
            else:
                outputs[probe["name"]] = answer
    if len(answers) != len(probes):
        sys.exit("%s ended at probe %s" % (tool, probes[len(answers)]["name"]))
    return outputs


def element_format(probe):
    """The format of a probe's results, or None of integers."""
    rule = probe["rule"]
    if "lanes" in rule:
        return rule["lanes"]
    if "format" in rule:
        return rule["format"]
    name = probe["form"].split()[0]
    kinds = [part for part in name.split(".") if part in FORMATS]
    size = int(probe["result"]) if probe["result"].isdigit() else 0
    return next((kind for kind in kinds if FORMATS[kind][0] == size), None)


def is_within(probe, folder):
    """For each row, whether it counts."""
    limit = probe["rule"].get("within")
    if limit is None:
        return [True] * probe["rows"]
    with open(os.path.join(folder, probe["input"]), "rb") as file:
        data = file.read()
    kind = probe["operands"].split()[0]
    size = FORMATS[kind][0]
    rows = [words(data[at:at + size], size)[0] for at in range(0, len(data), probe["in_row"])]
    return [abs(value_of(bits, kind)) <= limit for bits in rows]


def agrees(rule, wanted, got):
    """Whether the value `got` is near enough to `wanted`; both are not NaN."""
    if wanted == got:
        return True
    if math.isinf(wanted) or math.isinf(got):
        return False
    error = abs(wanted - got)
    if rule["rule"] == "absolute":
        return error <= 2 * rule["bound"]
    if rule["rule"] == "relative":
        return error <= 2 * rule["bound"] * abs(wanted)
    return error <= 2 * max(rule["absolute"], rule["relative"] * abs(wanted))


Result = collections.namedtuple("Result", "probe count same largest bad example")


def compare_words(probe, folder, wanted, got):
    """Compares the words of one probe. Errors are held to twice the rule's
    bound: both sides may err, to different sides."""
    name = element_format(probe)
    rule = probe["rule"]
    size = FORMATS[name][0] if name else (4 if probe["out_row"] % 4 == 0 else probe["out_row"])
    per_row = probe["out_row"] // size
    within = is_within(probe, folder)
    same = count = bad = largest = 0
    example = None
    for number, (one, other) in enumerate(zip(words(wanted, size), words(got, size))):
        if not within[number // per_row]:
            continue
        count += 1
        if one == other:
            same += 1
            continue
        good = False
        if name:
            one_value, other_value = value_of(one, name), value_of(other, name)
            if math.isnan(one_value) or math.isnan(other_value):
                good = math.isnan(one_value) == math.isnan(other_value) and rule["rule"] != "exact"
            else:
                distance = abs(ordered(one, name) - ordered(other, name))
                largest = max(largest, distance)
                good = (rule["rule"] == "ulps" and distance <= 2 * rule["bound"] or
                        rule["rule"] not in ("exact", "ulps") and
                        agrees(rule, one_value, other_value))
        if not good:
            bad += 1
            example = example or (number // per_row, one, other)
    return Result(probe, count, same, largest, bad, example)


def input_of(probe, folder, row):
    with open(os.path.join(folder, probe["input"]), "rb") as file:
        file.seek(row * probe["in_row"])
        return file.read(probe["in_row"])


def is_refusal(output):
    """Whether the simulator's answer is that the kernel breaks a rule."""
    return isinstance(output, str) and re.search(r" \[[a-z.-]+\]$", output) is not None


def kind_without_output(output, record):
    """The outcome of a probe that the simulator, the device or both did not run."""
    if "error" in record and is_refusal(output):
        return "refused by both"
    return "not simulated" if isinstance(output, str) else "not recorded"


def verdict(result):
    if result.same == result.count:
        return "identical"
    return "within its bound" if not result.bad else "**differs**"


def print_table(results, others, device):
    print("Device: %(device)s, %(arch)s, driver %(driver)d.\n" % device)
    print("| instruction | elements | identical | largest difference (ulp) | verdict |")
    print("|---|---|---|---|---|")
    for result in results:
        percent = 100.0 * result.same / max(result.count, 1)
        print("| `%s` | %d | %s | %s | %s |" % (
            result.probe["form"].replace("|", "\\|"), result.count,
            "100 %" if result.same == result.count else "%.2f %%" % min(percent, 99.99),
            result.largest if element_format(result.probe) else "", verdict(result)))
    for probe, kind, problem in others:
        print("| `%s` | | | | %s: %s |" % (probe["form"].replace("|", "\\|"), kind, problem))
    counts = collections.Counter(verdict(result).strip("*") for result in results)
    counts.update(kind for _, kind, _ in others)
    print("\n%d probes: %s." % (
        len(results) + len(others),
        ", ".join("%d %s" % (count, name) for name, count in sorted(counts.items()))))


def print_form(result):
    percent = 100.0 * result.same / max(result.count, 1)
    name = element_format(result.probe)
    print("| `%s` | %s | %.2f %% | %s | %s |" % (
        result.probe["form"].replace("|", "\\|"), result.probe["rule"]["rule"],
        min(percent, 99.99), result.largest if name else "", verdict(result)))


def print_summary(results, others, device):
    kinds = ["identical", "within its bound", "differs", "refused by both", "not simulated",
             "not recorded"]
    table = collections.defaultdict(collections.Counter)
    for result in results:
        table[result.probe["opcode"]][verdict(result).strip("*")] += 1
    for probe, kind, _ in others:
        table[probe["opcode"]][kind] += 1
    total = sum(table.values(), collections.Counter())
    print("Device: %(device)s, %(arch)s, driver %(driver)d.\n" % device)
    print("| opcode | forms | %s |" % " | ".join(kinds))
    print("|---" * (len(kinds) + 2) + "|")
    rows = [("`%s`" % opcode, table[opcode]) for opcode in sorted(table)] + [("all", total)]
    for name, counts in rows:
        print("| %s | %d | %s |" % (name, sum(counts.values()),
                                    " | ".join(str(counts[kind] or "") for kind in kinds)))
    print("\n| not identical | held to | elements identical | largest difference (ulp) | verdict |")
    print("|---|---|---|---|---|")
    for result in results:
        if result.same != result.count:
            print_form(result)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def digest_or_refusal(output):
    if is_refusal(output):
        return "refused"
    return output if isinstance(output, str) else digest(output)


def check_digests(path, outputs):
    """Returns 0 if the simulator writes what `path` says, else 1."""
    with open(path) as file:
        wanted = dict(line.split() for line in file if not line.startswith("#"))
    differing = []
    for name, expected in wanted.items():
        output = outputs.get(name, "no such probe")
        got = digest_or_refusal(output)
        if got != expected:
            differing.append(name)
            print("%s: expected %s, got %s" % (name, expected, got))
    print("%d of %d probes do what they did on the device" % (len(wanted) - len(differing),
                                                         len(wanted)))
    return 1 if differing else 0


def write_digests(path, device, results, others, outputs):
    agreeing = [result.probe for result in results if result.same == result.count]
    agreeing += [probe for probe, kind, _ in others if kind == "refused by both"]
    with open(path, "w") as out:
        out.write("# What probes wrote on an %(device)s, driver %(driver)d: digests of those with "
                  "which the\n# simulator agrees bit by bit, and what both refuse. See compare.py."
                  "\n" % device)
        for probe in agreeing:
            out.write("%s %s\n" % (probe["name"], digest_or_refusal(outputs[probe["name"]])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("results", nargs="?", metavar="results.json")
    parser.add_argument("--sim", default="build/bin/attn-sim-probe")
    parser.add_argument("--failures", action="store_true", help="only probes that disagree")
    parser.add_argument("--summary", action="store_true", help="by opcode")
    parser.add_argument("--digests", metavar="FILE", help="check against it, or write it")
    options = parser.parse_args()
    with open(os.path.join(options.folder, "manifest.json")) as file:
        probes = json.load(file)["probes"]
    outputs = run_simulator(options.sim, options.folder, probes)
    if options.digests and not options.results:
        return check_digests(options.digests, outputs)
    recorded = {"results": {}, "device": {}}
    if options.results:
        with open(options.results) as file:
            recorded = json.load(file)
    results, others = [], []
    for probe in probes:
        output = outputs[probe["name"]]
        record = recorded["results"].get(probe["name"], {})
        if "output" in record and not isinstance(output, str):
            wanted = zlib.decompress(base64.b64decode(record["output"]))
            results.append(compare_words(probe, options.folder, wanted, output))
        elif options.results or isinstance(output, str):
            problem = output if isinstance(output, str) else record.get("error", "no record")
            others.append((probe, kind_without_output(output, record), problem))
    if options.digests:
        write_digests(options.digests, recorded["device"], results, others, outputs)
    elif options.failures:
        for result in results:
            if result.bad:
                row, one, other = result.example
                print("%s: %d of %d differ, up to %d ulp; row %d, input %s: device %#x, simulator "
                      "%#x" % (result.probe["form"], result.bad, result.count, result.largest, row,
                               input_of(result.probe, options.folder, row).hex(), one, other))
    elif options.results and options.summary:
        print_summary(results, others, recorded["device"])
    elif options.results:
        print_table(results, others, recorded["device"])
    if options.failures or not options.results:
        for probe, kind, problem in others:
            print("%s: %s: %s" % (probe["name"], kind, problem))
        print("%d probes, %d of them not compared" % (len(probes), len(others)))
    disagree = any(kind != "refused by both" for _, kind, _ in others)
    return 1 if disagree or any(result.bad for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
