"""Orderly stops, and sudden ends."""

import http.client
import signal
import socket
import time

import pytest

from processes import free_port, wait_until


def submit_slow(service, target, seconds):
    identity = service.submit(url=f"{target.url}/slow?delay={seconds}s")
    wait_until(lambda: service.metrics()["redial_attempts_in_flight"] == 1, "the attempt is under way")
    return identity


def test_sigterm_lets_a_running_attempt_end_accepts_no_more_and_exits_0(redial, flaky):
    service, target = redial(), flaky()
    identity = submit_slow(service, target, 1)
    later = service.submit(url=target.url, delay="10m")
    began = time.monotonic()
    service.process.send_signal(signal.SIGTERM)

    def refuses():
        try:
            socket.create_connection(("127.0.0.1", service.port), 1).close()
        # A connection that waits to be accepted while the listener is closed is reset.
        except (ConnectionRefusedError, ConnectionResetError):
            return True

    wait_until(refuses, "no connection is accepted", 5)
    assert service.process.poll() is None, "it did not wait for the attempt"
    assert service.process.wait(10) == 0
    assert 0.5 < time.monotonic() - began < 5
    service.start()
    call = service.get(identity)
    assert call["state"] == "succeeded"
    assert [a["outcome"] for a in call["attempts"]] == ["answered"]
    assert service.get(later)["state"] == "scheduled"


def test_an_attempt_that_outlasts_the_drain_is_cut_off_and_runs_again(redial, flaky):
    service, target = redial("--drain-timeout", "300ms"), flaky()
    identity = submit_slow(service, target, 2)
    began = time.monotonic()
    assert service.terminate() == 0
    assert time.monotonic() - began < 5
    service.start()
    call = service.ended(identity)
    assert call["state"] == "succeeded"
    assert [a["outcome"] for a in call["attempts"]] == ["interrupted", "answered"]


def test_an_attempt_under_way_at_kill_9_is_interrupted_and_not_the_targets_failure(redial, flaky):
    service, target = redial("--breaker-consecutive-failures", "1"), flaky()
    identity = service.submit(url=f"{target.url}/slow?delay=1s", policy={"maxAttempts": 1})
    wait_until(lambda: target.hits().get(identity) == 1, "the target sees the request")
    service.kill()
    service.start()
    call = service.ended(identity)
    assert call["state"] == "succeeded", "the interruption was charged"
    assert [a["outcome"] for a in call["attempts"]] == ["interrupted", "answered"]
    assert call["attempts"][0]["error"]["code"]
    assert call["attemptCount"] == 2 and target.hits()[identity] == 2
    assert service.target(target.url)["breaker"]["state"] == "closed"
    assert "breakerOpened" not in service.log.read_text()


def test_a_second_signal_stops_at_once(redial, flaky):
    service, target = redial("--drain-timeout", "20s"), flaky()
    submit_slow(service, target, 20)
    service.process.send_signal(signal.SIGTERM)
    wait_until(lambda: "stopping" in service.log.read_text(), "it drains")
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(5) == -signal.SIGTERM


def test_an_idle_connection_does_not_hold_up_a_stop(redial):
    service = redial()
    idle = http.client.HTTPConnection("127.0.0.1", service.port)
    idle.request("GET", "/healthz")
    assert idle.getresponse().read() == b"ok\n"
    half = socket.create_connection(("127.0.0.1", service.port))
    half.sendall(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\n")
    began = time.monotonic()
    assert service.terminate() == 0
    assert time.monotonic() - began < 12


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
    for stop in range(1, 6):
        time.sleep(0.5)
        assert service.terminate() == 0, f"stop {stop}"
        service.start()
    assert "Fatal error" not in service.log.read_text()


def test_two_services_cannot_share_a_store(redial, made, tmp_path):
    first = redial()
    with pytest.raises(AssertionError, match="in use by another process"):
        redial()
    assert first("GET", "/readyz").status == 200
