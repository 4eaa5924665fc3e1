"""What is believed of one call, once it has ended: its outcome is what its target has made of it."""

DELIVERED_AT_ONCE = {"ok", "big", "created", "empty", "late", "late chunk", "members", "latin", "bad end"}
DELIVERED = DELIVERED_AT_ONCE | {"slow", "flaky", "busy", "two waits", "folded wait", "beyond 599", "trailers", "coding", "conflict", "late 408", "redirect",
                                 "cut", "silent", "blank first", "see other"}
# Paths that ask for a wait, and those that need more than one request or answer with anything.
WAITS = {"busy", "two waits", "folded wait"}
REDIRECTS = {"redirect", "see other"}
# What a body may be cut or replaced by.
UNSURE = {"odd", "cut", "slow", "conflict", "silent", "reset", "hang"}
# How late a call may begin that nothing but a sick neighbour delays, in seconds: it gets two, and the machine has other work.
LATE = 5
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
        # Whether somebody may have run it again.
        self.is_rerun = bool(sent.touched & {"retry", "again", "operation"}) or sent.tenant in judge.operated

    def believe(self, holds, belief, more=""):
        call = self.call
        self.judge.believe(holds, belief, f"{self.sent}, {self.kind}: {call['state']} {call.get('failureReason')} after {call['attemptCount']} attempts; "
                           f"{'; '.join(map(str, self.hits[:5]))} {more}")

    def check(self):
        self.believe(self.call["state"] in ("succeeded", "failed", "cancelled"), "each call ends")
        self.believe(len({hit.attempt for hit in self.hits}) <= self.call["attemptCount"], "attemptCount is what the target saw")
        if self.sent.cancelled:
            return self.cancelled()
        self.executed()
        for attempt in self.call["attempts"]:
            self.attempt(attempt, next((hit for hit in self.hits if hit.attempt == attempt["number"]), None))
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
        if self.is_interrupted or self.is_rerun or self.kind == "odd" or self.kind in REDIRECTS:
            return
        if self.sent.what.get("idempotent") is False:
            executed = [hit for hit in self.hits if hit.status not in (408, 425, 429)]
            self.believe(len(executed) <= 1, "what is not idempotent is executed once")
        if self.kind not in UNSURE:
            whole = [hit for hit in self.hits if 200 <= (hit.status or 0) <= 299 and not hit.crossed and hit.at < self.player.healed - 3]
            self.believe(len(whole) <= 1, "what was delivered is not sent again")

    def attempt(self, attempt, hit):
        status, error = attempt.get("status"), (attempt.get("error") or {}).get("code")
        told = f"attempt {attempt['number']} has {status}, {attempt.get('error')}"
        self.believe(not status or hit or self.kind == "odd", "an attempt has the status that was sent", told)
        if not hit or hit.crossed or self.kind == "odd" or self.kind in REDIRECTS:
            return
        if status:
            self.believe(hit.status == status, "an attempt has the status that was sent", told)
        elif hit.status and self.kind not in UNSURE:
            self.believe(self.is_suspect or error in ("timeout", "interrupted", "cancelled") or "cancel" in self.sent.touched, "a status that arrived stays", told)

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
        is_patient = what.get("attempts", 9) >= (9 if self.kind == "flaky" else 3) and "idempotent" not in what and (self.kind not in REDIRECTS or "redirects" in what)
        if is_patient and self.kind in DELIVERED:
            self.believe(self.call["state"] == "succeeded", "what a target delivers succeeds")
        if not self.world.is_calm or self.sent.disturbed or (self.sent.tenant, what["target"]) in self.judge.touched:
            return
        if is_patient and self.kind in DELIVERED_AT_ONCE and "silent" not in self.neighbours:
            self.believe(self.call["attemptCount"] == 1, "what a target delivers at once is one attempt")
        shown = self.call["response"]
        if self.call["state"] == "succeeded" and shown and shown["encoding"] == "utf8" and not shown["truncated"] and what.get("method") != "HEAD" \
                and "sensitive" not in what and self.kind in ("ok", "slow", "created", "blank first"):
            self.believe(self.sent.mark in shown["body"], "each result has its own mark", shown["body"][:80])
        may_wait = LIMITS & {*self.world.settings} or {"delay", "ordering", "policy"} & {*what} or (WAITS | {"flaky"}) & {*self.neighbours}
        if self.kind in ("ok", "big", "created", "empty", "slow") and self.hits and self.sent.answered and not may_wait:
            late = self.hits[0].at - self.sent.begun
            self.believe(late < LATE, "a healthy call is not held back", f"first sent after {late:.1f} s; its neighbours: {self.neighbours}")
