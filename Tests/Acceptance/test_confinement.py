"""Each type that the compiler takes for sendable on our word says who owns it, and asks that owner."""

import re

from processes import ROOT

# The service and what it is made of. The libraries for other programs have locks.
MODULES = ["HTTPServer", "RedialLanes", "RedialPostgres", "RedialSQLite", "RedialService", "RedialStore", "RedialTransport"]
# What a type does that asks its owner: it checks, takes turns, or is a connection that is lent or passed on.
ASKS = re.compile(r"owner\.check\(\)|checkOwner\(\)|Owner\.queue\(queue\)\.check\(\)|turn\.begin\(\)|connection\.lend\(\)|connection\.pass\(to:")
# Those that belong to nobody, and why that is sound.
FREE = {
    "PostgresRows": "does not change", "ClockShift": "does not change", "Free": "is behind a mutex",
    "AttemptLane": "does not change after init", "EndWatch": "does not change after init", "PeerLane": "does not change after init",
    "StoreWatch": "does not change after its start",
}


def declared():
    """By name, the text of each type that is `@unchecked Sendable`."""
    types = {}
    for module in MODULES:
        for file in sorted((ROOT / "Sources" / module).rglob("*.swift")):
            text = file.read_text()
            for found in re.finditer(r"^( *)[\w ()]*\b(?:class|struct|enum|actor|extension) (\w+).*@unchecked Sendable.*\{$", text, re.M):
                end = re.compile(rf"^{found[1]}\}}$", re.M).search(text, found.end())
                types[found[2]] = text[found.start():end.end()]
            assert len(re.findall(r"^[^/\n]*@unchecked Sendable", text, re.M)) == sum(
                1 for _ in re.finditer(r"^ *[\w ()]*\b(?:class|struct|enum|actor|extension) \w+.*@unchecked Sendable.*\{$", text, re.M)), (
                f"{file}: a type is written in a form that this test does not read")
    return types


def unasked(types):
    return {name for name, text in types.items() if name not in FREE and not ASKS.search(text)}


def test_every_unchecked_type_asks_its_owner_or_is_known_to_need_none():
    types = declared()
    assert unasked(types) == set(), "who uses these? See Sources/RedialLanes/Owner.swift"
    assert FREE.keys() <= types.keys(), "these are gone; remove them here"
