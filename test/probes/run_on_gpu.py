#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the probes of generate.py on the first GPU and writes what they wrote.

A worker process runs one probe after another. One that fails may leave the
context unusable: the worker ends, the failure is recorded, and another worker
goes on with the next probe.

usage: run_on_gpu.py [--timeout SECONDS] DIR --out results.json
"""

import argparse
import base64
import json
import os
import queue
import subprocess
import sys
import threading
import zlib

from cuda import CudaError, Driver, pack_word


def pack(data):
    return base64.b64encode(zlib.compress(data, 9)).decode()


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def load(driver, folder, probe):
    """The probe's module: of its cubin, else of its PTX."""
    name = probe["name"] + ".cubin"
    if os.path.exists(os.path.join(folder, name)):
        return driver.load(read(folder, name))
    return driver.load(read(folder, probe["name"] + ".ptx") + b"\0")


def run_probe(driver, folder, probe):
    """Returns the bytes that the probe wrote."""
    data = read(folder, probe["input"])
    size = probe["rows"] * probe["out_row"]
    function = driver.function(load(driver, folder, probe), "probe")
    source = driver.upload(data)
    target = driver.upload(b"\xcd" * size)
    parameters = [pack_word(source.value), pack_word(target.value)]
    if "map" in probe:
        base = target if probe["map_of"] == "out" else source
        parameters.append(driver.encode(dict(probe["map"], address=base.value)))
    driver.launch(function, (probe["rows"] // probe["threads"], 1, 1), (probe["threads"], 1, 1),
                  parameters)
    result = driver.download(target, size)
    driver.free(source)
    driver.free(target)
    return result


def work(folder, first):
    """Runs the probes from number `first` on; ends at one that fails."""
    with open(os.path.join(folder, "manifest.json")) as file:
        probes = json.load(file)["probes"]
    driver = Driver()
    print(json.dumps(driver.describe()), flush=True)
    for probe in probes[first:]:
        try:
            line = {"output": pack(run_probe(driver, folder, probe))}
        except CudaError as error:
            print(json.dumps({"error": str(error)}), flush=True)
            return 1
        print(json.dumps(line), flush=True)
    return 0


def read_lines(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


class Worker:
    """A worker process, and its lines as they come."""

    def __init__(self, folder, first):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--worker", str(first), folder],
            stdout=subprocess.PIPE, universal_newlines=True)
        self.lines = queue.Queue()
        threading.Thread(target=read_lines, args=(self.process.stdout, self.lines),
                         daemon=True).start()

    def next(self, timeout):
        """The next line's object; None where the worker ended or hangs."""
        try:
            line = self.lines.get(timeout=timeout)
        except queue.Empty:
            line = None
        return json.loads(line) if line else None

    def end(self):
        self.process.kill()
        self.process.wait()


def run_all(folder, probes, timeout):
    """Returns the device's description and, by name, what became of each probe."""
    device = None
    results = {}
    while len(results) < len(probes):
        worker = Worker(folder, len(results))
        device = worker.next(timeout)
        if device is None:
            sys.exit("no worker could start")
        while len(results) < len(probes):
            result = worker.next(timeout)
            name = probes[len(results)]["name"]
            results[name] = result or {"error": "the worker ended or did not answer in time"}
            if "error" in results[name]:
                print("%s: %s" % (name, results[name]["error"]), file=sys.stderr)
                break
        worker.end()
    return device, results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--out", metavar="results.json")
    parser.add_argument("--timeout", type=float, default=60, help="seconds that a probe may take")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        return work(options.folder, options.worker)
    if not options.out:
        parser.error("expected --out")
    with open(os.path.join(options.folder, "manifest.json")) as file:
        probes = json.load(file)["probes"]
    device, results = run_all(options.folder, probes, options.timeout)
    with open(options.out, "w") as out:
        json.dump({"device": device, "results": results}, out, indent=0, sort_keys=True)
        out.write("\n")
    failed = sum("error" in result for result in results.values())
    print("%d probes ran on %s, %d failed" % (len(results) - failed, device["device"], failed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
