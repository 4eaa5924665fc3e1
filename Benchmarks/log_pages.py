#!/usr/bin/env python3
"""Measures how much a service on SQLite writes to its write-ahead log: bytes a call, pages a commit, and whose pages they are.

The service is stopped for a moment under load, and its file and log are copied. Only commits since the log began anew are in the
copy; a fold of many calls is one of them. The target is a local nginx.

  python3 Benchmarks/log_pages.py [--paced] [--seconds 6] [--binary PATH]
"""

import argparse
import collections
import pathlib
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import tempfile
import time

import service

FRAME_HEADER = 24


def frames(path):
    """The page numbers of each commit in a log (https://sqlite.org/fileformat2.html#walformat), and the size of a page."""
    log = path.read_bytes()
    page, salt = struct.unpack(">I", log[8:12])[0], log[16:24]
    commits, current = [], []
    for start in range(32, len(log) - FRAME_HEADER - page + 1, FRAME_HEADER + page):
        number, size = struct.unpack(">II", log[start:start + 8])
        if log[start + 8:start + 16] != salt:
            break
        current.append(number)
        # The last frame of a commit has the size of the file.
        if size:
            commits.append(current)
            current = []
    return commits, page


def owners(path):
    """The table or index of each page; none if this SQLite cannot tell."""
    try:
        with sqlite3.connect(path) as file:
            return dict(file.execute("SELECT pageno, name || ' ' || pagetype FROM dbstat"))
    except sqlite3.OperationalError:
        return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paced", action="store_true", help="1,000 calls a second in place of all that go through")
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--binary", default=service.ROOT / ".build/release/redial")
    options = parser.parse_args()
    service.OUT.mkdir(exist_ok=True)
    port = service.free_port()
    nginx = service.start_nginx(port)
    try:
        script = service.OUT / "log_pages.lua"
        script.write_text(service.WRK.format(body=service.descriptor(port))
                          + (service.WRK_PACED.format(longest=128) if options.paced else ""))
        with service.Redial(options.binary) as redial, tempfile.TemporaryDirectory() as folder:
            load = subprocess.Popen(
                ["wrk", "-t1", "-c64", f"-d{options.seconds}s", "-s", script, f"http://127.0.0.1:{redial.port}/v1/calls"],
                stdout=subprocess.DEVNULL)
            time.sleep(options.seconds * 0.7)
            values = service.metrics(redial.port)
            per_commit = service.finished(values) / values["redial_store_commits_total"]
            redial.process.send_signal(signal.SIGSTOP)
            try:
                for suffix in ("", "-wal"):
                    shutil.copy(redial.data / f"redial.db{suffix}", f"{folder}/redial.db{suffix}")
            finally:
                redial.process.send_signal(signal.SIGCONT)
            load.wait()
            copy = pathlib.Path(folder, "redial.db")
            commits, page = frames(copy.with_name("redial.db-wal"))
            names = owners(copy)
    finally:
        service.stop(nginx)
    sizes = [len(commit) for commit in commits]
    written = sum(sizes) * (page + FRAME_HEADER)
    print(f"{len(commits)} commits of {per_commit:.1f} calls: {written / len(commits) / per_commit / 1000:.1f} kB a call, "
          f"{statistics.median(sizes):.0f} pages a commit (median), {statistics.quantiles(sizes, n=10)[-1]:.0f} in nine of ten")
    counted = collections.Counter(names.get(number, "other") for commit in commits for number in commit)
    for name, count in counted.most_common(10):
        print(f"{name:30} {100 * count / sum(sizes):5.1f} %")


if __name__ == "__main__":
    main()
