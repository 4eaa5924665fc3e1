"""Orderly stops, and sudden ends."""

import http.client
import signal
import socket
import threading

import pytest

from processes import BOUND, HASTY, Constants, breaker, free_port, wait_until

# Longer than a test may take: what ends, ends before.
LONG = ("--drain-timeout", "10m")
PATIENT = {"attemptTimeout": "10m"}


@pytest.fixture
def holding(receiver):
    """A target that holds its first request until `release` is set, and answers all others at once."""
    def answer(request):
        if request is target.requests[0]:
            target.release.wait(BOUND)
        return 200, {}, b"ok"

    target = receiver(answer)
    target.release = threading.Event()
    yield target
    target.release.set()


def submit_slow(service, target, **policy):
    """A call whose first attempt is in flight."""
    identity = service.submit(url=target.url, policy=PATIENT | policy)
    target.next()
    return identity


def test_sigterm_lets_a_running_attempt_end_accepts_no_more_and_exits_0(redial, holding):
    service = redial(*LONG)
    identity = submit_slow(service, holding)
    later = service.submit(url=holding.url, delay="10m")
    service.process.send_signal(signal.SIGTERM)

    def refuses():
        try:
            socket.create_connection(("127.0.0.1", service.port), BOUND).close()
        # A connection that waits to be accepted while the listener is closed is reset.
        except (ConnectionRefusedError, ConnectionResetError):
            return True

    wait_until(refuses, "no connection is accepted")
    assert service.process.poll() is None, "it did not wait for the attempt"
    holding.release.set()
    # Long before the drain's time is over.
    assert service.process.wait(BOUND) == 0
    service.start()
    call = service.get(identity)
    assert call["state"] == "succeeded"
    assert [a["outcome"] for a in call["attempts"]] == ["answered"]
    assert service.get(later)["state"] == "scheduled"


def test_an_attempt_that_outlasts_the_drain_is_cut_off_and_runs_again(redial, holding):
    service = redial("--drain-timeout", "300ms")
    identity = submit_slow(service, holding)
    # The target does not answer before the process has ended.
    assert service.terminate() == 0
    service.start()
    call = service.ended(identity)
    assert call["state"] == "succeeded"
    assert [a["outcome"] for a in call["attempts"]] == ["interrupted", "answered"]


def test_an_attempt_under_way_at_kill_9_is_interrupted_and_not_the_targets_failure(redial, holding):
    service = redial(*breaker(**HASTY))
    identity = submit_slow(service, holding, maxAttempts=1)
    service.kill()
    service.start()
    call = service.ended(identity)
    assert call["state"] == "succeeded", "the interruption was charged"
    assert [a["outcome"] for a in call["attempts"]] == ["interrupted", "answered"]
    assert call["attempts"][0]["error"]["code"]
    assert call["attemptCount"] == 2
    assert [request.headers["idempotency-key"] for request in holding.requests] == [identity] * 2
    assert service.target(holding.url)["breaker"]["state"] == "closed"
    assert "breakerOpened" not in service.log.read_text()


def test_a_second_signal_stops_at_once(redial, holding):
    service = redial(*LONG)
    submit_slow(service, holding)
    service.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "stopping" in service.log.read_text(), "it drains")
    service.process.send_signal(signal.SIGTERM)
    # The attempt is still held.
    assert service.process.wait(BOUND) == -signal.SIGTERM


def test_a_stop_writes_the_lines_about_single_calls_that_wait(redial, receiver):
    target = receiver()
    service = redial("--log-level", "debug")
    calls = [service.submit(url=target.url) for _ in range(200)]
    for identity in calls:
        service.ended(identity)
    assert service.terminate() == 0
    lines = service.log.read_text().splitlines()
    assert {identity for identity in calls if not any("callEnded" in line and identity in line for line in lines)} == set()


def test_an_idle_connection_does_not_hold_up_a_stop(redial):
    service = redial(*LONG, Constants(headerTimeout="10m", idleTimeout="10m"))
    idle = http.client.HTTPConnection("127.0.0.1", service.port, timeout=BOUND)
    idle.request("GET", "/healthz")
    assert idle.getresponse().read() == b"ok\n"
    half = socket.create_connection(("127.0.0.1", service.port), BOUND)
    half.sendall(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\n")
    # It would wait for both longer than this test waits for it.
    assert service.terminate() == 0


def test_after_a_stop_the_file_alone_has_all_of_the_store(redial, tmp_path):
    service = redial()
    calls = {service.submit(url="http://127.0.0.1:9/", delay="1h") for _ in range(3)}
    assert service("PUT", "/v1/policies/p", {"maxAttempts": 3}).status == 201
    # Clients that listen and wait have read connections of the store in use.
    listeners = [http.client.HTTPConnection("127.0.0.1", service.port, timeout=BOUND) for _ in range(4)]
    for listener, path in zip(listeners, ["/v1/events", "/v1/calls", f"/v1/calls/{min(calls)}?wait=50s", "/v1/events"]):
        listener.request("GET", path)
    assert service.terminate() == 0
    log = service.store.with_name("redial.db-wal")
    assert not log.exists() or log.stat().st_size == 0
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("redial.db", "redial.db.key"):
        (copy / name).write_bytes(service.store.with_name(name).read_bytes())
        (copy / name).chmod(0o600)
    again = redial(folder=copy)
    assert {call["id"] for call in again("GET", "/v1/calls").json["data"]} == calls
    assert [policy["name"] for policy in again("GET", "/v1/policies").json["data"]] == ["p"]


@pytest.mark.parametrize("mode", [0o400, 0o000, 0o444])
def test_files_that_a_reader_of_a_protected_store_has_left_do_not_refuse_the_next_start(redial, mode):
    """As `redial doctor` leaves them beside a file with mode 0400: SQLite gives them its mode. Only root may write them then."""
    service = redial()
    identity = service.submit(url="http://127.0.0.1:9/", delay="1h")
    assert service.terminate() == 0
    files = [service.store.with_name(f"redial.db-{end}") for end in ("wal", "shm")]
    for file in files:
        file.touch()
        file.chmod(mode)
    service.start()
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    assert service.get(identity)["state"] == "scheduled"


@pytest.mark.parametrize("kind, calls", [("dead targets", 5000), ("delayed", 12000)])
def test_a_stop_with_thousands_of_calls_exits_0_each_time(redial, kind, calls):
    # A timer that fires while the calls are being freed must find nothing, and not abort the process.
    service = redial("--drain-timeout", "1s")
    dead = free_port()
    for first in range(0, calls, 1000):
        numbers = range(first, first + 1000)
        if kind == "delayed":
            batch = [{"url": f"http://127.0.0.1:{dead}/", "delay": f"{2000 + n // 2}ms"} for n in numbers]
        else:
            batch = [{"url": f"http://127.0.0.1:{dead}/", "target": f"dead-{n}"} for n in numbers]
        answer = service("POST", "/v1/calls/batch", batch)
        assert answer.status in (200, 207), answer.body[:300]

    def attempts():
        return sum(value for name, value in service.metrics().items() if name.startswith("redial_attempts_total"))

    for stop in range(1, 6):
        wait_until(attempts, f"calls fall due before stop {stop}")
        assert service.terminate() == 0, f"stop {stop}"
        service.start()
    assert "Fatal error" not in service.log.read_text()


def test_two_services_cannot_share_a_store(redial, made, tmp_path):
    first = redial()
    with pytest.raises(AssertionError, match="in use by another process"):
        redial()
    assert first("GET", "/readyz").status == 200
