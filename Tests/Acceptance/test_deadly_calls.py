"""A call that ends the process whenever it runs: it is found after a few deaths, and all others go on, each to its end."""

import http.client
import json
import signal
import threading
import time
import uuid

import pytest

import faults
import needs
from processes import BOUND, NO_BREAKER, wait_until

QUICK = {"maxAttempts": 50, "backoff": {"initial": "20ms", "max": "100ms"}}
# Deaths until a call ends that is in flight alone: by a kill, and by a crash. Beside others it depends on how fast the machine
# is, since a death tells nothing while a second one is in flight; SuspectTests count those with a clock of their own.
KILLS, NAMED = 4, 2


class Undying:
    """A service that is started again whenever it dies, and a target that ends it."""

    def __init__(self, service, receiver, how=signal.SIGKILL):
        self.service, self.how = service, how
        self.deaths, self.codes, self.is_over, self.is_deadly = 0, set(), False, True
        self.slow = threading.Event()
        self.target = receiver(self.answer)
        self.supervisor = threading.Thread(target=self.supervise, daemon=True)
        self.supervisor.start()

    def answer(self, request):
        if request.path.startswith("/deadly") and self.is_deadly:
            if self.how is None:
                return 200, {"X-Crash": "yes"}, b""
            process = self.service.process
            process.send_signal(self.how)
            wait_until(lambda: process.poll() is not None, "it has died")
            return None
        if request.path.startswith("/slow"):
            time.sleep(1)
        if request.path.startswith("/held"):
            self.slow.wait(BOUND)
        return 200, {}, b"well"

    def supervise(self):
        while not self.is_over:
            process = self.service.process
            code = process.wait()
            if self.is_over:
                return
            self.deaths += 1
            self.codes.add(code)
            try:
                self.service.start()
            except AssertionError:
                # A suspect begins at once, and may end the process before that says that it listens.
                if self.service.process.poll() is None:
                    raise

    def kill(self):
        """Somebody kills it, and it is started again."""
        before = self.deaths
        process = self.service.process
        process.kill()
        wait_until(lambda: self.deaths > before and self.service.process is not process, "it was started again")

    def ask(self, *arguments):
        """An answer, whatever dies meanwhile."""
        def answered():
            try:
                answer = self.service(*arguments)
            except (OSError, http.client.HTTPException):
                return None
            return answer if answer.status < 500 else None
        return wait_until(answered, f"{arguments[:2]} is answered")

    def submit(self, path, headers=None, **more):
        descriptor = {"url": f"{self.target.url}{path}", "policy": QUICK} | more
        # A submission is sent again if its answer is lost with the process.
        answer = self.ask("POST", "/v1/calls", descriptor, headers or {"Idempotency-Key": str(uuid.uuid4())})
        assert answer.status in (200, 202), answer.body
        return answer.json["id"]

    def ended(self, identity):
        def ended():
            call = self.ask("GET", f"/v1/calls/{identity}").json
            return call["finishedAt"] and call
        return wait_until(ended, f"{identity} ends")

    def check_found(self, identity):
        call = self.ended(identity)
        assert (call["state"], call["failureReason"]) == ("failed", "attemptEndedTheService"), call
        assert {attempt["outcome"] for attempt in call["attempts"]} == {"interrupted"}
        assert call["attempts"][-1]["error"]["code"] == "attemptEndedTheService"
        lines = [json.loads(line) for line in self.service.log.read_text().splitlines() if line.startswith("{")]
        found = [line for line in lines if line.get("level") == "error" and line.get("callId") == identity]
        assert [line["reason"] for line in found] == ["attemptEndedTheService"], found
        assert "retry" in found[0]["meaning"] and found[0]["target"] == self.target.url
        listed = self.ask("GET", "/v1/calls?failureReason=attemptEndedTheService").json["data"]
        assert identity in [entry["id"] for entry in listed]
        return call

    def check_well(self, identities):
        for identity in identities:
            call = self.ended(identity)
            assert call["state"] == "succeeded", call


@pytest.fixture
def undying(redial, receiver):
    made = []

    def start(how=signal.SIGKILL, **more):
        # A trace of all threads takes seconds, and is not what is tested.
        env = {"SWIFT_BACKTRACE": "enable=no"} | more.pop("env", {})
        made.append(Undying(redial(*NO_BREAKER, "--log-format", "json", env=env, **more), receiver, how))
        return made[-1]
    yield start
    for one in made:
        one.is_over = True
        one.slow.set()


HOW = pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
# The default has no limit of attempts, and so a minimum for each wait.
POLICIES = pytest.mark.parametrize("policy", [QUICK, {}], ids=["quick", "default"])


@HOW
@POLICIES
def test_forty_healthy_calls_beside_it_succeed(undying, how, policy):
    here = undying(how)
    soon = policy | {"deadline": "1m"}
    healthy = [here.submit(f"/slow/{number}", policy=soon if number % 2 else policy) for number in range(10)]
    deadly = here.submit("/deadly", policy=policy)
    healthy += [here.submit(f"/{number}", policy=soon if number % 2 else policy) for number in range(30)]
    here.check_well(healthy)
    call = here.check_found(deadly)
    assert here.deaths == call["attemptCount"]


