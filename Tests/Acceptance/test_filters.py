"""Lists by several conditions at once, over a restart."""

import time
from urllib.parse import quote

FAST = {"maxAttempts": 2, "backoff": {"strategy": "constant", "initial": "10ms", "jitter": "none"},
        "retryOn": {"statuses": ["500"]}}


def listed(service, query, limit=3):
    """All pages of a list."""
    found, cursor = [], ""
    while True:
        answer = service("GET", f"/v1/calls?limit={limit}&{query}{cursor}")
        assert answer.status == 200, answer.body
        found += [call["id"] for call in answer.json["data"]]
        if not answer.json["nextCursor"]:
            return found
        cursor = f"&cursor={answer.json['nextCursor']}"


def test_conditions_are_combined(redial, receiver):
    target = receiver(lambda request: (int(request.path[1:]), {}, b""))
    service = redial()
    calls = {}
    for status in (200, 404, 500):
        for team in ("payments", "search"):
            for name in (None, "billing"):
                more = {"target": name} if name else {}
                calls[status, team, name] = service.submit(
                    url=f"{target.url}/{status}", labels={"team": team, "region": "eu:1"}, policy=FAST, **more)
    unlabelled = service.submit(url=f"{target.url}/200")
    for identity in [*calls.values(), unlabelled]:
        service.ended(identity)
    service.kill()
    service.start()

    def expected(condition):
        return sorted((i for key, i in calls.items() if condition(*key)), reverse=True)

    eu = quote("eu:1")
    for query, condition in (
        ("label=team:payments", lambda s, t, n: t == "payments"),
        (f"label.region={eu}", lambda s, t, n: True),
        (f"label=region:{eu}&label.team=search", lambda s, t, n: t == "search"),
        ("label=team:payments&state=failed", lambda s, t, n: t == "payments" and s != 200),
        ("label=team:payments&state=failed&target=billing", lambda s, t, n: (t, n) == ("payments", "billing") and s != 200),
        ("status=404", lambda s, t, n: s == 404),
        ("status=400-599&target=billing", lambda s, t, n: n == "billing" and s != 200),
        ("status=500&outcome=answered&label=team:search", lambda s, t, n: s == 500 and t == "search"),
        ("failureReason=attemptsExhausted", lambda s, t, n: s == 500),
        ("failureReason=notRetryable&state=failed", lambda s, t, n: s == 404),
        ("outcome=notSent", lambda *_: False), ("label=team:nobody", lambda *_: False),
        ("target=nobody&status=404", lambda *_: False)):
        assert listed(service, query) == expected(condition), query
    assert unlabelled in listed(service, "status=200")


def test_calls_are_found_by_when_they_were_accepted(redial):
    service = redial()
    calls = []
    for _ in range(6):
        calls.append(service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/", "delay": "1h", "labels": {"a": "b"}}).json)
        time.sleep(0.005)
    times = [call["createdAt"] for call in calls]
    ids = [call["id"] for call in calls]
    for label in ("", "&label=a:b", "&state=scheduled", "&outcome=answered"):
        wanted = [] if "outcome" in label else ids[2:4][::-1]
        assert listed(service, f"createdAfter={times[2]}&createdBefore={times[4]}{label}") == wanted
    assert listed(service, f"createdAfter={times[3]}") == ids[3:][::-1]
    assert listed(service, f"createdBefore={times[3]}") == ids[:3][::-1]
    assert service("GET", "/v1/calls?createdAfter=yesterday").status == 400


def test_a_condition_without_an_index_costs_a_bounded_look_a_page(redial):
    service = redial("--max-scan", "100")
    wanted = service.submit(url="http://127.0.0.1:1/", policy={"maxAttempts": 1})
    service.ended(wanted)
    for _ in range(5):
        service("POST", "/v1/calls/batch", [{"url": "http://127.0.0.1:1/", "delay": "1h"}] * 99)
    page = service("GET", "/v1/calls?outcome=notSent").json
    assert page["data"] == [] and page["nextCursor"], "a page may be short, and says where the list goes on"
    pages, found = 1, []
    while page["nextCursor"]:
        page = service("GET", f"/v1/calls?outcome=notSent&cursor={page['nextCursor']}").json
        found += page["data"]
        pages += 1
    assert [call["id"] for call in found] == [wanted] and 5 <= pages <= 7

