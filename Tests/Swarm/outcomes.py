"""What is believed of one call, once it has ended: its outcome is what its target has made of it."""

import datetime

import beliefs

DELIVERED_AT_ONCE = {"ok", "big", "created", "empty", "late", "late chunk", "members", "latin", "bad end"}
DELIVERED = DELIVERED_AT_ONCE | {"slow", "flaky", "busy", "two waits", "folded wait", "beyond 599", "trailers", "coding", "conflict", "late 408", "redirect",
                                 "cut", "silent", "blank first", "see other", "refused stream", "old"}
# Paths that ask for a wait, and those that need more than one request or answer with anything.
WAITS = {"busy", "two waits", "folded wait"}
REDIRECTS = {"redirect", "see other"}
# What a body may be cut or replaced by.
UNSURE = {"odd", "cut", "slow", "conflict", "silent", "reset", "hang"}
# How late a call may begin that nothing but a sick neighbour delays, in seconds: it gets two, and the machine has other work.
LATE = 5
# How much an attempt may seem to begin before the one before it ended, in seconds: several instances follow one clock (see `doctor`).
OVERLAP = 1
# Settings that hold calls back.
LIMITS = {"--target-defaults", "--max-connections-per-origin", "maxHeld", "--namespace-share"}


class Outcome:
    def __init__(self, judge, sent, call, kind, hits):
        """With what the client has sent, what the service says of it, what its path does, and what the target saw."""
        self.judge, self.sent, self.call, self.kind, self.hits = judge, sent, call, kind, sorted(hits, key=lambda hit: hit.at)
        self.player, self.world = judge.player, judge.player.world
        self.neighbours = self.world.targets[sent.what["target"]]
        codes = [(attempt.get("error") or {}).get("code") for attempt in call["attempts"]]
        # One that was in flight at two deaths of the service is not sent again.
        self.is_suspect = "attemptEndedTheService" in codes and not self.world.is_calm
        # After a crash, or a stop that did not wait for it, an attempt is repeated in any case.
        self.is_interrupted = self.is_suspect or any(attempt["outcome"] == "interrupted" for attempt in call["attempts"])
        # Whether nobody knows what arrived: its path does odd things, or the way to its target was cut.
        self.is_cut = self.player.has_cut_target and sent.what["target"] == 0
        self.is_unsure = kind in UNSURE or self.is_cut
        # Whether somebody may have run it again.
        self.is_rerun = bool(sent.touched & {"retry", "again", "operation"}) or sent.tenant in judge.operated

    def believe(self, holds, belief, more=""):
        call, errors = self.call, [attempt["error"] for attempt in self.call["attempts"] if attempt.get("error")]
        self.judge.believe(holds, belief, f"{self.sent}, {self.kind}: {call['state']} {call.get('failureReason')} after {call['attemptCount']} attempts; "
                           f"{'; '.join(map(str, self.hits[:5]))} {errors[:3]} {more}")

    def check(self):
        self.believe(self.call["state"] in ("succeeded", "failed", "cancelled"), "each call ends")
        self.believe(len({hit.attempt for hit in self.hits}) <= self.call["attemptCount"], "attemptCount is what the target saw")
        if self.sent.cancelled:
            return self.cancelled()
        self.executed()
        for attempt in self.call["attempts"]:
            self.attempt(attempt, next((hit for hit in self.hits if hit.attempt == attempt["number"]), None))
        self.follow()
        self.waited()
        self.bytes()
        if self.is_rerun or self.is_suspect or "cancel" in self.sent.touched or self.world.denies or self.judge.was_silent() or self.player.has_lost_key:
            return
        self.delivered()

    def cancelled(self):
        if not self.is_rerun:
            self.believe(self.call["state"] == "cancelled", "a cancel holds")
            self.believe(all(hit.at <= self.sent.cancelled + 1 for hit in self.hits), "a cancel holds")

    def executed(self):
        if self.is_interrupted or self.kind == "odd" or self.kind in REDIRECTS:
            return
        # Under its key it runs again only if it was surely not executed.
        is_rerun = bool(self.sent.touched & {"retry", "operation"}) or self.sent.tenant in self.judge.operated
        if self.sent.what.get("idempotent") is False and not is_rerun:
            executed = [hit for hit in self.hits if not hit.refused and (not hit.status or hit.status // 100 in (2, 5))]
            self.believe(len(executed) <= 1, "what is not idempotent is executed once")
        if self.is_rerun:
            return
        if not self.is_unsure:
            whole = [hit for hit in self.hits if 200 <= (hit.status or 0) <= 299 and not hit.crossed and hit.at < self.player.healed - 3]
            self.believe(len(whole) <= 1, "what was delivered is not sent again")

    def attempt(self, attempt, hit):
        status, error = attempt.get("status"), (attempt.get("error") or {}).get("code")
        told = f"attempt {attempt['number']} has {status}, {attempt.get('error')}"
        # Late bytes may cross a request that was never read, because the connection ended.
        is_late = self.kind == "late 408" and status == 408
        self.believe(not status or hit or self.kind == "odd" or is_late, "an attempt has the status that was sent", told)
        if not hit or hit.crossed or self.kind == "odd" or self.kind in REDIRECTS:
            return
        if status:
            self.believe(hit.status == status, "an attempt has the status that was sent", told)
        elif hit.status and not self.is_unsure:
            self.believe(self.is_suspect or error in ("timeout", "interrupted", "cancelled") or "cancel" in self.sent.touched, "a status that arrived stays", told)

    def follow(self):
        """As they are shown, one attempt has ended before the next one begins."""
        def end(attempt):
            return datetime.datetime.fromisoformat(attempt["startedAt"]) + datetime.timedelta(seconds=beliefs.milliseconds(attempt["duration"]) / 1000)
        for before, after in zip(self.call["attempts"], self.call["attempts"][1:]):
            ahead = (end(before) - datetime.datetime.fromisoformat(after["startedAt"])).total_seconds()
            self.believe(ahead < OVERLAP, "attempts follow each other", f"{before} ended {ahead:.3f} s after {after} began")

    def waited(self):
        if self.kind in WAITS and len(self.hits) > 1 and not self.is_rerun and self.player.healed > self.hits[1].at and not self.judge.was_silent():
            waited = self.hits[1].at - self.hits[0].at
            self.believe(waited > 0.9 or self.hits[0].status not in (429, 503), "Retry-After is heeded", f"{waited:.2f} s apart")

    def bytes(self):
        """Those that are not UTF-8, and texts that are cut."""
        shown = self.call["response"]
        if self.kind == "latin" and shown and shown["status"] and "sensitive" not in self.sent.what:
            name = shown["headers"].get("x-name")
            self.believe(name in (["J\xfcrgen"], None) and shown["encoding"] == "utf8", "bytes stay", f"{name}, {shown['encoding']}")
        if "latin" in self.sent.what and "forward" in self.sent.touched and self.hits:
            self.believe(b"J\xfcrgen" in self.hits[0].head, "bytes stay", f"{self.hits[0].head[-300:]}")

    def delivered(self):
        what = self.sent.what
        if self.world.has_proxy and "credential" in what and not self.world.are_secure[what["target"]]:
            # The proxy would see it.
            return
        is_patient = what.get("attempts", 9) >= (9 if self.kind == "flaky" else 3) and not self.is_cut and "idempotent" not in what and (self.kind not in REDIRECTS or "redirects" in what)
        if is_patient and self.kind in DELIVERED:
            self.believe(self.call["state"] == "succeeded", "what a target delivers succeeds")
        if not self.world.is_calm or self.sent.disturbed or (self.sent.tenant, what["target"]) in self.judge.touched:
            return
        if is_patient and self.kind in DELIVERED_AT_ONCE and "silent" not in self.neighbours:
            self.believe(self.call["attemptCount"] == 1, "what a target delivers at once is one attempt")
        if is_patient and self.kind == "old":
            # By the next attempt the service knows that it has to speak HTTP/1.1.
            self.believe(self.call["attemptCount"] <= 2, "what a target wants is heeded")
        shown = self.call["response"]
        if self.call["state"] == "succeeded" and shown and shown["encoding"] == "utf8" and not shown["truncated"] and what.get("method") != "HEAD" \
                and "sensitive" not in what and self.kind in ("ok", "slow", "created", "blank first"):
            self.believe(self.sent.mark in shown["body"], "each result has its own mark", shown["body"][:80])
        may_wait = LIMITS & {*self.world.settings} or {"delay", "ordering", "policy"} & {*what} or (WAITS | {"flaky"}) & {*self.neighbours}
        if self.kind in ("ok", "big", "created", "empty", "slow") and self.hits and self.sent.answered and not may_wait:
            late = self.hits[0].at - self.sent.begun
            self.believe(late < LATE, "a healthy call is not held back", f"first sent after {late:.1f} s; its neighbours: {self.neighbours}")
