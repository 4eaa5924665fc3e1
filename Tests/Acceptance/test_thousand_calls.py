"""No accepted call is lost, whatever happens to the target and the machine."""

import http.client
import random
import threading
import time

from processes import wait_until

QUICK = {"backoff": {"initial": "20ms", "max": "200ms"}}


def submit_all(service, target, count, ids, faults):
    """Submits from eight threads; a call that was not answered is submitted again, as another one."""
    left = list(range(count))
    lock = threading.Lock()

    def client():
        while True:
            with lock:
                if not left:
                    return
                number = left.pop()
            try:
                answer = service("POST", "/v1/calls", {"url": f"{target.url}/{number}", "policy": QUICK})
            except (OSError, http.client.HTTPException):
                with lock:
                    left.append(number)
                time.sleep(0.01)
                continue
            with lock:
                (ids if answer.status == 202 else faults).append(
                    answer.json["id"] if answer.status == 202 else answer.body)

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    return threads


def check_all(service, target, ids):
    wait_until(lambda: service.metrics()["redial_backlog_calls"] == 0, "all calls end", 60)
    hits = target.hits()
    interrupted = 0
    for identity in ids:
        call = service.get(identity)
        assert call["state"] == "succeeded", call
        assert 1 <= hits.get(identity, 0) <= call["attemptCount"], (hits.get(identity), call)
        assert [a["number"] for a in call["attempts"]] == list(range(1, call["attemptCount"] + 1))
        assert call["attempts"][-1]["status"] == 200
        interrupted += sum(a["outcome"] == "interrupted" for a in call["attempts"])
    return interrupted


def test_a_thousand_calls_to_a_target_that_fails_three_in_ten_all_succeed(redial, flaky):
    target, service = flaky("--fail-rate", "0.3", "--seed", "42"), redial()
    ids, faults = [], []
    for thread in submit_all(service, target, 1000, ids, faults):
        thread.join()
    assert not faults
    assert len(set(ids)) == 1000
    assert check_all(service, target, ids) == 0
    assert service.metrics()["redial_calls_accepted_total"] == 1000
    attempts = sum(v for n, v in service.metrics().items() if n.startswith("redial_attempts_total"))
    assert attempts == sum(target.hits().values()) > 1200


def test_a_thousand_calls_survive_kill_9_in_their_middle(redial, flaky):
    # Three failures in ten may well be half of some twenty: an open breaker would leave nothing in flight to kill.
    target = flaky("--fail-rate", "0.3", "--delay", "50ms")
    service = redial("--breaker-failure-rate", "0", "--breaker-consecutive-failures", "0")
    chance = random.Random(7)
    ids, faults = [], []
    threads = submit_all(service, target, 1000, ids, faults)
    for share in (250, 550, 800):
        wait_until(lambda: len(ids) >= share, "calls are accepted")
        wait_until(lambda: service.metrics()["redial_attempts_in_flight"] > 0, "an attempt is under way")
        time.sleep(chance.uniform(0, 0.02))
        service.kill()
        service.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(set(ids)) == 1000
    assert check_all(service, target, ids) > 0, "no attempt was under way at any of three kills"
    assert service.terminate() == 0
