# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A session on one GPU: at each point all contenders are checked against float64, and
those that are right are raced. Needs PyTorch, and libattn_runtime.so for bundles."""

import dataclasses
import os
import statistics
import subprocess
import sys

from racing import backward, check, contenders, libattn, race, shares


def query_smi(field):
    """One field of nvidia-smi, "unknown" where it does not answer."""
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader", "--id=0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, timeout=60)
        return done.stdout.strip().splitlines()[0] if done.returncode == 0 else "unknown"
    except (OSError, subprocess.TimeoutExpired, IndexError):
        return "unknown"


class Fatal(Exception):
    """A contender left the device unusable by this process."""

    def __init__(self, name, point, note):
        super().__init__(f"{name} at {point}: {note}")
        self.name, self.family, self.note = name, point.family, note


@dataclasses.dataclass
class Settings:
    """Who races, and how."""

    lib: str  # libattn_runtime.so
    rounds: int
    slice_ms: float
    seed: int  # of the order and of the inputs
    drop: float = 0.0  # a variant slower than this share of the best has no further rounds
    contenders: list = dataclasses.field(default_factory=list)  # of contenders.NAMES
    bundles: str = ""  # the folder of the contender attn
    beside: list = dataclasses.field(default_factory=list)  # masks whose kernels of attn are marks at points of other masks
    plugin: list = dataclasses.field(default_factory=list)  # paths
    skipped: dict = dataclasses.field(default_factory=dict)  # {(name, family): why it is left out}


def never(name, point):
    return False


class Session:
    """What all points share. `settings` has the fields of Settings; `variants` are
    {name: [path of a bundle]}; `is_same(name, point)` says where a variant is the same
    kernel as another and takes no part."""

    def __init__(self, torch, settings, variants, is_same=never):
        self.torch, self.settings, self.is_same, self.bundles = torch, settings, is_same, {}
        self.plugins = [contenders.load_plugin(path) for path in settings.plugin]
        self.runtime = libattn.Library(settings.lib) if variants or "attn" in settings.contenders else None
        self.clock = race.Clock(torch, torch.cuda.current_device())
        self.environment = self.describe()
        self.variants, self.broken = {}, {}
        for name, files in variants.items():
            self.add_variant(name, files)

    def describe(self):
        torch = self.torch
        environment = {
            "gpu": torch.cuda.get_device_name(), "driver": query_smi("driver_version"),
            "power_limit": query_smi("power.limit"), "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(), "attn": self.runtime.version if self.runtime else "none",
        }
        if {"fa4", "fa4-det", "fa4-flex"} & set(self.settings.contenders):
            environment["fa4"] = contenders.package_version("flash-attn-4")
            environment["cutlass_dsl"] = contenders.package_version("nvidia-cutlass-dsl")
        for plugin in self.plugins:
            environment.update(plugin.describe())
        return environment

    def bundle(self, path):
        if path not in self.bundles:
            assert self.runtime  # attn, or a variant of it, takes part
            self.bundles[path] = self.runtime.load(path)
        return self.bundles[path]

    def add_variant(self, name, files):
        try:
            self.variants[name] = [self.bundle(file) for file in files]
        except RuntimeError as error:
            self.broken[name] = first_line(error)

    def problems(self):
        """The problems of the variants, as their plans have them."""
        return [bundle.plan["problem"] for bundles in self.variants.values() for bundle in bundles]

    def make_attn(self, point, inputs):
        """The contender attn, of the bundles for a point."""
        bundle_of = lambda point: self.bundle(os.path.join(self.settings.bundles, contenders.bundle_name(point)))
        captured = contenders.attn_captured(self.torch, point, inputs[0].device)
        if point.is_backward:
            return backward.AttnContender(self.torch, point, inputs, bundle_of(point), bundle_of(point.forward), captured)
        return contenders.AttnContender(self.torch, point, inputs, bundle_of(point), captured)

    def make_variant(self, point, inputs, bundle, others):
        """A bundle of a variant. For a backward pass the bundle of the forward pass is among the variant's `others`."""
        if not point.is_backward:
            return contenders.AttnContender(self.torch, point, inputs, bundle)
        forward = [b for b in others if not contenders.mismatch(b.plan["problem"], point.forward)]
        if not forward:
            raise contenders.Unavailable(f"expected a bundle of the forward pass beside it, {contenders.bundle_name(point.forward)}")
        return backward.AttnContender(self.torch, point, inputs, bundle, forward[0])

    def entrants(self, point):
        """Who takes part at a point: {name: (kind, function of the inputs)}."""
        torch, found = self.torch, {}

        def add(name, kind, make):
            if name in found:
                raise ValueError(f"two contenders are called '{name}'")
            found[name] = kind, make

        # The problem of a bundle does not say which mask function it has.
        for name, bundles in self.variants.items() if not point.is_function else ():
            fitting = [b for b in bundles if not contenders.mismatch(b.plan["problem"], point)]
            if len(fitting) > 1:
                raise ValueError(f"variant '{name}' has {len(fitting)} bundles for {point}")
            if fitting and not self.is_same(name, point):
                add(name, "variant", lambda inputs, b=fitting[0], others=bundles: self.make_variant(point, inputs, b, others))
        for name in self.settings.contenders:
            if name == "attn":
                add(name, "attn", lambda inputs: self.make_attn(point, inputs))
            else:
                peers = backward if point.is_backward else contenders
                add(name, "peer", lambda inputs, n=name, p=peers: p.make_peer(torch, n, point, inputs))
        for mask in self.settings.beside if "attn" in found else ():
            if mask != (point.score or point.mask):
                own = point.with_mask(mask)
                add(f"attn:{mask}", "mark", lambda inputs, p=own: self.make_attn(p, inputs))
        for plugin in self.plugins:
            for name in plugin.names(point):
                add(name, "mark", lambda inputs, p=plugin, n=name: p.make(torch, n, point, inputs))
        return found


