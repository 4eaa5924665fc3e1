"""What clients see while the database of an instance is in trouble, and afterwards."""

import time

from processes import wait_until


def test_while_the_database_is_away_calls_are_refused_and_accepted_ones_go_on_when_it_is_back(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1)
    accepted = [service.submit(url=target.url, delay="1s") for _ in range(5)]
    cluster.stop("immediate")
    # Longer than the lease, so that the session is over when the database is back.
    end, refused = time.monotonic() + 5, 0
    while time.monotonic() < end:
        began = time.monotonic()
        answer = service("POST", "/v1/calls", {"url": target.url})
        if answer.status == 202:
            # It was committed before the stop was noticed: so it counts.
            accepted.append(answer.json["id"])
            continue
        assert (answer.status, answer.json["status"]) == (503, 503), answer.body
        assert int(answer.headers["retry-after"]) >= 1
        assert time.monotonic() - began < 5
        refused += 1
    assert refused > 0
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
