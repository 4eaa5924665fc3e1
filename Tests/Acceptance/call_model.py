"""A model of calls that knows nothing of the service: from what clients, the target and listeners have seen it says what the
service has done wrong. Times are seconds of the wall clock of this process, except where a line says otherwise."""

import calendar
import dataclasses
import time
import zlib

# How late the target may read a request, even after its sender was killed.
LATE = 1
# How long after a call's end a listener may receive the event, or a reset in its place.
HEARD = 30
# How old a policy may be that an instance shows: the database has not answered for 2 s, and half a second until it is known.
STALE = 2.5 + LATE
ENDED = ("succeeded", "failed", "cancelled")
# What an attempt may be by the end: the target always answers.
OUTCOMES = {"answered", "interrupted", "cancelled", "notSent"}


def parsed(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{fraction or 0}")


@dataclasses.dataclass
class Call:
    """A submission, as its client sees it."""
    number: int
    kind: str
    # Submitted under an Idempotency-Key, until it was answered.
    keyed: bool = True
    # The ordering key: its calls are numbered in the order in which they were acknowledged.
    lane: str | None = None
    body: bytes = b""
    status: int | None = None
    code: str | None = None
    id: str | None = None
    # The state in the answer, if the client waited for the end.
    seen: str | None = None
    # The answer to a cancel, and when it came: "cancelled", "ended", or "unknown".
    cancel: str | None = None
    cancelled_at: float = 0
    # The answer to a retry: "done", "refused" or "unknown".
    retry: str | None = None

    def __str__(self):
        """What is not as by default."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)[1:] if field.name != "body"}
        shown = ", ".join(f"{name} {value}" for name, value in values.items() if value not in (None, 0, True))
        return f"call {self.number} ({shown})"

    @property
    def is_refused(self):
        """Whether the service has said that it did not take the call."""
        return not self.keyed and self.status in (503, 507) and self.code != "outcomeUnknown"


@dataclasses.dataclass
class Hit:
    """A request at the target."""
    at: float
    number: int
    call: str
    attempt: int
    status: int
    pause: float
    crc: int

    @property
    def end(self):
        return self.at + self.pause

    def __repr__(self):
        return f"{self.attempt}: {self.status} at {self.at:.3f} to {self.end:.3f}"


@dataclasses.dataclass
class Nemesis:
    kind: str
    instance: int
    start: float
    end: float


@dataclasses.dataclass
class Heard:
    """What a listener has received: an end of a call, "reset", or "gap" where it could not say after which event to go on."""
    at: float
    kind: str
    event: str | None = None
    call: str | None = None
    finished: str | None = None


class Model:
    def __init__(self, calls, hits, shown, listeners, nemeses, limit):
        """`shown` is what an instance says of each id at the end, None for 404; `listeners` a list of what each has heard."""
        self.calls, self.shown, self.listeners, self.nemeses, self.limit = calls, shown, listeners, nemeses, limit
        self.hits = sorted(hits, key=lambda hit: hit.at)
        self.by_number, self.by_call = {}, {}
        for hit in self.hits:
            self.by_number.setdefault(hit.number, []).append(hit)
            self.by_call.setdefault(hit.call, []).append(hit)

    def faults(self):
        checks = (self.once, self.ends, self.attempts, self.commands, self.order, self.limits, self.events)
        return [f"{check.__name__}: {fault}" for check in checks for fault in check()]

    def disturbed(self, start, end, *kinds):
        """Whether an instance was so disturbed in a period, or a moment before it.

        replicas.md: "an instance stands still for longer than its lease (SIGSTOP, a frozen machine): it cannot abort its attempts.
        Others repeat them meanwhile: the target sees two instances, and its limit may be exceeded."
        """
        return any(n.kind in kinds and n.start <= end and start <= n.end + LATE for n in self.nemeses)

    def acknowledged(self):
        return [(call, self.shown.get(call.id)) for call in self.calls if call.id and self.shown.get(call.id)]

    def once(self):
        """A submission is one call, and one that was refused is none; the target gets the body that was sent."""
        for call in self.calls:
            hits = self.by_number.get(call.number, [])
            ids = {hit.call for hit in hits} | ({call.id} if call.id else set())
            if len(ids) > 1:
                yield f"{call} was made as {ids}"
            if call.is_refused and hits:
                yield f"{call} was refused, and runs: {hits}"
            if any(hit.crc != zlib.crc32(call.body) for hit in hits):
                yield f"{call} was sent with another body: {hits}"

    def ends(self):
        """An acknowledged call has ended, as the target's record says, and as its client was answered."""
        for call in self.calls:
            if not call.id:
                continue
            shown = self.shown.get(call.id)
            if not shown or shown["state"] not in ENDED:
                yield f"{call} is lost: {shown}"
                continue
            if call.seen in ENDED and call.seen != shown["state"] and call.retry is None:
                yield f"{call} was answered {call.seen}, and is {shown['state']}"
            if shown["state"] == "cancelled":
                if call.cancel not in ("cancelled", "unknown"):
                    yield f"{call} is cancelled, and nobody did that"
                continue
            last = shown["attempts"][-1] if shown["attempts"] else {}
            wanted = 200 if shown["state"] == "succeeded" else 500
            if (last.get("outcome"), last.get("status")) != ("answered", wanted) or call.kind != "few" and wanted != 200:
                yield f"{call} has {shown['state']} after {last}"

    def attempts(self):
        """Each request has its record, and each answer that is recorded was given; what was answered is not repeated."""
        for call, shown in self.acknowledged():
            outcomes = {a["number"]: (a["outcome"], a.get("status")) for a in shown["attempts"]}
            if list(outcomes) != list(range(1, shown["attemptCount"] + 1)) or {o for o, _ in outcomes.values()} - OUTCOMES:
                yield f"{call} has strange attempts: {outcomes}"
            hits = self.by_call.get(call.id, [])
            numbers = [hit.attempt for hit in hits]
            if len(set(numbers)) < len(numbers) or not set(numbers) <= set(outcomes):
                yield f"{call} has requests beyond its record {outcomes}: {hits}"
                continue
            given = {hit.attempt: hit.status for hit in hits}
            for number, (outcome, status) in outcomes.items():
                if outcome == "answered" and given.get(number) != status:
                    yield f"{call} has attempt {number} answered with {status}; the target: {hits}"
            for hit, later in zip(hits, hits[1:]):
                if hit.status == 200 and outcomes[hit.attempt][0] == "answered" and call.retry is None:
                    yield f"{call} was repeated after a success: {outcomes}, {hits}"
                if later.at < hit.end and not self.disturbed(hit.at, hit.end, "stop", "kill"):
                    yield f"{call} had two requests at a time: {hits}"

    def commands(self):
        """What was answered as done is done."""
        for call, shown in self.acknowledged():
            if call.cancel == "ended" and shown["state"] == "cancelled":
                yield f"{call} is cancelled, and the cancel was answered with callEnded"
            if call.cancel == "cancelled":
                late = [hit for hit in self.by_call.get(call.id, []) if hit.at > call.cancelled_at + LATE]
                if shown["state"] != "cancelled" or late and not self.disturbed(call.cancelled_at, late[-1].at, "stop"):
                    yield f"{call} was cancelled, and is {shown['state']}, with later requests {late}"
            retries = len(shown.get("retries", []))
            if retries != {"done": 1, "unknown": retries and 1}.get(call.retry, 0):
                yield f"{call} has {retries} retries"

    def order(self):
        """Calls of an ordering key run one at a time, in the order in which they were acknowledged."""
        lanes = {}
        for call, _ in self.acknowledged():
            if call.lane and self.by_call.get(call.id):
                lanes.setdefault(call.lane, []).append(call)
        for calls in lanes.values():
            calls.sort(key=lambda call: call.number)
            for call, later in zip(calls, calls[1:]):
                first, last, next = self.by_call[call.id][0], self.by_call[call.id][-1], self.by_call[later.id][0]
                if next.at < first.at or next.at < last.end and not self.disturbed(first.at, last.end, "stop", "kill"):
                    yield f"{later} ran at {next.at:.3f}, before {call} at {first.at:.3f} to {last.end:.3f}"

    def limits(self):
        """The requests at a time to the target with a limit, except those of instances that stood still or were killed."""
        running = []
        for hit in (hit for call in self.calls if call.kind == "limited" for hit in self.by_number.get(call.number, [])):
            running.append((hit.at, 1, hit))
            running.append((hit.end, -1, hit))
        count = 0
        for at, change, hit in sorted(running, key=lambda entry: entry[:2]):
            count += change
            if count > self.limit and not self.disturbed(at - 2 * LATE, at, "stop", "kill"):
                yield f"{count} requests at a time at {at:.3f}: {hit}"

    def missed(self):
        """The ends that a listener should have heard of, and has not: nothing, and no reset at the time."""
        ends = [(parsed(shown["finishedAt"]), call.id, shown["finishedAt"]) for call, shown in self.acknowledged()
                if shown["finishedAt"]]
        for number, heard in enumerate(self.listeners):
            known = {(entry.call, entry.finished) for entry in heard}
            resets = [entry.at for entry in heard if entry.kind in ("reset", "gap")]
            for at, call, finished in ends:
                if (call, finished) not in known and not any(at - LATE < reset < at + HEARD for reset in resets):
                    yield f"listener {number} has not heard that {call} ended at {at:.3f}"

    def events(self):
        """A listener gets each end once, or a reset; and no event twice."""
        yield from self.missed()
        for number, heard in enumerate(self.listeners):
            ids, ends = set(), set()
            for entry in heard:
                if entry.kind in ("reset", "gap"):
                    ends = set()
                    continue
                if entry.event in ids or (entry.call, entry.finished) in ends:
                    yield f"listener {number} has heard twice of {entry}"
                ids.add(entry.event)
                ends.add((entry.call, entry.finished))


def stale(written, read, nemeses):
    """The times at which an instance showed an older version of a policy than it may.

    `written` has when a version was acknowledged, and the version; `read` when it was asked for, when that was answered, and the
    version.
    """
    for asked, answered, version in read:
        least = max((v for at, v in written if at < asked - STALE), default=0)
        stood = any(n.kind == "stop" and n.start < answered and asked - STALE < n.end + LATE for n in nemeses)
        if version < least and not stood:
            yield f"policies: version {version} was shown at {answered:.3f}, when {least} was known"
