# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attn-mutate on kernels, in chunks that processes work on side by side.

The results of a chunk are appended to OUTPUT/results.jsonl as soon as it is done,
so that an interrupted run can go on.
"""

import concurrent.futures
import glob
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "Inputs"))
import gradient_ir
import lonely_ids

LAUNCHES = os.path.join(ROOT, "test", "sim", "kernels", "launches.py")
# Mutants that one process runs, in about a minute.
CHUNK = 100
# Sites that are integer arithmetic.
VALUE_SITES = ("phase", "stage", "descriptor", "count", "coordinate", "mask", "address", "branch")


def load(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return json.load(file)


def read_lines(text):
    """The JSON lines of `text`; a process that was killed may have left half a
    line at the end."""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


class Kernel:
    """A compiled kernel and everything that can be changed in it."""

    def __init__(self, description, args):
        self.name = description["name"]
        self.program = os.path.join(args.build, "bin", "attn-mutate")
        self.bundle = os.path.join(args.output, self.name + ".attn")
        if "ptx" in description:
            self.bundle = os.path.join(ROOT, description["ptx"])
        elif args.bundles:
            shutil.copy(os.path.join(args.bundles, self.name + ".attn"), self.bundle)
        else:
            self.compile(self.source(description), description, args.build)
            self.check_entry(description)
        self.options = [f"--kernel={description['kernel']}"] if "kernel" in description else []
        self.options += description.get("captures", [])
        self.options += [f"--sm-count={description['sm_count']}"] if "sm_count" in description else []
        self.options += ["--any-order"] if adds_in_any_order(description) else []
        self.options += [f"--sites={args.sites}"] if args.sites else []
        self.trial = self.launches(args.output) if "ptx" in description else [
            f"--problem={problem}" for problem in problems(description)]
        if description.get("lonely_ids"):
            self.trial.append("--problem=" + self.lonely_problem(description["head_dim"]))
        self.trial.append(f"--seeds={args.seeds}")
        status, self.mutants, error = self.mutate(["--list"])
        if status:
            raise SystemExit(f"{self.name}: {error}")
        definitions = find_definitions(self.mutants)
        for number, mutant in enumerate(self.mutants):
            mutant["number"] = number
            mutant["from"] = find_sources(mutant, definitions)

    def launches(self, output):
        """Launch files of a kernel that is PTX."""
        folder = os.path.join(output, "launches")
        subprocess.run([sys.executable, "-B", LAUNCHES, folder, os.path.basename(self.bundle)[:-len(".ptx")]], check=True)
        kernel = os.path.basename(self.bundle).replace(".ptx", ".*.json")
        return [f"--launch={path}" for path in sorted(glob.glob(os.path.join(folder, kernel)))]

    def lonely_problem(self, dim):
        """A problem whose documents lonely_ids.py writes."""
        path = self.bundle.replace(".attn", ".npy")
        batches, queries, keys = lonely_ids.write(path)
        return f"{batches}x{queries}x1x{dim},{batches}x{keys}x1x{dim},1,normal,--tensor=ids={path}"

    def source(self, description):
        """The path of the kernel's IR, which is written if it is that of gradients of an attention."""
        if "source" in description:
            return os.path.join(ROOT, description["source"])
        path = self.bundle.replace(".attn", ".mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(gradient_ir.from_description(description["gradients"]).ir)
        return path

    def compile(self, source, description, build):
        command = [os.path.join(build, "bin", "attn-compile"), source, "-o", self.bundle]
        if "schedule" in description:
            command.append("--schedule=" + os.path.join(ROOT, description["schedule"]))
        subprocess.run(command, check=True)

    def check_entry(self, description):
        """Requires that the table gives the kernel the schedule that `description` is about."""
        with open(self.bundle, "rb") as file:
            text = file.read().decode("latin-1")
        plan, _ = json.JSONDecoder().raw_decode(text[text.index('{"args"'):])
        schedules = {(launch if "report" in launch else variant)["report"]["schedule"] for variant in plan["variants"]
                     for launch in variant["launches"] if launch["kernel"] == description.get("kernel", launch["kernel"])}
        if "entry" in description and schedules != {description["entry"]}:
            raise SystemExit(f"kernels.json: {self.name}: expected a kernel of the entry '{description['entry']}', got "
                             f"{', '.join(sorted(schedules)) or 'none'}")

    def mutate(self, options, report=lambda mutant: None):
        """Runs attn-mutate; returns its exit status, the mutants and its errors.
        Calls `report` with each mutant as it comes."""
        mutants = []
        with tempfile.TemporaryFile("w+") as errors:
            with subprocess.Popen([self.program, self.bundle] + self.options + options, stdout=subprocess.PIPE,
                                  stderr=errors, universal_newlines=True) as process:
                for line in process.stdout:
                    for mutant in read_lines(line):
                        mutant["kernel"] = self.name
                        mutant["id"] = f"{self.name}:{mutant['site']}:{mutant['operation']}"
                        mutants.append(mutant)
                        report(mutant)
            errors.seek(0)
            return process.returncode, mutants, errors.read().strip()

    def check_original(self, seeds):
        """Errors of the kernel as it is."""
        status, _, error = self.mutate(self.trial + [f"--original-seeds={seeds}", "--only="])
        return [f"{self.name}: {error or f'attn-mutate ended with {status}'}"] if status else []

    def run(self, numbers, report):
        """Runs these mutants; calls `report` with results as they come. Returns
        errors."""
        while numbers:
            only = "--only=" + ",".join(map(str, numbers))
            left = iter(numbers)
            status, _, error = self.mutate(self.trial + ["--original-seeds=1", only],
                                           lambda mutant, left=left: report(self.numbered(mutant, next(left))))
            if status > 0:
                return [f"{self.name}: {error}"]
            numbers = list(left)
            if status < 0 and numbers:
                # A signal: the simulator crashed on the next one.
                crashed = numbers.pop(0)
                report(dict(self.mutants[crashed], number=crashed, by="crash", reached=True, seed=0, problem=0,
                            changed=False, message=f"attn-mutate ended with signal {-status}: {error[-2000:]}"))
        return []

    def numbered(self, mutant, number):
        """The result of a mutant, with its number in the list and where its operands come from."""
        return dict(mutant, number=number, **{"from": self.mutants[number]["from"]})

    def digest(self):
        """A digest that differs if results may differ."""
        digest = hashlib.sha256(json.dumps(self.options + self.trial).encode())
        for path in (self.program, self.bundle):
            with open(path, "rb") as file:
                digest.update(file.read())
        return digest.hexdigest()


def find_definitions(mutants):
    """The instructions that can be changed, by the register that each writes."""
    definitions = {}
    for mutant in mutants:
        registers = re.findall(r"%[a-z]+\d+", mutant["before"])
        if registers and mutant["site"].split(".")[0] in VALUE_SITES:
            definitions[registers[0]] = mutant["before"]
    return definitions


def find_sources(mutant, definitions):
    """The instructions that a mutant's operands come from, as far as they can be changed, with blanks between."""
    if mutant["site"].split(".")[0] not in VALUE_SITES:
        return ""
    registers = re.findall(r"%[a-z]+\d+", mutant["before"])[1:]
    return " ".join(definitions[name] for name in registers if name in definitions)


def adds_in_any_order(kernel):
    """Whether a kernel adds floating-point numbers to one address in any order."""
    gradients = kernel.get("gradients", {})
    return kernel.get("any_order") or gradients.get("any_order") or gradients.get("capture") == "difference"


def problems(kernel):
    """The problems of a kernel, cheap ones first: "Q shape,K shape,schedules,
    inputs"."""
    if "loop_over" in kernel:
        yield from gradient_problems(kernel)
        return
    d, m, n, steps = kernel["head_dim"], kernel["tile_m"], kernel["tile_n"], 2 * kernel["stages"]

    def problem(queries, keys, schedules, heads=1, inputs="normal"):
        # Documents begin together in Q and K: later keys need later queries.
        queries = max(queries, keys) if "mask_region" in kernel and keys else queries
        return f"1x{queries}x{heads}x{d},1x{keys}x1x{d},{schedules},{inputs}"

    # One step, several heads and batches; every argument matters.
    yield f"2x9x4x{d},2x1x2x{d},8,normal"
    # Items without keys: alone, and with a causal mask among others.
    yield problem(3 * m + 5, 0, 4, heads=2)
    yield problem(3 * m + 1, m // 2, 2, heads=2)
    # Diagonals through the last block of keys, through two, and all elements of
    # a fragment; the last two leave most of the last block's keys to be seen, and
    # 16 leaves a block with that many keys.
    for shift in (0, 1, 8, 16, n + 1, n + 9, n - 1, n - 2):
        yield problem(m, m + shift, 2 if shift == n + 1 else 1)
    # Every key is the first that is not there: thread t of a quad has the
    # columns 2t and 2t + 1 of every eight. The error of a row alone, with scores that rise by
    # a bias, may be more than twice what rounding accounts for.
    rows = 2 if "captures" in kernel else 1
    for keys in (8 * i + odd for i in range(n // 8) for odd in (1, 2)):
        yield problem(rows, keys, 1)
    # Documents that end at any column of the first block of keys and the second.
    if "mask_region" in kernel:
        yield f"32x{2 * n}x1x{d},32x{2 * n}x1x{d},1,normal"
    # Items of one step to several, of which each begins where the ring is.
    yield problem(2 * m + 1, 2 * m + n + 1, 2, heads=3)
    # Items that are rejected and handed out once more: of two steps, and of as many
    # as it takes to find the spike after steps of every kind.
    if kernel.get("rejects"):
        yield problem(m + 3, n + 9, 4, heads=2, inputs="spike-key:10")
        yield problem(m + 3, n + 9, 1, heads=2, inputs="nan:10")
        yield problem(m + 3, m + 3 * n + 9, 2, heads=2, inputs="spike-key:10")
        yield problem(2 * m + 1, n + 9, 2, heads=3, inputs="spike-key:10")
        # Of a row each: all are rejected, or those whose scores rise by enough.
        yield problem(1, n + 9, 1, heads=3, inputs="spike-key:10")
        yield problem(1, n + 9, 2, heads=14, inputs="spike-key:10:103")
    # Parts of items, on two CTAs: of the last of three, and of one alone.
    if kernel.get("parts"):
        yield problem(2 * m + 1, 6 * n, 8)
        yield problem(m, 8 * n, 8)
    # Maxima that rise: within bounds; and in stairs, one every 128 keys, that make
    # the sums of large values overflow, with a step behind it that masks and one
    # that does not.
    yield problem(m + 3, m + 3 * n + 9, 1, inputs="spike-key:10:40")
    yield problem(m + 3, m + 3 * n, 1, inputs="large-v")
    yield problem(m, m + n // 2, 1, inputs="large-v")
    # References that are scores: everywhere, and where scores rise and fall.
    if "captures" not in kernel:
        yield problem(m + 3, m + n // 2, 1, inputs="large:1e9")
        yield problem(m + 3, m + 3 * n, 1, inputs="large-runs:-1e12")
    # An even number of steps, which ends every ring elsewhere.
    yield problem(65, steps * n - 3, 2)
    # Every ring goes around twice and a step more; ragged ends.
    yield problem(m + 3, (steps + 1) * n - 5, 8)


# A seed of attn-run with which statistics end at the last query.
NO_ROWS_AFTER = "--seed=86"


# Seeds, rates and keys for which one comparison of dropout decides.
DROPOUT_PAIRS = "dropout_pairs.json"

# Numbers of keys before and after the diagonal that a query sees.
WINDOWS = ((0, 0), (7, 0), (30, 1), (64, 0), (100, 9), (200, 16), (3, 50), (33, 33))


def gradient_problems(kernel):
    """The problems for a kernel of gradients, whose work items own `tile_m` queries or keys and loop over the
    others."""
    d, m, n, steps = kernel["head_dim"], kernel["tile_m"], kernel["tile_n"], 2 * kernel["stages"]

    def problem(own, others, schedules, *options, heads=1, batches=1, heads_of_keys=1, inputs="normal"):
        queries, keys = (own, others) if kernel["loop_over"] == "keys" else (others, own)
        return ",".join([f"{batches}x{queries}x{heads}x{d}", f"{batches}x{keys}x{heads_of_keys}x{d}", str(schedules), inputs,
                         *options])

    def enough(own, others):
        """At least `own` keys, and so many that the first block of queries sees one, from the bottom right."""
        gradients = kernel.get("gradients", {"mask": ""})
        sees_all = kernel["loop_over"] == "keys" or not gradients.keys() & {"mask", "capture"}
        return own if sees_all else max(own, others - n + 9)

    # One step, several heads and batches; every argument matters.
    yield f"2x9x4x{d},2x1x2x{d},8,normal"
    yield f"2x70x4x{d},2x33x2x{d},4,normal"
    # Strides that leave room; statistics that end in the last block, at places no vector of two can be loaded from.
    yield problem(n + 9, n + 9, 2, "--pad-strides", heads=4, batches=2, heads_of_keys=2)
    for own in (m + 1, 3 * m + 1):
        yield problem(own, 2 * n + 1, 1, NO_ROWS_AFTER, heads=4, heads_of_keys=2)
    # Statistics of a whole pass end with 64 rows, perhaps within a block.
    for others in (64, 128):
        yield problem(1, others, 1)
    # Indices after the last element of a captured tensor.
    if "short_captures" in kernel:
        yield problem(m + 3, n + 9, 1, *kernel["short_captures"])
        yield problem(m, 3 * n, 1, *kernel["short_captures"])
        yield problem(m + 3, 3 * n, 1, *kernel["short_captures"], heads=2, batches=2)
    # Items without a step: alone, and with a causal mask among others.
    yield problem(3 * m + 5, 0, 4, heads=2)
    yield problem(3 * m + 1, m // 2, 2, heads=2)
    yield problem(m // 2, 3 * m + 1, 2, heads=2)
    # Whole blocks alone; and several heads and batches.
    yield problem(m, 2 * n, 1)
    if kernel.get("entry", "").startswith("bwd_ordered"):
        yield from turn_problems(m, d, problem)
    else:
        yield problem(m + 1, 5, 1, heads=3, batches=3, heads_of_keys=3)
    # Diagonals through one block and two, and all elements of a fragment.
    for shift in (0, 1, 8, 16, n + 1, n + 9, n - 1, n - 2):
        yield problem(m, m + shift, 2 if shift == n + 1 else 1)
        yield problem(m + shift, m, 1)
    # The last masked step is not the first of the loop, which has code of its own, and ends with a row or a quarter of a block.
    for shift in (1, 9, 17):
        yield problem(2 * m, 2 * m + shift, 1)
    # From the top left it ends with the last query; the last blocks of further heads are in the loop.
    for blocks in (1, 2):
        yield problem(blocks * m, blocks * n + 16, 1, heads=3)
    # Every row of a block of the loop is the first that is not there, in the first head and in one whose block comes behind it.
    for others in (8 * i + odd for i in range(n // 8) for odd in (1, 2)):
        yield problem(1, others, 1, NO_ROWS_AFTER, heads=3)
        yield problem(others, 1, 1, NO_ROWS_AFTER)
        # The same in a step that masks nothing and is not the first. Statistics of a whole pass have full blocks.
        if "gradients" not in kernel:
            yield problem(2 * m, n + others, 1, NO_ROWS_AFTER, heads=3, inputs="low:-250")
        # A key that nobody sees, in a group of such rows: a row that does not exist has NaNs for it.
        if kernel.get("gradients", {}).get("capture") == "j":
            for own in (2, 2 * m):
                yield problem(own, others, 1, heads=3, inputs="spike-key:0:-inf")
    if "bounds" in kernel.get("gradients", {}):
        yield from window_problems(m, n, problem)
    if kernel.get("lonely_ids"):
        yield from id_problems(m, n, problem)
    # Two documents: groups of 128 keys see the queries up to one fourth of them, or those behind it.
    if kernel.get("gradients", {}).get("region") == "documents":
        for end in (128, 256, 384, 512):
            yield problem(1024, 512, 1, f"--tensor=ids=1x{end}:integers:1:1")
    if kernel.get("gradients", {}).get("dropout"):
        yield from dropout_problems(kernel)
    # Few rows of far keys, so that one bound of a distance counts: in the first block, and in those behind it. One column of a
    # thread may happen to change too little, so there are several numbers.
    if kernel.get("gradients", {}).get("capture") == "difference":
        for blocks in (1, 2, 4):
            for seed in (), ("--seed=5",):
                yield problem(16, blocks * n, 1, *seed)
    # Each key that is the first behind a row's diagonal, in the first step and in the loop.
    if kernel.get("entry", "").startswith("bwd_rows"):
        yield from softcap_problems(n, problem)
    # The heads and batches are the steps.
    if kernel.get("gradients", {}).get("capture") == "ij":
        yield problem(m // 2, n, 8, heads=3, batches=3, heads_of_keys=3)
    # Items of one step to several, of which each begins where the ring is, for several heads of a group.
    yield problem(2 * m + 1, 2 * m + n + 1, 2, heads=3)
    # An even number of steps, which ends every ring elsewhere.
    yield problem(enough(65, steps * n - 3), steps * n - 3, 2)
    # Scores far below zero: with the statistic of another row, be it of the next head, what comes after the last row is infinite.
    yield problem(2 * m + 44, 128, 1, heads=2, inputs="low:-250")
    yield problem(m + 1, 64, 1, heads=2, heads_of_keys=2, inputs="low:-250")
    # The same in steps that mask nothing and are not the first: the last blocks of further heads of a group.
    yield problem(3 * m, 64, 1, heads=3, inputs="low:-250")
    # The same for the key after the last one, in either half of a fragment: it makes NaNs of dQ. Under a mask from the top
    # left, many queries may see it.
    if "gradients" not in kernel:
        for own in (1, 9):
            yield problem(own, 2 * n, 1, heads=3, inputs="low:-250")
    # Every ring goes around twice and a step more; ragged ends; CTAs side by side.
    yield problem(enough(m + 3, (steps + 1) * n - 5), (steps + 1) * n - 5, 8)
    yield problem(m + 3, (steps + 1) * n - 5, 2, heads=2, batches=2)


def turn_problems(m, d, problem):
    """The problems for a kernel whose items add to dQ in turns: up to 32 heads have their items side by side at head dim 64,
    20 at 96 and 16 above."""
    # One head or more is left for a second section.
    heads = 11 if d <= 64 else 7
    yield problem(m + 1, 5, 1, heads=heads, batches=3, heads_of_keys=heads)
    # So many keys that the bound of this number from below counts.
    yield problem((8 << 20) // 256 + 1, 0, 1)


def softcap_problems(n, problem):
    """The problems for a kernel that makes the gradient of a softcap. It is one sum, which shows a key more or less only if
    there are few others, and if scores reach the softcap."""
    def softcap(own, others):
        return problem(own, others, 1, "--scalar=w0=0.25")

    for others in range(8, n + 8, 8):
        for own in (16, 24, 32):
            yield softcap(own, others)
        yield softcap(others, n + 2)
    yield softcap(n + 8, n + 2)


def window_problems(m, n, problem):
    """The problems for a kernel whose mask is a window."""
    def window(own, others, left, right, **rest):
        return problem(own, others, 1, f"--scalar=window_left={left}", f"--scalar=window_right={right}", **rest)

    # Windows of different widths, whose ends pass through all elements of the first block, those between and the last.
    for left, right in WINDOWS:
        yield window(2 * m + 5, 4 * n + 11, left, right)
    # Rows before the first key see none, in the last block and in one before it.
    for own, others in ((1, n), (1, n // 2), (n + 1, 2 * n), (n + 1, 3 * n)):
        yield window(own, others, 7, 0)
    # Windows that reach over the last key, with keys that do not exist in a block that would need no mask.
    for own in (2 * m + 5, 2 * m - 8):
        yield window(own, own, 2 * m, 2 * m, inputs="low:-250")


def id_problems(m, n, problem):
    """The problems for a kernel that finds the queries that may see a group of 128 keys, by their ids."""
    def ids(own, others, end, least=0):
        return problem(own, others, 1, f"--tensor=ids=1x{end}:integers:{least}:3")

    # The ids end at any key of a group, of which a thread has one of the first eight and one of the others.
    ends = [8 * eight + odd for eight in range(16) for odd in (0, 1)]
    for end in ends:
        yield ids(2 * m, n + 1, end or 128)
        yield ids(9 * 128, 1, 8 * 128 + end)
    # At any query of a block that is not the last of a share.
    for end in ends[:n // 4]:
        yield ids(2 * m, 8 * n, end or n)
    # Before the last key of a group, or the last query of a block, which alone has the id of others.
    for end in (127, 191):
        yield ids(384, 192, end, least=1)
    # Two CTAs have groups of the same batch and share, and each share has a block.
    yield ids(65 * 128, 4 * n, 1)


def dropout_problems(kernel):
    """The problems of dropout_pairs.py, with scores of the pair's key so high that the pair counts."""
    found, d = load(DROPOUT_PAIRS)[kernel["loop_over"]], kernel["head_dim"]
    for seed, drop, key in found["pairs"]:
        yield (f"1x{found['queries']}x1x{d},1x{found['keys']}x1x{d},1,spike-key:{key}:8,--seed={seed},"
               f"--scalar=dropout_rate={drop / 65536}")


class Journal:
    """The results so far, in a file of JSON lines."""

    def __init__(self, path, kernels, is_resumed):
        self.results = {}
        self.lock = threading.Lock()
        digests = {kernel.name: kernel.digest() for kernel in kernels}
        if is_resumed and os.path.exists(path):
            self.read(path, digests)
        self.digests = digests
        self.file = open(path, "a" if self.results else "w", encoding="utf-8")

    def read(self, path, digests):
        """Takes what is of the same kernels, programs and problems."""
        with open(path, encoding="utf-8") as file:
            for result in read_lines(file.read()):
                if result["digest"] == digests.get(result["kernel"]):
                    self.results[result["kernel"], result["number"]] = result

    def add(self, result):
        result["digest"] = self.digests[result["kernel"]]
        with self.lock:
            self.results[result["kernel"], result["number"]] = result
            self.file.write(json.dumps(result) + "\n")
            self.file.flush()


def choose(at, kernel, args):
    """The numbers of the mutants of a kernel, the one at `at`, that are asked for."""
    everything = range(len(kernel.mutants))
    if args.sample:
        drawn = random.Random(f"{args.draw} {kernel.name}").sample(everything, min(args.sample, len(everything)))
        return sorted(drawn)
    return list(everything[at % args.every::args.every])


def run_all(kernels, args):
    """Runs the mutants that are asked for. Returns their results in order, and
    errors."""
    journal = Journal(os.path.join(args.output, "results.jsonl"), kernels, args.resume)
    wanted = [(kernel, choose(at, kernel, args)) for at, kernel in enumerate(kernels)]
    errors = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tasks = [pool.submit(kernel.check_original, args.original_seeds) for kernel in kernels]
        for kernel, numbers in wanted:
            missing = [number for number in numbers if (kernel.name, number) not in journal.results]
            tasks += [pool.submit(kernel.run, missing[at:at + CHUNK], journal.add)
                      for at in range(0, len(missing), CHUNK)]
        for task in tasks:
            errors += task.result()
    results = [journal.results[kernel.name, number] for kernel, numbers in wanted for number in numbers
               if (kernel.name, number) in journal.results]
    return results, errors
