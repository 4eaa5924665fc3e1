"""The model that judges what several instances have done (test_instances.py) finds what is wrong."""

import re
import time

from call_model import Call, Heard, Hit, Model, parsed, stale


def healthy():
    """A history without a fault: two calls of a lane, one that was refused, one that was cancelled, two of the target with a
    limit.
    """
    at, time_of = 1_000_000.0, lambda at: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + ".000Z"
    calls = [Call(0, "ordered", lane="a"), Call(1, "ordered", lane="a"), Call(2, "plain", keyed=False, status=503, code="draining"),
             Call(3, "cancelled", cancel="cancelled", cancelled_at=at), Call(4, "limited"), Call(5, "limited")]
    shown, hits = {}, []
    for call in calls:
        if call.status == 503:
            continue
        call.id, call.status = f"call_{call.number}", 202
        is_run = call.kind != "cancelled"
        attempts = [{"number": 1, "outcome": "answered", "status": 500}, {"number": 2, "outcome": "answered", "status": 200}]
        shown[call.id] = {"state": "succeeded" if is_run else "cancelled", "attempts": attempts if is_run else [],
                          "attemptCount": 2 if is_run else 0, "retries": [], "finishedAt": time_of(at + call.number)}
        # CRC-32 of an empty body is 0.
        hits += [Hit(at + call.number + n / 10, call.number, call.id, n, 500 if n == 1 else 200, 0.01, 0) for n in (1, 2) if is_run]
    heard = [Heard(at, f"call.{s['state']}", f"event {name}", name, s["finishedAt"]) for name, s in shown.items()]
    return Model(calls, hits, shown, [heard], [], 2)


def planted():
    """The history with each of some faults, and the check that has to find it."""
    def history(change):
        changed = healthy()
        calls, hits = {call.number: call for call in changed.calls}, {(hit.number, hit.attempt): hit for hit in changed.hits}
        change(changed, calls, hits)
        return Model(changed.calls, changed.hits, changed.shown, changed.listeners, changed.nemeses, changed.limit)
    return {
        "ends: a call is lost": history(lambda m, c, h: m.shown.update(call_1=None)),
        "ends: without a success at the target": history(lambda m, c, h: m.shown["call_1"]["attempts"].pop()),
        "ends: another end than was answered": history(lambda m, c, h: setattr(c[1], "seen", "failed")),
        "once: made twice under one key": history(lambda m, c, h: setattr(h[1, 2], "call", "call_9")),
        "once: refused and made": history(lambda m, c, h: setattr(h[1, 1], "number", 2)),
        "once: another body": history(lambda m, c, h: setattr(h[1, 1], "crc", 1)),
        "attempts: a request without a record": history(lambda m, c, h: setattr(h[1, 2], "attempt", 3)),
        "attempts: an answer that was not given": history(lambda m, c, h: m.hits.remove(h[1, 1])),
        "attempts: two at a time": history(lambda m, c, h: setattr(h[1, 1], "pause", 0.5)),
        "commands: it runs after its cancel": history(lambda m, c, h: m.shown["call_3"].update(state="succeeded")),
        "order: the second first": history(lambda m, c, h: [setattr(h[1, n], "at", h[1, n].at - 3) for n in (1, 2)]),
        "limits: three at a time": history(lambda m, c, h: [setattr(h[n, k], "pause", 9) for n in (4, 5) for k in (1, 2)]),
        "events: one not heard": history(lambda m, c, h: m.listeners[0].pop()),
        "events: one heard twice": history(lambda m, c, h: m.listeners[0].append(m.listeners[0][0])),
    }


def test_the_model_finds_each_planted_fault():
    assert healthy().faults() == []
    for name, model in planted().items():
        assert any(fault.startswith(re.match(r"\w+:", name)[0]) for fault in model.faults()), (name, model.faults())
    at = parsed("2026-01-01T00:00:00.500Z")
    assert parsed("2026-01-01T00:00:01.000Z") == at + 0.5
    assert list(stale([(at, 1), (at + 1, 2)], [(at + 2, at + 2, 1)], [])) == []
    assert len(list(stale([(at, 1), (at + 1, 2)], [(at + 9, at + 9, 1)], []))) == 1
