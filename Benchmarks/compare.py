#!/usr/bin/env python3
"""Measures two builds of the service in one run, in turns: what a change costs.

Figures are medians over the rounds, and the ratio is that of the medians. Memory with calls that wait is that of a service that
was just started on a store with them. Instructions are counted by valgrind, see profile.py; they are the same on a busy machine.

  python3 Benchmarks/compare.py BEFORE AFTER [--rounds 5] [--seconds 5] [--waiting 200000]
"""

import argparse
import shutil
import statistics
import sys
import types

import profile
import service
import sizing

FIGURES = {
    "cpu": "CPU, µs a call at full load", "completed": "calls/s at full load", "p99": "accepted, p99 in ms at 1,000 calls/s",
    "bytes": "written, bytes a call", "idle": "memory idle, MB", "waiting": "memory, MB, with calls that wait",
    "instructions": "instructions a call",
}


def round_of(binary, script, paced, options):
    full = service.round_of_redial(binary, script, options)
    slow = service.paced_round(binary, paced, options)
    idle, _ = sizing.waiting_memory(binary, 0)
    waiting, _ = sizing.waiting_memory(binary, options.waiting)
    return {name: full[name] for name in ("cpu", "completed", "bytes")} | {
        "p99": slow["p99"], "idle": idle, "waiting": waiting}


def instructions(binary, target, folder):
    """Instructions a call; nan without valgrind."""
    if not shutil.which("valgrind"):
        return float("nan")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    done, _ = profile.run(types.SimpleNamespace(binary=binary, connections=64, seconds=5), target, folder)
    return sum(profile.counts(sorted(folder.glob("out.1-*")))[1].values()) / done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--waiting", type=int, default=200_000)
    options = parser.parse_args()
    service.OUT.mkdir(parents=True, exist_ok=True)
    target = service.free_port()
    script = service.write_script(target)
    paced = service.OUT / "paced.lua"
    paced.write_text(script.read_text() + service.WRK_PACED.format(
        longest=round(2000 * options.connections / service.PACED_RATE)))
    nginx = service.start_nginx(target)
    rounds = {options.before: [], options.after: []}
    try:
        for number in range(options.rounds):
            for binary in list(rounds)[::1 if number % 2 else -1]:
                rounds[binary].append(round_of(binary, script, paced, options))
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for binary, figures in rounds.items():
            figures.append({"instructions": instructions(binary, target, service.OUT / "profile")})
    finally:
        service.stop(nginx)
    print(f"{'':42}{'before':>12}{'after':>12}{'ratio':>8}")
    for name, words in FIGURES.items():
        before, after = (
            statistics.median(figures[name] for figures in of if name in figures) for of in rounds.values())
        print(f"{words:42}{before:12.1f}{after:12.1f}{after / before:8.3f}")


if __name__ == "__main__":
    main()