def run_once(torch, contender, reference):
    """Checks one launch; returns "" or what is wrong."""
    contender.poison()
    with contender.scope():
        out = contender.call()
    event = torch.cuda.Event()
    event.record()
    race.wait(event, race.PATIENCE_S)
    return reference.judge(*contender.results(out))


def first_line(error):
    return (str(error).splitlines() or [""])[0] or type(error).__name__


def expect_alive(torch, name, point, error):
    """Raises Fatal where the device does not answer after an error."""
    try:
        if isinstance(error, race.Hang):
            raise error
        torch.cuda.synchronize()
    except RuntimeError:
        raise Fatal(name, point, first_line(error)) from error


def measure(session, point):
    """Checks and times all contenders at one point; returns lines of results."""
    torch, settings = session.torch, session.settings
    entrants = session.entrants(point)
    device = torch.device("cuda", torch.cuda.current_device())
    dtype = check.torch_dtype(torch, point.dtype)
    inputs = [torch.randn(shape, device=device, dtype=dtype) for shape in point.shapes]
    references = {point.case: (backward if point.is_backward else check).Reference(torch, point, inputs)}

    def check_one(contender):
        own = own_point(contender, point)
        if own.case not in references:
            references[own.case] = check.Reference(torch, own, inputs)
        return run_once(torch, contender, references[own.case])

    racing, notes, absent = {}, {}, set()
    for name, (_, make) in entrants.items():
        if (name, point.family) in settings.skipped:
            notes[name] = "left out: " + settings.skipped[name, point.family]
            continue
        try:
            contender = make(inputs)
            notes[name] = check_one(contender)
            if not notes[name]:
                racing[name] = contender
        except contenders.Unavailable as error:
            notes[name] = first_line(error)
            absent.add(name)
        except Exception as error:  # whatever a contender raises is its own result
            expect_alive(torch, name, point, error)
            notes[name] = first_line(error)
    try:
        variants = [name for name in racing if entrants[name][0] == "variant"]
        times = race.race(torch, racing, settings.rounds, settings.slice_ms, settings.seed, session.clock, variants, settings.drop)
    except race.Failed as failed:
        raise Fatal(failed.name, point, first_line(failed.error)) from failed
    for name, contender in racing.items():
        try:
            after = check_one(contender)
        except RuntimeError as error:
            raise Fatal(name, point, first_line(error)) from error
        notes[name] = after and "after timing: " + after
    lines = []
    for name, (kind, _) in entrants.items():
        ms, ghz = times.get(name, ([], []))
        visited = getattr(racing.get(name), "visited", lambda: None)()
        line = summarize(own_point(racing.get(name), point), name, kind, ms, ghz, notes[name], session.environment, name not in absent, visited)
        lines.append({**line, "case": point.case})
    return lines


def tflops(point, milliseconds):
    return point.flops / milliseconds / 1e9


def own_point(contender, point):
    """The point that a contender computes: marks may have another mask."""
    return getattr(contender, "own_point", point)


def summarize(point, name, kind, rounds_ms, rounds_ghz, note, environment, ran=True, visited=None):
    """One line of the results; `ran` is false for what could not take part; `visited` is the share of all pairs that
    the contender multiplies, if it is known."""
    ms = statistics.median(rounds_ms) if rounds_ms else 0.0
    clocks = [c for c in rounds_ghz if c]
    return {
        "op": point.op, "dtype": point.dtype, "case": point.case, "d": point.d, "dv": point.dv, "seqlen": point.seqlen,
        "contender": name, "kind": kind, "tflops": round(tflops(point, ms), 2) if ms else 0.0,
        "rounds": len(rounds_ms), "ok": ran and not note, "ran": ran, "ms": ms,
        "min_ms": min(rounds_ms, default=0.0), "max_ms": max(rounds_ms, default=0.0),
        "ghz": round(statistics.median(clocks), 3) if clocks else 0.0, "note": note,
        "admissible": shares.admissible(point.mask, point.seqlen), **count_visited(point, ms, visited), **environment,
    }


def count_visited(point, milliseconds, visited):
    """The fields on what a contender multiplies; nothing where that is not known."""
    if not milliseconds or visited is None:
        return {}
    return {"visited": visited, "tflops_visited": round(point.flops_of(point.seqlen**2) * visited / milliseconds / 1e9, 2)}


def replace_process(program, argv):
    """Becomes a process that runs a Python program and can use the device again."""
    sys.stdout.flush()
    # The device is let go of by closing the driver's files.
    os.closerange(3, 65536)
    os.execv(sys.executable, [sys.executable, os.path.abspath(program), *argv])
