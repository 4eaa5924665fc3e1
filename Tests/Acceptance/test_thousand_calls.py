"""No accepted call is lost, whatever happens to the target and the machine."""

import http.client
import random
import threading
import time

from processes import NO_BREAKER, wait_until

QUICK = {"backoff": {"initial": "20ms", "max": "200ms"}}


def submit_all(service, target, count, ids, faults):
    """Submits from eight threads; a call that was not answered is submitted again, as another one."""
    left = list(range(count))
    lock = threading.Lock()

    def submitted(number):
        try:
            return service("POST", "/v1/calls", {"url": f"{target.url}/{number}", "policy": QUICK})
        except (OSError, http.client.HTTPException):
            return None

    def client():
        while True:
            with lock:
                if not left:
                    return
                number = left.pop()
            answer = wait_until(lambda: submitted(number), f"call {number} is answered")
            with lock:
                (ids if answer.status == 202 else faults).append(
                    answer.json["id"] if answer.status == 202 else answer.body)

    threads = [threading.Thread(target=client, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    return threads


def check_all(service, target, ids):
    def backlog():
        return service.metrics()["redial_backlog_calls"]

    # However slow the machine is, some end all the time.
    while left := backlog():
        wait_until(lambda: backlog() < left, f"fewer than {left} calls are left")
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
    hits = sum(target.hits().values())
    assert hits > 1200

    def counted():
        metrics = service.metrics()
        attempts = sum(v for n, v in metrics.items() if n.startswith("redial_attempts_total"))
        return (metrics["redial_calls_accepted_total"], attempts) == (1000, hits)
    # What has ended may be counted a moment later.
    wait_until(counted, f"1000 calls and {hits} attempts are counted")


def test_a_thousand_calls_survive_kill_9_in_their_middle(redial, flaky, receiver):
    # Three failures in ten may well be half of some twenty: an open breaker would leave little in flight to kill.
    target = flaky("--fail-rate", "0.3", "--delay", "50ms")
    service = redial(*NO_BREAKER)
    # This one answers no first attempt, so that one is in flight at each kill.
    over = threading.Event()
    silent = receiver(lambda request: (200, {}, b"") if request.headers["redial-attempt"] != "1" or over.wait() else None)
    chance = random.Random(7)
    ids, faults, cut_off = [], [], []
    threads = submit_all(service, target, 1000, ids, faults)
    for share in (250, 550, 800):
        wait_until(lambda: len(ids) >= share, f"{share} calls are accepted")
        cut_off.append(service.submit(url=silent.url, policy=QUICK))
        # An earlier one may be tried again meanwhile.
        wait_until(lambda: any(r.headers["idempotency-key"] == cut_off[-1] for r in silent.requests), "it is under way")
        time.sleep(chance.uniform(0, 0.02))
        service.kill()
        service.start()
    for thread in threads:
        thread.join()
    over.set()
    assert not faults
    assert len(set(ids)) == 1000
    check_all(service, target, ids)
    for identity in cut_off:
        # The next kill may cut off its second attempt too.
        *before, last = [attempt["outcome"] for attempt in service.ended(identity)["attempts"]]
        assert set(before) == {"interrupted"} and last == "answered"
    assert service.terminate() == 0
