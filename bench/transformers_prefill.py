#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prefill of models of transformers with random weights: the implementation "attn"
against transformers' own "sdpa".

usage: transformers_prefill.py [--rounds N] [--models NAME,...] [--out FILE] [--smoke] LIBRARIES

LIBRARIES is the folder with libattn_runtime.so and libattn_jit.so. The models have 8
layers, head dim 128, 16 heads on 4, and bf16 weights; Mistral, and every second layer of
Gemma2, has a window of 1024 keys. Each round runs every implementation once, in an order
drawn anew; times are between CUDA events, and the first WARM_UP rounds do not count.
Printed for each model and each batch are the medians, their ratio, and the memory that a
prefill needs beside the weights.

Then come the errors of the logits of CHECKED tokens, against the same model in float32 with
the implementation "eager": the root of the mean square, and the largest one, both relative
to those of the logits themselves. "sdpa" ignores the soft cap of Gemma2's scores. At the
end it says which demand holds, and the exit status is 1 if one does not.

--smoke runs tiny models once on the CPU, on the simulator, and demands nothing of times."""

import argparse
import json
import os
import random
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WARM_UP = 3
CHECKED = 2048
BATCHES = ((4, 4096), (1, 16384))
IMPLEMENTATIONS = ("sdpa", "attn")
LAYERS = dict(vocab_size=32000, hidden_size=2048, intermediate_size=8192, num_hidden_layers=8, num_attention_heads=16,
              num_key_value_heads=4, head_dim=128, max_position_embeddings=16384)
MODELS: dict[str, dict[str, object]] = {
    "Llama": {},
    "Qwen3": {},
    "Gemma2": dict(sliding_window=1024, query_pre_attn_scalar=128, hidden_activation="gelu_pytorch_tanh"),
    "Mistral": dict(sliding_window=1024),
}
TINY = dict(vocab_size=64, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, head_dim=32, query_pre_attn_scalar=32)
# The smallest allowed SDPA time / attn time, and the largest allowed error of attn's logits / SDPA's error.
SPEEDUPS = {("Mistral", BATCHES[0]): 1.3, ("Mistral", BATCHES[1]): 2.2}
MOST_ERROR = 1.1
# Two medians of one thing differ by as much.
NOISE = 1.01


class Bench:
    def __init__(self, torch, transformers, args):
        self.torch, self.transformers, self.args = torch, transformers, args
        self.device = "cpu" if args.smoke else "cuda"
        self.batches = ((2, 24), (1, 40)) if args.smoke else BATCHES
        self.rounds = 1 if args.smoke else args.rounds

    def model(self, name):
        sizes: dict[str, object] = {**LAYERS, **MODELS[name]}
        if self.args.smoke:
            sizes.update(TINY)
            if "sliding_window" in sizes:
                sizes["sliding_window"] = 8
        self.torch.manual_seed(7)
        config = getattr(self.transformers, f"{name}Config")(**sizes)
        with self.torch.device(self.device):
            return getattr(self.transformers, f"{name}ForCausalLM")(config).eval()

    def ids(self, model, batch, length):
        return self.torch.randint(0, model.config.vocab_size, (batch, length), device=self.device)

    def race(self, model, batch, length):
        """The median times in milliseconds, and the peaks of memory in GiB."""
        cuda = self.torch.cuda
        ids = self.ids(model, batch, length)
        times, peaks = {name: [] for name in IMPLEMENTATIONS}, {}
        for number in range(WARM_UP + self.rounds):
            for name in random.sample(IMPLEMENTATIONS, len(IMPLEMENTATIONS)):
                model.set_attn_implementation(name)
                if self.device == "cpu":
                    model(ids, use_cache=True, logits_to_keep=1)
                    times[name], peaks[name] = [float("nan")], float("nan")
                    continue
                before = cuda.memory_allocated()
                cuda.reset_peak_memory_stats()
                start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
                cuda.synchronize()
                start.record()
                model(ids, use_cache=True, logits_to_keep=1)
                end.record()
                cuda.synchronize()
                if number >= WARM_UP:
                    times[name].append(start.elapsed_time(end))
                    peaks[name] = (cuda.max_memory_allocated() - before) / 2**30
        return {name: statistics.median(found) for name, found in times.items()}, peaks

    def errors(self, model, exact):
        """Of the logits of each implementation: root mean square and largest."""
        ids = self.ids(model, 1, 24 if self.args.smoke else CHECKED)
        want = exact(ids, use_cache=False).logits.float()
        found = {}
        for name in IMPLEMENTATIONS:
            model.set_attn_implementation(name)
            error = model(ids, use_cache=False).logits.float() - want
            found[name] = ((error.square().mean() / want.square().mean()).sqrt().item(),
                           (error.abs().max() / want.abs().max()).item())
        return found

    def run(self, name):
        exact = self.model(name)
        model = self.model(name).to(self.torch.bfloat16)
        # The weights are those that bf16 has, in both.
        exact.load_state_dict({key: value.to(exact.dtype) for key, value in model.state_dict().items()})
        exact.set_attn_implementation("eager")
        errors = self.errors(model, exact)
        del exact
        return {"errors": errors, "races": [self.race(model, *batch) for batch in self.batches]}


def show(results, batches):
    print(f"{'model':8} {'tokens':>10} {'sdpa, ms':>9} {'attn, ms':>9} {'sdpa/attn':>9} {'sdpa, GiB':>10} {'attn, GiB':>10}")
    for name, result in results.items():
        for (batch, length), (times, peaks) in zip(batches, result["races"]):
            print(f"{name:8} {f'{batch} x {length}':>10} {times['sdpa']:9.2f} {times['attn']:9.2f} "
                  f"{times['sdpa'] / times['attn']:9.2f} {peaks['sdpa']:10.2f} {peaks['attn']:10.2f}")
    print(f"\n{'model':8} {'sdpa, rms':>10} {'attn, rms':>10} {'sdpa, max':>10} {'attn, max':>10}   of the logits, against float32")
    for name, result in results.items():
        columns = [result["errors"][which][n] for n in (0, 1) for which in IMPLEMENTATIONS]
        print(f"{name:8} " + " ".join(f"{value:10.3e}" for value in columns))


def demands(results, with_times):
    """Each demand in words, and whether it holds."""
    for name, result in results.items():
        errors = result["errors"]
        yield (f"{name}: the logits' error is at most {MOST_ERROR} times SDPA's",
               errors["attn"][0] <= MOST_ERROR * errors["sdpa"][0])
        for batch, (times, _) in zip(BATCHES, result["races"] if with_times else ()):
            least = SPEEDUPS.get((name, batch), 1)
            yield (f"{name}, {batch[0]} x {batch[1]}: at least {least} times as fast as SDPA",
                   times["sdpa"] / times["attn"] * (NOISE if least == 1 else 1) >= least)
    if with_times and {"Llama", "Mistral"} <= results.keys():
        for batch, llama, mistral in zip(BATCHES, results["Llama"]["races"], results["Mistral"]["races"]):
            yield (f"Mistral, {batch[0]} x {batch[1]}: no slower than Llama",
                   mistral[0]["attn"] <= NOISE * llama[0]["attn"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--models", default=",".join(MODELS), help="those to run, with commas between")
    parser.add_argument("--out", help="a file that gets everything as JSON")
    parser.add_argument("--smoke", action="store_true", help="tiny models, once, on the CPU")
    args = parser.parse_args()
    os.environ.setdefault("ATTN_LIBRARY_DIR", os.path.abspath(args.libraries))
    if not os.environ.get("ATTN_INSTALLED"):
        sys.path.insert(0, os.path.join(ROOT, "python"))
    import torch
    import transformers

    import attn

    torch.set_grad_enabled(False)
    torch.backends.mkldnn.enabled = False  # oneDNN dies where the CPU hides its units for bf16
    attn.register_with_transformers(fallback=False)
    bench = Bench(torch, transformers, args)
    results = {name: bench.run(name) for name in args.models.split(",")}
    show(results, bench.batches)
    print()
    found = list(demands(results, with_times=not args.smoke))
    for words, holds in found:
        print(f"{'holds' if holds else 'FAILS'}  {words}")
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    sys.exit(0 if all(holds for _, holds in found) else 1)


if __name__ == "__main__":
    main()
