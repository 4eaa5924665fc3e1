"""Targets that answer as nobody should, compared with what other clients make of the same bytes.

Each sequence of two to four requests goes to a target of its own, which sends what `hostile_responses` makes of a seed. What Redial
says of it must be what h11 or Node's http says; where it may differ from both stands in docs/responses.md and in
`hostile_comparison`. Whatever the clients say, no request may get what belongs to another, and the service may not end or hang.

REDIAL_HOSTILE_SEED is the first seed, in the campaign a hundred thousand times REDIAL_CRASH_SEED; REDIAL_HOSTILE_CASES is how many
requests are made there. REDIAL_HOSTILE_LOG is a file for all that differs, a line each.

The first 150 answers of HTTP/1.1 found the faults of libcurl 7.88.1 and of Redial that were there when they were written: a field
line that begins with a blank ended the process (seed 51); late bytes went to the next request (7, 19, 28, 37); a status was lost with
its content (12, 22, 30); a trailer became a field (6); a fold was left unread (6, 32, 37).
"""

import asyncio
import collections
import json
import os
import re
import ssl
import subprocess

import hostile_clients
import hostile_comparison
import hostile_frames
import hostile_responses
import needs
import processes
import pytest
from hostile_target import Lane
from processes import BOUND, ROOT, Constants, target_defaults
from test_target_tls import issuer

LANES = 24
# How many ends of the process are followed by another start, to see what else is wrong.
MAXIMUM_ENDS = int(os.environ.get("REDIAL_HOSTILE_ENDS", "0"))
FLAGS = [*target_defaults(breaker={"consecutiveFailures": 0}, pace="fixed", maxInFlight=8), Constants(maxRetryAfterPause="1ms")]


class Campaign:
    def __init__(self, redial, tmp_path, node, is_secure):
        self.redial, self.folder, self.node = redial, tmp_path, hostile_clients.Node(node, ROOT / "Tests/Acceptance/clients/hostile.mjs")
        self.findings, self.cases, self.ends = [], 0, 0
        self.flags, self.context = FLAGS, None
        self.exchanges, self.other, self.reads = hostile_responses.exchanges, "h11", hostile_clients.h11_reads
        if is_secure:
            issuer(tmp_path, "hostile")
            self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self.context.load_cert_chain(tmp_path / "hostile.pem", tmp_path / "hostile.key")
            self.context.set_alpn_protocols(["h2"])
            self.flags = [*FLAGS, "--ca-file", tmp_path / "hostile.pem"]
            self.exchanges, self.other, self.reads = hostile_frames.exchanges, "h2", hostile_clients.h2_reads

    async def run(self, first, cases):
        self.start()
        await self.node.start()
        self.seeds = iter(range(first, first + cases))
        self.wanted = cases
        try:
            await asyncio.gather(*(self.lane() for _ in range(LANES)))
        finally:
            await self.node.end()
        answer = self.service("GET", "/healthz")
        assert answer.status == 200 and self.service.process.poll() is None

    def start(self):
        # Begins a service of its own.
        folder = self.folder / f"service{self.ends}"
        folder.mkdir()
        self.service = self.redial(*self.flags, folder=folder)
        self.client = hostile_clients.Service(self.service)

    async def lane(self):
        ours, theirs = await Lane().start(self.context), await Lane().start(self.context)
        while self.cases < self.wanted:
            seed = next(self.seeds)
            exchanges = self.exchanges(seed)
            self.cases += len(exchanges)
            client = self.client
            try:
                ours_of, node_of = await asyncio.gather(
                    ours.play(seed, exchanges, client), theirs.play(seed, exchanges, self.node))
            except (OSError, asyncio.IncompleteReadError) as error:
                ended = not isinstance(error, TimeoutError)
                self.note(seed, None, "the process ended" if ended else "it hangs", f"{error!r}")
                await ours.close()
                await theirs.close()
                if not ended or self.ends >= MAXIMUM_ENDS:
                    raise
                if client is self.client:
                    client.service.process.wait(BOUND)
                    self.ends += 1
                    self.start()
                continue
            for step, found in enumerate(hostile_comparison.findings(
                    exchanges, ours_of, self.other, self.reads(exchanges), node_of, ours.requests)):
                for what, text in found:
                    self.note(seed, step, what, text, exchanges[step])
        await ours.end()
        await theirs.end()

    def note(self, seed, step, what, text, exchange=None):
        traits = exchange.traits if exchange else []
        self.findings.append((what, tuple(traits), f"seed {seed}, request {step}: {what} ({', '.join(traits)}): {text}"))
        if log := os.environ.get("REDIAL_HOSTILE_LOG"):
            with open(log, "a") as file:
                line = {"seed": seed, "step": step, "what": what, "traits": traits, "text": text}
                if exchange:
                    line["wire"] = repr(b"".join(exchange.pieces(1))[:3000])
                file.write(json.dumps(line) + "\n")


