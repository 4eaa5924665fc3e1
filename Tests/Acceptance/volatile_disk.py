"""A disk with a volatile cache, whose power can be cut, under a real file system.

A copy of a disk that is made while it is written is not what it had at any moment. So this disk is a process: it serves one file by
the protocol of FUSE, the file is a loop device, and that has the file system. The process has each write in its order, and knows what
was flushed. A cut is one moment between two of its requests: later ones fail, as nothing reaches a disk without power. Of the
sectors that were written and not flushed before, none are left ("lost"), all ("kept": a copy of that moment), or any ("torn").
"""

import ctypes
import os
import random
import select
import struct
import subprocess
import sys

SECTOR = 512
# The protocol, by <linux/fuse.h>: its numbers, and the sizes of what is asked and answered.
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS = 1, 2, 3, 4, 14, 15, 16, 17
RELEASE, FSYNC, INIT, INTERRUPT, BATCH_FORGET = 18, 20, 26, 36, 42
HEADER = struct.Struct("<IIQQIIIHH")
ENOENT, EIO, ENOSYS = 2, 5, 38
LARGEST_WRITE = 1 << 17
FOLDER, FILE = 1, 2
NAME = "disk"


class Platter:
    """What the disk has, and what only its cache has."""

    def __init__(self, size, seed):
        self.content, self.durable = bytearray(size), bytearray(size)
        self.pending = []
        self.has_power = True
        self.chance = random.Random(seed)

    def write(self, offset, data):
        self.content[offset:offset + len(data)] = data
        self.pending.append((offset, data))

    def flush(self):
        for offset, data in self.pending:
            self.durable[offset:offset + len(data)] = data
        self.pending.clear()

    def cut(self, what):
        """Returns how many sectors only the cache had, and how many of them are left."""
        self.has_power = False
        had = left = 0
        for offset, data in self.pending:
            for start in range(0, len(data), SECTOR):
                had += 1
                if what == "kept" or what == "torn" and self.chance.random() < 0.5:
                    left += 1
                    self.durable[offset + start:offset + start + SECTOR] = data[start:start + SECTOR]
        self.pending.clear()
        self.content[:] = self.durable
        return had, left


class FileServer:
    """Serves a folder with one file, the disk."""

    def __init__(self, platter):
        self.platter = platter

    def attributes(self, node):
        is_folder = node == FOLDER
        size = 0 if is_folder else len(self.platter.content)
        mode = 0o40700 if is_folder else 0o100600
        return struct.pack("<6Q10I", node, size, size // SECTOR, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, request):
        """The answer to a request; None if there is to be none."""
        _, operation, unique, node, *_ = HEADER.unpack_from(request)
        result = self.result(operation, node, memoryview(request)[HEADER.size:])
        if result is None:
            return None
        error, content = (-result, b"") if isinstance(result, int) else (0, result)
        return struct.pack("<IiQ", 16 + len(content), error, unique) + content

    def result(self, operation, node, body):
        if operation in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        if operation == INIT:
            # Version 7.31, writes of several pages.
            return struct.pack("<4I2H2I2H8I", 7, 31, 0, 1 << 5, 16, 12, LARGEST_WRITE, 1, 0, 0, *[0] * 8)
        if operation == LOOKUP:
            if bytes(body).rstrip(b"\0").decode() != NAME:
                return ENOENT
            return struct.pack("<4Q2I", FILE, 0, 3600, 3600, 0, 0) + self.attributes(FILE)
        if operation in (GETATTR, SETATTR):
            return struct.pack("<Q2I", 3600, 0, 0) + self.attributes(node)
        if operation == OPEN:
            return struct.pack("<Q2I", 0, 0, 0)
        if operation == STATFS:
            return struct.pack("<5Q10I", *[0] * 5, 4096, 255, 4096, *[0] * 7)
        if operation == RELEASE:
            return b""
        if operation not in (READ, WRITE, FSYNC):
            return ENOSYS
        if not self.platter.has_power:
            return EIO
        if operation == FSYNC:
            self.platter.flush()
            return b""
        _, offset, size = struct.unpack_from("<QQI", body)
        if operation == READ:
            return bytes(self.platter.content[offset:offset + size])
        self.platter.write(offset, bytes(body[40:40 + size]))
        return struct.pack("<2I", size, 0)


def serve(folder, size, seed):
    """Mounts the folder, and obeys commands on standard input: cut WHAT, on."""
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    # Without programs and devices of its own.
    if libc.mount(b"redial-disk", folder.encode(), b"fuse", 2 | 4 | 8, options):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    platter = Platter(size, seed)
    server = FileServer(platter)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([device, 0], [], [])
        if 0 in ready:
            command = os.read(0, 64).decode().split()
            if not command:
                return
            if command[0] == "cut":
                print(*platter.cut(command[1]), flush=True)
            else:
                platter.has_power = True
                print("on", flush=True)
        elif device in ready:
            try:
                request = os.read(device, LARGEST_WRITE + 8192)
            except OSError as error:
                # It was unmounted.
                if error.errno == 19:
                    return
                # The request was taken back.
                if error.errno in (ENOENT, 4):
                    continue
                raise
            answer = server.answer(request)
            if answer is not None:
                try:
                    os.write(device, answer)
                except OSError as error:
                    if error.errno != ENOENT:
                        raise


class VolatileDisk:
    """The disk with ext4 on it, mounted at `path`; OSError if it cannot be made here."""

    def __init__(self, folder, megabytes, seed):
        self.path, self.place = folder / "mounted", folder / "disk"
        for part in (self.path, self.place):
            part.mkdir(parents=True)
        self.device = None
        self.is_mounted = False
        self.process = subprocess.Popen(
            [sys.executable, __file__, self.place, str(megabytes << 20), str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise OSError(f"no disk can be made here: {self.process.stderr.read().strip()}")

    def make(self):
        """Makes the file system; OSError if that is not possible here."""
        self.attach()
        self.run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", self.device)
        self.mount()

    def run(self, *command):
        try:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        except FileNotFoundError:
            raise OSError(f"there is no {command[0]}")
        if done.returncode:
            raise OSError(f"{command[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def attach(self):
        self.device = self.run("losetup", "--find", "--show", self.place / NAME)

    def mount(self):
        # Replays the journal.
        self.run("mount", "-t", "ext4", "-o", "errors=remount-ro", self.device, self.path)
        self.is_mounted = True

    def command(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def cut(self, what):
        """The power fails; returns how many sectors only the cache had, and how many of them are left."""
        had, left = self.command("cut", what)
        return int(had), int(left)

    def restart(self):
        """The power is back: nobody has files open. The file system has only what the disk has."""
        self.leave()
        self.command("on")
        self.attach()
        self.mount()

    def leave(self):
        """Unmounts the file system."""
        if self.is_mounted:
            self.run("umount", self.path)
            self.is_mounted = False
        if self.device:
            self.run("losetup", "--detach", self.device)
            self.device = None

    def end(self):
        # Also if something has a file open.
        for command in (
                self.is_mounted and ["umount", "-l", self.path], self.device and ["losetup", "--detach", self.device],
                ["umount", "-l", self.place]):
            if command:
                subprocess.run(command, capture_output=True)
        self.process.stdin.close()
        self.process.wait(60)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
