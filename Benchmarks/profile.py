#!/usr/bin/env python3
"""Counts the instructions that a call costs the service, by lane and by library, under valgrind's callgrind.

Counts are the same on a busy machine as on a quiet one, but say nothing of the kernel's half: for that see the system
times and the writes that service.py tells. The service is slowed down some fifty times by it, so that batches are a
little larger than they would be.

  python3 Benchmarks/profile.py [--seconds 8] [--connections 64] [--top 25] [--binary PATH]
"""

import argparse
import collections
import re
import shutil
import subprocess
import sys
import time
import types

import service

# A lane's work is below this function.
LANES = [
    ("transport", "TransferLoop.run()"),
    ("store: the transaction", "protocol witness for CallStore.submit(_:as:_:) in conformance SQLiteStore"),
    ("after the commit: answers, starts", "Runtime.storeDid("),
    ("event loops", "EventLoop.run()"),
    ("engine", "Engine.handle("),
]
# Steps of the engine also run on the threads of these lanes, below this function; they are the engine's.
HOSTS = ("transport", "event loops")
GUEST = "EngineLane.runInPlace()"
NAME = re.compile(r"\((\d+)\)(?: (.*))?$")


def counts(files):
    """Instructions by function, with those below it and without; by library; and calls by function."""
    below, own, libraries, calls = (collections.Counter() for _ in range(4))
    for path in files:
        names = {"fn": {}, "ob": {}}

        def name(kind, text):
            number, given = NAME.match(text).groups()
            if given is not None:
                names[kind][number] = given
            return names[kind][number]

        function = library = callee = None
        is_call = False
        for line in path.read_text().splitlines():
            if line.startswith("fn="):
                function = name("fn", line[3:])
            elif line.startswith("ob="):
                library = name("ob", line[3:]).rsplit("/", 1)[-1]
            elif line.startswith("cfn="):
                callee = name("fn", line[4:])
            elif line.startswith("cob="):
                name("ob", line[4:])
            elif line.startswith("calls="):
                calls[callee] += int(line[6:].split()[0])
                is_call = True
            elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
                cost = int(line.split()[1])
                if not is_call:
                    own[function] += cost
                    libraries[library] += cost
                if not is_call or callee != function:
                    below[function] += cost
                is_call = False
    return below, own, libraries, calls


def demangled(names):
    answer = subprocess.run(
        ["swift", "demangle", "--simplified", "--compact"], input="\n".join(names), capture_output=True, text=True,
        check=True).stdout.split("\n")
    return dict(zip(names, answer))


def most(below, words, wanted):
    """The most that is below a function of that name; None if there is none."""
    return max((below[name] for name, word in words.items() if wanted in word and name in below), default=None)


def drained(port):
    """The metrics, once every call has ended. They are requested rarely, because that is counted too."""
    for _ in range(240):
        time.sleep(0.5)
        values = service.metrics(port)
        if values["redial_backlog_calls"] == 0 and service.finished(values) == values["redial_calls_accepted_total"]:
            return values
    sys.exit("calls are left after two minutes")


def run(options, target, folder):
    port = service.free_port()
    data = service.OUT / "data"
    shutil.rmtree(data, ignore_errors=True)
    # Valgrind does not read all debug information; the names of functions are enough.
    binary = folder / "redial"
    subprocess.run(["objcopy", "--strip-debug", options.binary, binary], check=True)
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={folder}/out", binary,
             "serve", "--listen", f"127.0.0.1:{port}", "--store", f"sqlite:{data}/redial.db"], stdout=log, stderr=log)
    try:
        began = time.monotonic()
        while True:
            try:
                service.metrics(port)
                break
            except OSError:
                if process.poll() is not None or time.monotonic() - began > 120:
                    sys.exit(f"the service does not start under valgrind; see {folder}")
                time.sleep(0.2)
        script = str(service.write_script(target))
        load = types.SimpleNamespace(connections=options.connections, seconds=2)
        service.wrk(f"http://127.0.0.1:{port}/v1/calls", script, load)
        before = drained(port)
        subprocess.run(["callgrind_control", "-z", str(process.pid)], check=True, capture_output=True)
        load.seconds = options.seconds
        service.wrk(f"http://127.0.0.1:{port}/v1/calls", script, load)
        after = drained(port)
        subprocess.run(["callgrind_control", "-d", "end", str(process.pid)], check=True, capture_output=True)
        changes, commits = (
            after[name] - before[name] for name in ("redial_store_writes_total", "redial_store_commits_total"))
        return service.finished(after) - service.finished(before), changes / commits
    finally:
        service.stop(process)
        shutil.rmtree(data, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--top", type=int, default=0, help="functions to list")
    parser.add_argument("--binary", default=str(service.ROOT / ".build/release/redial"))
    options = parser.parse_args()
    for tool in ("valgrind", "callgrind_control", "objcopy", "wrk", "nginx"):
        if not shutil.which(tool):
            print(f"no profile: {tool} is not installed")
            return
    folder = service.OUT / "profile"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    target = service.free_port()
    nginx = service.start_nginx(target)
    try:
        done, per_commit = run(options, target, folder)
    finally:
        service.stop(nginx)
    files = sorted(folder.glob("out.1-*"))
    below, own, libraries, calls = counts(files)
    total = sum(own.values())
    print(f"{done:.0f} calls, {per_commit:.0f} changes a commit: {total / done / 1000:.0f} thousand instructions a call")
    words = demangled([name for name, _ in below.most_common(3000)])
    left = total
    threads = [counts([file])[0] for file in files]
    for lane, wanted in LANES:
        cost = most(below, words, wanted)
        if cost is None:
            sys.exit(f"no function that ran is named {wanted!r}, below which the lane {lane!r} would be")
        if lane in HOSTS:
            cost -= sum(most(thread, words, GUEST) or 0 for thread in threads if most(thread, words, wanted))
        left -= cost
        print(f"  {lane:<36} {cost / done / 1000:7.1f} thousand  {100 * cost / total:3.0f} %")
    print(f"  {'rest':<36} {left / done / 1000:7.1f} thousand  {100 * left / total:3.0f} %")
    print("by library")
    for library, cost in libraries.most_common(5):
        print(f"  {library:<36} {cost / done / 1000:7.1f} thousand  {100 * cost / total:3.0f} %")
    if options.top:
        print("functions: with those below, alone, calls of them")
    for name, cost in below.most_common(options.top):
        print(f"  {cost / done:9.0f} {own[name] / done:8.0f} {calls[name] / done:7.2f}  {words[name][:100]}")


if __name__ == "__main__":
    main()
