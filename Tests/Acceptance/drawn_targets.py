"""Targets of the harm grid (Tests/Simulation/Harm/DrawnTarget.swift), as a process of its own.

    drawn_targets.py RECORD SEED...

Its output is a line with a port for each target. A request's path is /SIDE/CALL. A line of the record is what succeeded: side, seed,
call, and the time when the answer was sent. The answers depend only on call, attempt and time, and so are the same for all sides.
"""

import asyncio
import os
import sys
import time

MASK = (1 << 64) - 1


class RandomSource:
    """SplitMix64, as in Sources/RedialCore/RandomSource.swift."""

    def __init__(self, seed):
        self.state = seed & MASK

    def next(self):
        self.state = self.state + 0x9E3779B97F4A7C15 & MASK
        mixed = self.state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        return mixed ^ mixed >> 31

    def unit(self):
        return (self.next() >> 11) * 2.0 ** -53

    def pick(self, items):
        # A draw that Swift's `Int.random` would repeat is one in 2^60.
        return items[self.next() * len(items) >> 64]


class DrawnTarget:
    def __init__(self, seed):
        random = RandomSource(seed * 0x9E3779B97F4A7C15 & MASK ^ 0x6861726D)
        self.seed = seed
        self.failure = random.pick([503, 503, 429, 500, 500, "silence", "slowness"])
        self.share = 0.01 * 70 ** random.unit()
        self.rate = 0.5 * 4000 ** random.unit()
        self.latency = 0.001 * 2000 ** random.unit()
        self.pattern = random.pick(["random"] * 6 + ["bursts"] * 2 + ["oneCall", "oneTenant"])
        self.length = 20 ** random.unit() if self.pattern == "bursts" else None
        if self.pattern != "random" and self.failure == "slowness":
            self.failure = 503

    def __str__(self):
        return (f"{self.seed}: {self.share * 100:.1f} % {self.failure}, {self.pattern}, {self.rate:.0f} calls/s, "
                f"{self.latency * 1000:.0f} ms")

    def draw(self, call, attempt, purpose):
        random = RandomSource(self.seed * 1_000_003 + call * 7_919 + attempt * 104_729 + purpose * 15_485_863)
        random.next()
        return random.unit()

    def is_hopeless(self, call):
        return self.pattern == "oneCall" and call == 3 or self.pattern == "oneTenant" and call % 10 == 3

    def fails(self, call, attempt, at):
        if self.pattern == "random":
            return self.draw(call, attempt, 2) < self.share
        if self.pattern == "bursts":
            slot = int(at / self.length)
            return self.draw(slot, 0, 3) < min(1, self.share / 0.9) and self.draw(call, attempt, 2) < 0.9
        return self.is_hopeless(call)

    def answer(self, call, attempt, at):
        """The status, or None for silence, and after how many seconds."""
        usual = self.latency * (0.5 + self.draw(call, attempt, 1))
        if not self.fails(call, attempt, at):
            return 200, usual
        if self.failure == "silence":
            return None, usual
        return (200, 20 * usual) if self.failure == "slowness" else (self.failure, usual)


class Connection(asyncio.Protocol):
    def __init__(self, target, record, began):
        self.target, self.record, self.began = target, record, began
        self.held = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.held += data
        # Requests here have no body.
        while b"\r\n\r\n" in self.held:
            head, self.held = self.held.split(b"\r\n\r\n", 1)
            lines = head.decode().split("\r\n")
            side, call = lines[0].split(" ")[1].strip("/").split("/")
            fields = dict(line.lower().split(": ", 1) for line in lines[1:])
            status, after = self.target.answer(int(call), int(fields["redial-attempt"]), time.monotonic() - self.began)
            if status:
                asyncio.get_running_loop().call_later(after, self.reply, side, call, status)

    def reply(self, side, call, status):
        if self.transport.is_closing():
            return
        if status == 200:
            os.write(self.record, f"{side} {self.target.seed} {call} {time.monotonic():.6f}\n".encode())
        self.transport.write(f"HTTP/1.1 {status} .\r\ncontent-length: 0\r\n\r\n".encode())


async def main():
    record = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    loop, began = asyncio.get_running_loop(), time.monotonic()
    servers = []
    for seed in map(int, sys.argv[2:]):
        target = DrawnTarget(seed)
        servers.append(await loop.create_server(
            lambda target=target: Connection(target, record, began), "127.0.0.1", 0, backlog=1024))
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main())
