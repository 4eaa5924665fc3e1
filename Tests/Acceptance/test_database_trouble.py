"""What clients see while the database of an instance is in trouble, and afterwards."""

import concurrent.futures
import subprocess

from databases import PROGRAMS
from processes import BOUND, wait_until


def test_while_the_database_is_away_calls_are_refused_and_accepted_ones_go_on_when_it_is_back(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1)
    accepted = [service.submit(url=target.url, delay="1s") for _ in range(5)]
    cluster.stop("immediate")

    def is_refused_without_a_lease():
        is_over = "leaseLost" in service.log.read_text()
        answer = service("POST", "/v1/calls", {"url": target.url})
        if answer.status == 202:
            # It was committed before the stop was noticed: so it counts.
            accepted.append(answer.json["id"])
            return False
        assert (answer.status, answer.json["status"]) == (503, 503), answer.body
        assert int(answer.headers["retry-after"]) >= 1
        return is_over
    # So long that the session is over when the database is back.
    wait_until(is_refused_without_a_lease, "the lease is over, and calls are refused")
    assert service("GET", "/readyz").status == 503 and service("GET", "/healthz").status == 200
    assert service("GET", f"/v1/calls/{accepted[0]}").status == 503
    cluster.start()
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    accepted.append(service.submit(url=target.url))
    for identity in accepted:
        assert service.ended(identity)["state"] == "succeeded"


def test_a_key_whose_submission_was_in_doubt_makes_one_call(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1)
    cluster.stop("immediate")
    submit = lambda: service("POST", "/v1/calls", {"url": target.url}, {"idempotency-key": "in-doubt"})
    assert submit().status == 503
    cluster.start()
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    answers = [submit() for _ in range(3)]
    assert all(answer.status in (200, 202) for answer in answers), [answer.body for answer in answers]
    assert len({answer.json["id"] for answer in answers}) == 1
    service.ended(answers[0].json["id"])
    assert len(target.requests) == 1


def test_a_submission_that_is_in_doubt_while_the_database_is_away_gets_an_answer(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1)
    # It keeps the commit open until the server stops.
    holder = subprocess.Popen(
        [f"{PROGRAMS[0]}/psql", "-X", "-q", "-h", cluster.folder, "-U", "postgres", "-d", "redial", "-c",
         "BEGIN; LOCK redial.requests IN EXCLUSIVE MODE; SELECT pg_sleep(600)"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'redial'"
    try:
        wait_until(lambda: cluster.query(
            "SELECT count(*) FROM pg_locks WHERE mode = 'ExclusiveLock' AND granted AND relation IS NOT NULL")
            != [["0"]], "the table is locked")
        submit = lambda: service("POST", "/v1/calls", {"url": target.url}, {"idempotency-key": "doubted"})
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(submit)
            wait_until(lambda: cluster.query(waiting) == [["1"]], "the commit waits")
            cluster.stop("immediate")
            doubted = answer.result(BOUND)
    finally:
        holder.kill()
        holder.wait(BOUND)
    assert (doubted.status, doubted.json["code"]) == (503, "outcomeUnknown"), doubted.body
    assert int(doubted.headers["retry-after"]) >= 1
    cluster.start()
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    again = submit()
    assert again.status in (200, 202), again.body
    assert service.ended(again.json["id"])["state"] == "succeeded"
    assert len(target.requests) == 1