def check(redial, tmp_path, is_secure, first, cases):
    campaign = Campaign(redial, tmp_path, needs.program("node"), is_secure)
    try:
        asyncio.run(campaign.run(first, cases))
    finally:
        counts = collections.Counter(what for what, _, _ in campaign.findings)
        print(f"{campaign.cases} requests from seed {first}: {dict(counts) or 'nothing differs'}")
        print(*(text for _, _, text in campaign.findings[:20]), sep="\n")
    assert not campaign.findings


FIRST = int(os.environ.get("REDIAL_HOSTILE_SEED", "1"))


VERSIONS = pytest.mark.parametrize("is_secure", [False, True], ids=["HTTP/1.1", "HTTP/2"])


@VERSIONS
def test_hostile_answers_are_read_as_other_clients_do(redial, tmp_path, is_secure):
    check(redial, tmp_path, is_secure, FIRST, 150)


@pytest.mark.part("hostile")
@VERSIONS
def test_many_hostile_answers_are_read_as_other_clients_do(redial, tmp_path, is_secure):
    first = int(os.environ.get("REDIAL_CRASH_SEED", "1")) * 100_000
    check(redial, tmp_path, is_secure, first, int(os.environ.get("REDIAL_HOSTILE_CASES", "10000")) // 2)


# Where an error of valgrind is in libcurl: one of the first frames, behind those of the C library.
FRAMES = 4


@pytest.mark.part("hostile")
@VERSIONS
def test_libcurl_touches_only_its_own_memory(redial, tmp_path, monkeypatch, is_secure):
    """Under valgrind, which sees the memory of a shared library only: the debug build with the libcurl of the system.

    Code of Swift reads below what valgrind takes for the end of the stack, so only errors within libcurl count.
    """
    binary, log = tmp_path / "redial", tmp_path / "valgrind"
    # valgrind cannot read what the compiler of Swift says for debuggers.
    subprocess.run(["strip", "-g", "-o", binary, ROOT / ".build/debug/redial"], check=True)
    script = tmp_path / "under-valgrind"
    script.write_text(f'#!/bin/sh\nexec {needs.program("valgrind")} -q --undef-value-errors=no --log-file={log} {binary} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(processes, "BINARY", str(script))
    campaign = Campaign(redial, tmp_path, needs.program("node"), is_secure)
    try:
        asyncio.run(campaign.run(FIRST, 1000))
    finally:
        errors = [error for error in re.split(r"==\d+== \n", log.read_text()) if re.search("Invalid|Mismatched", error)
                  and "libcurl.so" in "".join(re.findall(r"(?:at|by) 0x.*", error)[:FRAMES])]
        print(*errors[:5], sep="\n")
    assert not errors


def test_each_difference_that_is_allowed_has_its_reason():
    rows = re.findall(r"^\| \*\*(.+?)\*\*", (ROOT / "docs/responses.md").read_text(), re.M)
    assert sorted(rows) == sorted(hostile_comparison.ALLOWED)
