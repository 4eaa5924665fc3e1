"""What differs between Redial's reading of a hostile answer and those of other clients."""

import re

CODING_FIELDS = ("content-encoding", "content-length")


def shown(found, exchange):
    """The fields to compare. A content that is stored without its coding loses those that describe it, and RFC 9112 section 6.3
    makes one length of several that are the same."""
    return {name: sorted({length for value in values for length in re.split(" *, *", value)}) if name == "content-length" else values
            for name, values in found.items() if "coding" not in exchange.traits or name not in CODING_FIELDS}


def differences(exchange, ours, theirs):
    """In what our reading differs from another client's."""
    if theirs.status is None:
        return {"status"} if ours.status is not None else set()
    if ours.status != theirs.status:
        return {"status"}
    found = set()
    if shown(ours.fields, exchange) != shown(theirs.fields, exchange):
        found.add("fields")
    if "false coding" in exchange.traits or {"surplus", "coding"} <= {*exchange.traits} and has("until the end", "short")(exchange):
        return found
    if ours.is_complete != theirs.is_complete:
        found.add("completeness")
    elif theirs.is_complete and ours.body != (theirs.body if exchange.decoded is None else exchange.decoded):
        found.add("body")
    return found


def has(*traits):
    return lambda exchange: any(trait in exchange.traits for trait in traits)


def keeps(exchange, ours, theirs):
    """Redial has a status, where the others have none or the same."""
    return ours.status is not None and all(reading.status in (None, ours.status) for reading in theirs)


def keeps_cut(exchange, ours, theirs):
    return keeps(exchange, ours, theirs) and not ours.is_complete


def is_cut_success(exchange, ours, theirs):
    return ours.status is None and any(
        reading.status and 200 <= reading.status <= 299 and not reading.is_complete for reading in theirs)


def is_longer(exchange, ours, theirs):
    """Redial has the same head, and takes for whole what the others take for cut."""
    return ours.is_complete and keeps(exchange, ours, theirs) and all(
        reading.status is None or shown(reading.fields, exchange) == shown(ours.fields, exchange) for reading in theirs)


# Where Redial may differ from both clients: of which answers, and how. Each has its row in docs/responses.md, where the reason stands.
ALLOWED = {
    "a line that is no field": (has("false line"), keeps),
    "two blanks, or HTTP/2, in the status line": (has("status line"), lambda exchange, ours, theirs: keeps(exchange, ours, theirs) and
                                                  re.search(rb"HTTP/(1\.1 |2) %d" % ours.status, exchange.wire)),
    "a transfer coding other than chunked": (has("false coding of transfer"), keeps),
    "an end that nobody knows": (has("lengths", "false length", "both"), keeps_cut),
    "a head that is too long": (has("long head", "many fields"), keeps_cut),
    "a success that was cut": (lambda exchange: True, is_cut_success),
    "chunks with bare LF": (has("bare LF"), is_longer),
    "something behind the size of a chunk": (has("chunk size"), is_longer),
    "a length in the trailers": (has("length in trailers"), keeps_cut),
    "trailers that are no fields": (has("trailers"), is_longer),
    "false frames beside the answer": (lambda exchange: any(
        trait.endswith(("in the content", "before the head")) and not trait.startswith("reset") for trait in exchange.traits), is_longer),
    "blanks around the value of a field": (has("bad field"), lambda exchange, ours, theirs: keeps(exchange, ours, theirs) and "x-space" in ours.fields),
    "a false field": (lambda exchange: {"HTTP/2", "bad field"} <= {*exchange.traits}, lambda exchange, ours, theirs:
                      keeps(exchange, ours, theirs) and not {"", "x y", "x:y", "x-line", "x-nul"} & {*ours.fields}),
    "the length without the end of the stream": (lambda exchange: "HTTP/2" in exchange.traits and any(
        trait in ("no end", "false length") or trait.startswith(("reset in", "much window")) for trait in exchange.traits), is_longer),
    "a head that breaks off, in HTTP/2": (lambda exchange: "HTTP/2" in exchange.traits and has(
        "bad field", "bad status", "continuation", "frame within the head")(exchange), keeps_cut),
    "a folded trailer": (has("folded trailer"), keeps_cut),
    "a false frame right behind the answer": (lambda exchange: any(trait.endswith("behind the end") for trait in exchange.traits), keeps_cut),
    "a blank before the first field": (has("blank first"), keeps),
    "a stream that ends wrongly, right behind its head": (has("HTTP/2"), lambda exchange, ours, theirs: ours.status is None and
                                                         ours.error in (
                                                             "connectionClosed", "responseInvalid", "responseIncomplete", "requestRefused", "http1Required")),
}


def is_allowed(exchange, ours, theirs):
    return any(applies(exchange) and rule(exchange, ours, theirs) for applies, rule in ALLOWED.values())


def decision(ours, theirs):
    """Whether the target's wishes decided that are in the head, and no others."""
    because = ours.because
    named = [name for name in ("Retry-After", "Redial-Retry") if name in because]
    for name in named:
        if name.lower() not in theirs.fields:
            yield f"decided by {name}", f"no such field in the head: {because}"
    if ours.is_complete and theirs.fields.get("retry-after") == ["7200"] and ours.status in (413, 429, 503) and "Retry-After" not in named:
        yield "Retry-After not followed", because
    if ours.status >= 600 and because.startswith("notRetryable"):
        yield "status over 599 is not retried", because


def is_anothers(reading, exchange):
    """Whether Node has read what was sent behind an earlier answer, which it takes if it comes late: that says nothing about this one."""
    tokens = reading.fields.get("x-token", [])
    return exchange.token not in tokens and ("stale" in tokens or reading.body.startswith(b"stale"))


def findings(exchanges, ours, other, h11s, nodes, requests):
    """For each request of a sequence, what is wrong, as pairs of a kind and a text."""
    for step, (exchange, our, h11, node) in enumerate(zip(exchanges, ours, h11s, nodes)):
        found = []
        tokens = our.fields.get("x-token", []) + re.findall(r"token (\d+-\d+)", our.body.decode(errors="replace"))
        if "fold" not in exchange.traits and "false line" not in exchange.traits and set(tokens) - {exchange.token}:
            found.append(("another's answer", f"{tokens} for {exchange.token}: {our}"))
        # What crosses the end of a connection goes to another one within its attempt.
        moved = any(trait.startswith("away") for trait in exchange.traits)
        if not our.attempts <= requests[step] <= our.attempts + moved:
            found.append(("requests", f"{requests[step]} requests of {our.attempts} attempts: {our}"))
        if node and is_anothers(node, exchange):
            node = None
        theirs = [(name, reading) for name, reading in ((other, h11), ("Node", node)) if reading]
        differing = [differences(exchange, our, reading) for _, reading in theirs]
        if all(differing) and not is_allowed(exchange, our, [reading for _, reading in theirs]):
            texts = "; ".join(f"{name} {reading}" for name, reading in [("Redial", our), *theirs])
            found.append((" and ".join(sorted(min(differing, key=len))), texts))
        decisions = [list(decision(our, reading)) for _, reading in theirs if reading.status == our.status is not None]
        if decisions and all(decisions):
            found += decisions[0]
        yield found
