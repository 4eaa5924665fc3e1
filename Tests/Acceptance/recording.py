"""The content of a disk after a power cut at any moment of a run, from the record of the shim in shim/faults.c. The
model is Linux with a volatile disk cache. Written bytes can be read at once, but are certainly on the disk only after a
successful sync. A failed sync drops its bytes: they can still be read until their page leaves the page cache, but the
kernel considers it clean, so that no later sync writes it. In a power cut each written but unsynced sector is either
there or not.
"""

import dataclasses
import pathlib
import struct

from faults import SECTOR

ENTRY = struct.Struct("=qqicc2x")
SUFFIXES = {b"m": "", b"w": "-wal", b"j": "-journal"}


@dataclasses.dataclass
class Step:
    """One operation. The kind is w (write), t (cut), s (sync), f (a sync that failed) or u (removal)."""
    at: float
    kind: str
    suffix: str
    offset: int
    content: bytes


class Disk:
    """The files of one store after some steps."""

    def __init__(self):
        self.durable = {}
        self.pending = {}

    def take(self, step):
        waiting = self.pending.setdefault(step.suffix, [])
        if step.kind in "wt":
            waiting.append(step)
        elif step.kind == "s":
            self.durable[step.suffix] = apply(self.durable.get(step.suffix, bytearray()), waiting)
            waiting.clear()
        elif step.kind == "f":
            # The file exists, and is empty if none of it reached the disk.
            self.durable.setdefault(step.suffix, bytearray())
            waiting.clear()
        else:
            self.durable.pop(step.suffix, None)
            waiting.clear()

    def after_cut(self, what, chance):
        """The files: unsynced writes are lost ("lost"), kept ("kept"), or any sectors of them are ("torn")."""
        files = {}
        for suffix in {*self.durable, *(s for s, waiting in self.pending.items() if waiting)}:
            content = bytearray(self.durable.get(suffix, b""))
            for step in self.pending.get(suffix, []):
                if what == "kept":
                    apply(content, [step])
                elif what == "torn" and step.kind == "t":
                    if chance.random() < 0.5:
                        apply(content, [step])
                elif what == "torn":
                    end = step.offset + len(step.content)
                    # By the sectors of the disk, not of the write.
                    start = step.offset
                    while start < end:
                        stop = min(end, (start // SECTOR + 1) * SECTOR)
                        if chance.random() < 0.5:
                            part = step.content[start - step.offset:stop - step.offset]
                            apply(content, [dataclasses.replace(step, offset=start, content=part)])
                        start = stop
            if suffix in self.durable or content:
                files[suffix] = content
        return files


def apply(content, steps):
    for step in steps:
        if step.kind == "t":
            del content[step.offset:]
            content.extend(bytes(step.offset - len(content)))
        else:
            content.extend(bytes(max(0, step.offset + len(step.content) - len(content))))
            content[step.offset:step.offset + len(step.content)] = step.content
    return content


class Recording:
    """The record of a store from its first write on."""

    def __init__(self, faults):
        self.file = faults.folder / "record"
        self.store = faults.store
        self.file.touch()

    def steps(self):
        content = self.file.read_bytes()
        place = 0
        while place + ENTRY.size <= len(content):
            at, offset, length, kind, file = ENTRY.unpack_from(content, place)
            place += ENTRY.size
            if place + length > len(content):
                break
            yield Step(at / 1e9, kind.decode(), SUFFIXES[file], offset, content[place:place + length])
            place += length

    def evict(self):
        """The page cache drops its clean pages: bytes that a failed sync has lost can no longer be read either."""
        disk = Disk()
        for step in self.steps():
            disk.take(step)
        for suffix, content in disk.durable.items():
            file = pathlib.Path(f"{self.store}{suffix}")
            now = apply(bytearray(content), disk.pending.get(suffix, []))
            if not file.exists():
                continue
            # Its length belongs to the inode, which stays.
            length = file.stat().st_size
            with open(file, "r+b") as live:
                live.write(bytes(now[:length].ljust(length, b"\0")))

    def cuts(self, count, chance, since=0.0):
        """Power cuts at about this many moments since a time, evenly spread, and just before and after each failed
        sync: the moment, the kind of loss, and the remaining files.
        """
        steps = list(self.steps())
        moments = [index for index, step in enumerate(steps) if step.at >= since]
        wanted = set(moments[::max(1, len(moments) // count)]) | set(moments[-1:])
        for index in moments:
            if steps[index].kind == "f":
                wanted |= {index - 1, index, index + 1}
        disk = Disk()
        kinds = ["lost", "torn", "kept", "torn"]
        for index, step in enumerate(steps):
            disk.take(step)
            if index in wanted:
                kinds.append(kinds.pop(0))
                yield step.at, kinds[-1], disk.after_cut(kinds[-1], chance)