@HOW
@POLICIES
def test_it_ends_alone(undying, how, policy):
    here = undying(how)
    deadly = here.submit("/deadly", policy=policy)
    call = here.check_found(deadly)
    assert here.deaths == call["attemptCount"] == (KILLS if how == signal.SIGKILL else NAMED)
    assert here.codes == {-how}, "a crash is seen as what it was"


def test_two_of_different_targets_end_and_nobody_else(undying, receiver):
    here = undying()
    other = receiver(here.answer)
    healthy = [here.submit(f"/slow/{number}") for number in range(5)]
    deadly = [here.submit("/deadly/1"), here.submit("/deadly/2", url=f"{other.url}/deadly/2")]
    healthy += [here.submit(f"/{number}") for number in range(10)]
    here.check_well(healthy)
    for identity in deadly:
        assert here.ended(identity)["failureReason"] == "attemptEndedTheService"


@pytest.mark.parametrize("place", [0, 5, 11])
def test_a_crash_names_its_call(undying, place):
    needs.c_compiler()
    here = undying(None, env={"LD_PRELOAD": str(faults.shim("crash"))})
    held = [here.submit(f"/held/{number}") for number in range(11)]
    wait_until(lambda: len(here.target.requests) == 11, "all are in flight")
    deadly = here.submit("/deadly")
    call = here.check_found(deadly)
    here.slow.set()
    assert here.deaths == call["attemptCount"] == NAMED and here.codes == {-signal.SIGSEGV}
    here.check_well(held)


def test_a_repetition_under_its_key_does_not_start_it_again_and_a_person_does(undying):
    here = undying()
    key = {"Idempotency-Key": "one"}
    deadly = here.submit("/deadly", key)
    here.check_found(deadly)
    deaths = here.deaths
    for _ in range(3):
        answer = here.ask("POST", "/v1/calls", {"url": f"{here.target.url}/deadly", "policy": QUICK}, key)
        assert answer.json["id"] == deadly and answer.json["state"] == "failed", answer.body
    here.check_well([here.submit("/behind")])
    assert here.deaths == deaths
    here.is_deadly = False
    assert here.ask("POST", f"/v1/calls/{deadly}/retry").status == 200
    here.check_well([deadly])
    assert here.deaths == deaths


def test_a_webhook_is_found_too(undying):
    here = undying()
    identity = here.submit("/good", callback={"url": f"{here.target.url}/deadly"})
    here.check_well([identity])

    def webhooks():
        return here.ask("GET", "/v1/calls?kind=webhook&failureReason=attemptEndedTheService").json["data"]
    wait_until(lambda: len(webhooks()) == 1, "the webhook has ended")
    assert here.deaths == KILLS


def test_nobody_is_blamed_for_kills_from_outside_and_nobody_waits_for_who_hangs(undying):
    here = undying()
    held = [here.submit(f"/held/{number}", policy=QUICK | {"attemptTimeout": "10m"}) for number in range(12)]
    wait_until(lambda: len(here.target.requests) == 12, "all are in flight")
    for _ in range(5):
        before = len(here.target.requests)
        here.kill()
        wait_until(lambda: len(here.target.requests) > before, "they are sent again")
        here.check_well([here.submit("/new", policy=QUICK | {"deadline": "1m"})])
    here.slow.set()
    here.check_well(held)


def test_on_postgresql(undying, database):
    here = undying(location=database().url)
    healthy = [here.submit(f"/slow/{number}") for number in range(5)]
    deadly = here.submit("/deadly")
    healthy += [here.submit(f"/{number}") for number in range(10)]
    here.check_well(healthy)
    call = here.check_found(deadly)
    assert here.deaths == call["attemptCount"]


@pytest.mark.parametrize("away", ["the database", "the process"])
def test_nobody_is_blamed_for_a_lease_that_is_lost(redial, receiver, database, away):
    held = threading.Event()
    cluster, target = database(), receiver(lambda request: held.wait(BOUND) and None or (200, {}, b""))
    service = redial("--lease-duration", "2s", location=cluster.url)
    call = service.submit(url=target.url, policy=QUICK | {"attemptTimeout": "10m"})
    for number in range(1, 6):
        wait_until(lambda: len(target.requests) == number, "it is sent again")
        wait_until(lambda: service.get(call)["state"] == "running", "it is in flight")
        if away == "the database":
            cluster.stop("fast")
            wait_until(lambda: service.log.read_text().count("leaseLost") == number, "the lease is lost")
            cluster.start()
        else:
            service.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: cluster.query(
                "SELECT bool_and(expires_at < extract(epoch FROM clock_timestamp()) * 1000000) FROM redial.beats", "redial") == [["t"]],
                "the lease has ended")
            service.process.send_signal(signal.SIGCONT)
    wait_until(lambda: service("GET", "/readyz").status == 200, "it has its part of the store again")
    held.set()
    ended = service.ended(call)
    assert ended["state"] == "succeeded", ended
