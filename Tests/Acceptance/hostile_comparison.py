"""What differs between Redial's reading of a hostile answer and those of other clients."""

import re

CODING_FIELDS = ("content-encoding", "content-length")


def shown(found, exchange):
    """The fields to compare: a content that is stored without its coding loses those that describe it."""
    return {name: values for name, values in found.items() if "coding" not in exchange.traits or name not in CODING_FIELDS}


def differences(exchange, ours, theirs):
    """In what our reading differs from another client's."""
    if theirs.status is None:
        return {"status"} if ours.status is not None else set()
    if ours.status != theirs.status:
        return {"status"}
    found = set()
    if shown(ours.fields, exchange) != shown(theirs.fields, exchange):
        found.add("fields")
    if "false coding" in exchange.traits:
        return found
    if ours.is_complete != theirs.is_complete:
        found.add("completeness")
    elif theirs.is_complete and ours.body != (theirs.body if exchange.decoded is None else exchange.decoded):
        found.add("body")
    return found


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


def findings(exchanges, ours, h11s, nodes, requests):
    """For each request of a sequence, what is wrong, as pairs of a kind and a text."""
    for step, (exchange, our, h11, node) in enumerate(zip(exchanges, ours, h11s, nodes)):
        found = []
        tokens = our.fields.get("x-token", []) + re.findall(r"token (\d+-\d+)", our.body.decode(errors="replace"))
        if "fold" not in exchange.traits and "false line" not in exchange.traits and set(tokens) - {exchange.token}:
            found.append(("another's answer", f"{tokens} for {exchange.token}: {our}"))
        if requests[step] != our.attempts:
            found.append(("requests", f"{requests[step]} requests of {our.attempts} attempts"))
        others = {name: differences(exchange, our, reading) for name, reading in (("h11", h11), ("Node", node))}
        texts = "; ".join(f"{name} {reading}" for name, reading in (("Redial", our), ("h11", h11), ("Node", node)))
        if all(others.values()):
            kind = min(others.values(), key=len)
            found.append((" and ".join(sorted(kind)), texts))
        if our.status is not None:
            same = [reading for reading in (h11, node) if reading.status == our.status]
            texts_of = [list(decision(our, reading)) for reading in same]
            if texts_of and all(texts_of):
                found += texts_of[0]
        yield found
