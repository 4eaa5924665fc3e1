"""Lists by several conditions at once, over a restart."""

import json
import os
import socket
import threading
from urllib.parse import quote

from processes import BOUND, Client, Constants, run, wait_until

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
        ("label=team=payments", lambda s, t, n: t == "payments"),
        (f"label=region={eu}", lambda s, t, n: True),
        (f"label=region={eu}&label=team=search", lambda s, t, n: t == "search"),
        ("label=team=payments&state=failed", lambda s, t, n: t == "payments" and s != 200),
        ("label=team=payments&state=failed&target=billing", lambda s, t, n: (t, n) == ("payments", "billing") and s != 200),
        ("status=404", lambda s, t, n: s == 404),
        ("status=400-599&target=billing", lambda s, t, n: n == "billing" and s != 200),
        ("status=500&outcome=answered&label=team=search", lambda s, t, n: s == 500 and t == "search"),
        ("failureReason=attemptsExhausted", lambda s, t, n: s == 500),
        ("failureReason=notRetryable&state=failed", lambda s, t, n: s == 404),
        ("outcome=notSent", lambda *_: False), ("label=team=nobody", lambda *_: False),
        ("target=nobody&status=404", lambda *_: False)):
        assert listed(service, query) == expected(condition), query
    assert unlabelled in listed(service, "status=200")


def test_calls_are_found_by_when_they_were_accepted(redial):
    service = redial(clock=True)
    calls = []
    for _ in range(6):
        calls.append(service("POST", "/v1/calls", {"url": "http://127.0.0.1:1/", "delay": "1h", "labels": {"a": "b"}}).json)
        # They would have the same time if they came within a millisecond.
        service.advance(1)
    times = [call["createdAt"] for call in calls]
    ids = [call["id"] for call in calls]
    for label in ("", "&label=a=b", "&state=scheduled", "&outcome=answered"):
        wanted = [] if "outcome" in label else ids[2:4][::-1]
        assert listed(service, f"createdAfter={times[2]}&createdBefore={times[4]}{label}") == wanted
    assert listed(service, f"createdAfter={times[3]}") == ids[3:][::-1]
    assert listed(service, f"createdBefore={times[3]}") == ids[:3][::-1]
    assert service("GET", "/v1/calls?createdAfter=yesterday").status == 400


def passed(service, identity):
    """Lets time pass until a call has ended."""
    wait_until(lambda: service.get(identity)["finishedAt"] or service.advance(0.01), f"{identity} ends")


def test_calls_are_found_by_their_age_and_their_attempts(redial, receiver):
    target = receiver(lambda request: (int(request.path[1:]), {}, b""))
    service = redial(clock=True)
    twice = service.submit(url=f"{target.url}/500", policy=FAST)
    passed(service, twice)
    once = service.submit(url=f"{target.url}/404", policy=FAST, labels={"a": "b"})
    passed(service, once)
    service.advance(3600)
    waiting = service.submit(url=f"{target.url}/200", delay="1h", labels={"a": "b"})
    for restarts in (False, True):
        if restarts:
            service.kill()
            service.start()
        for query, expected in (
            ("attempts=1", [once, twice]), ("attempts=2", [twice]), ("attempts=3", []),
            ("attempts=1&state=scheduled", []), ("attempts=1&label=a=b", [once]), ("attempts=2&label=a=b", []),
            ("attempts=1&status=500", [twice]), (f"attempts=1&target={quote(target.url, safe='')}", [once, twice]),
            ("olderThan=1h", [once, twice]), ("olderThan=1h&attempts=2", [twice]), ("olderThan=2h", [])):
            assert listed(service, query, limit=1) == expected, query
        assert waiting in listed(service, "label=a=b")
    # An operation keeps the time, so that it goes on with the same calls.
    answer = service("POST", "/v1/operations", {
        "action": "retry", "dryRun": True, "filter": {"olderThan": "1h", "attempts": 2}}).json
    assert answer["matched"] == 1 and answer["filter"].keys() == {"state", "createdBefore", "attempts"}
    for wrong in ({"olderThan": "yesterday"}, {"attempts": 0}, {"attempts": "x"}, {"olderThan": 5}):
        answer = service("POST", "/v1/operations", {"action": "retry", "filter": wrong})
        assert answer.status == 422 and [e["pointer"] for e in answer.json["errors"]] == [f"/filter/{[*wrong][0]}"]
    shown = run("list", "--url", service.url, "--older-than", "1h", "--attempts", "2").stdout
    assert twice in shown and shown.count("call_") == 1
    shown = run("ops", "create", "retry", "--dry-run", "--attempts", "2", "--url", service.url).stdout
    assert shown == "retry would act on 1 call: failed, attempts 2\n"


WAITS = ["startTime", "backoff", "retryAfter", "breaker", "concurrency", "rateLimit", "retryBudget", "ordering", "paused",
         "pace", "connections"]
SLOW = {"maxAttempts": 3, "deadline": "1d", "backoff": {"strategy": "constant", "initial": "10m", "jitter": "none"},
        "retryOn": {"statuses": ["404"]}}


def test_calls_are_found_by_what_they_wait_for_as_they_show_it(redial, receiver):
    target = receiver(lambda request: (404, {}, b""))
    service = redial(clock=True)
    tried = service.submit(url=target.url, policy=SLOW)
    wait_until(lambda: service.get(tried)["waitingOn"] == "backoff", "it waits for its next attempt")
    held = [service.submit(url=target.url, delay=delay, target="held") for delay in ("1h", "2h")]
    tripped = service.submit(url=target.url, delay="1h", target="tripped")
    first, second = (service.submit(url=target.url, delay=delay, orderingKey="k") for delay in ("1h", "1s"))
    for name, command in (("held", "pause"), ("tripped", "trip")):
        assert service("POST", f"/v1/targets/{name}/{command}").status == 200

    def shown():
        calls = service("GET", "/v1/calls?state=scheduled&limit=250").json["data"]
        return {call["id"]: (call["waitingOn"], call["nextAttemptAt"]) for call in calls}

    for restarts in (False, True):
        if restarts:
            service.kill()
            service.start()
        waits = shown()
        assert [waits[call] for call in (*held, tripped, second)] == [
            ("paused", None), ("paused", None), ("breaker", None), ("ordering", None)]
        assert [waits[call][0] for call in (tried, first)] == ["backoff", "startTime"]
        for reason in WAITS:
            expected = [call for call, (on, _) in waits.items() if on == reason]
            assert listed(service, f"waitingOn={reason}", limit=1) == expected, reason
            assert listed(service, f"waitingOn={reason}&state=scheduled,failed") == expected, reason
        for time, expected in (("5m", []), ("15m", [tried]), ("2h", [first, tried]), (waits[first][1], [tried])):
            assert listed(service, f"nextAttemptBefore={time}", limit=1) == expected, time
            assert listed(service, f"nextAttemptBefore={time}&attempts=1&waitingOn=backoff") == [
                call for call in expected if call == tried], time
        assert listed(service, "waitingOn=paused&target=held") == held[::-1]
        assert listed(service, "waitingOn=paused&target=tripped") == []
    lines = service("GET", "/v1/calls?waitingOn=paused", headers={"accept": "application/x-ndjson"}).body.splitlines()
    assert [json.loads(line)["waitingOn"] for line in lines] == ["paused"] * 2
    assert service("GET", "/v1/calls?waitingOn=paused&state=failed").status == 400
    out = run("list", "--url", service.url, "--waiting-on", "breaker").stdout
    assert tripped in out and out.count("call_") == 1

    def begin(action, dry=False, **filter):
        return service("POST", "/v1/operations", {"action": action, "filter": filter, "dryRun": dry})

    counted = begin("cancel", waitingOn="paused", dry=True).json
    assert (counted["matched"], counted["isComplete"]) == (2, True) and counted["countedAt"]
    assert counted["filter"] == {"state": "scheduled", "waitingOn": "paused"}
    counted = begin("release", nextAttemptBefore="15m", dry=True).json
    assert counted["matched"] == 1 and counted["filter"]["nextAttemptBefore"] > counted["countedAt"]
    for action, state, name, value in (
            ("retry", None, "waitingOn", "breaker"), ("purge", "failed", "nextAttemptBefore", "5m"),
            ("cancel", "running", "waitingOn", "breaker"), ("cancel", None, "waitingOn", "nothing")):
        refused = begin(action, **{name: value} | ({"state": state} if state else {}))
        assert refused.status == 422 and [e["pointer"] for e in refused.json["errors"]] == [f"/filter/{name}"], refused.json
    # What an operation does is for the calls that it counted.
    for action, filter, ended in (("cancel", {"waitingOn": "paused"}, held), ("release", {"nextAttemptBefore": "15m"}, [])):
        operation = begin(action, **filter)
        assert operation.status == 202, operation.body
        path = f"/v1/operations/{operation.json['id']}"
        wait_until(lambda: service("GET", path).json["state"] == "completed", f"{action} ends")
        assert service("GET", path).json["done"] == (len(ended) or 1)
        assert all(service.get(call)["state"] == "cancelled" for call in ended)
    wait_until(lambda: service.get(tried)["attemptCount"] == 2, "it ran at once")
    assert service.get(tripped)["state"] == service.get(second)["state"] == "scheduled"


def test_a_condition_without_an_index_costs_a_bounded_look_a_page(redial):
    service = redial(Constants(maxScan=100))
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


def test_several_states_a_part_of_the_url_and_the_idempotency_key_find_calls(redial, receiver):
    target = receiver(lambda request: (404 if "lost" in request.path else 200, {}, b""))
    service = redial()
    good = service.submit(url=f"{target.url}/Charges/1?token=s3cret&page=2")
    lost = service.submit(url=f"{target.url}/lost")
    waiting = service.submit(url=f"{target.url}/charges/2", delay="1h")
    gone = service.submit(url=f"{target.url}/refunds", delay="1h")
    service("POST", f"/v1/calls/{gone}/cancel")
    keyed = service("POST", "/v1/calls", {"url": f"{target.url}/keyed"}, {"idempotency-key": '"order 7"'}).json["id"]
    for identity in (good, lost, keyed):
        service.ended(identity)
    service.kill()
    service.start()
    for query, expected in (
        ("state=failed,cancelled", [gone, lost]), ("state=failed&state=cancelled", [gone, lost]),
        ("state=scheduled%2Csucceeded", [keyed, waiting, good]), ("state=failed,cancelled&status=404", [lost]),
        ("url=charges", [waiting, good]), ("url=CHARGES%2F1&state=succeeded,failed", [good]), ("url=page=2", [good]),
        # Redacted text cannot be guessed letter by letter.
        ("url=s3c", []), ("url=token=s", []), ("url=token=R", [good]),
        ("idempotencyKey=order%207", [keyed]), ("idempotencyKey=order", []),
        # Most clients send a space as a plus sign. A time has none, and its offset has a plus sign.
        ("idempotencyKey=order+7", [keyed]), ("idempotencyKey=order%2B7", []),
        ("createdAfter=2020-01-01T00:00:00+01:00&state=failed", [lost]),
        ("idempotencyKey=order%207&state=failed", []), ("idempotencyKey=order%207&url=keyed&kind=call", [keyed]),
        ("idempotencyKey=order%207&kind=webhook", [])):
        assert listed(service, query) == expected, query
    for query in ("state=failed,done", "state=", "state=,", "url=", "idempotencyKey="):
        assert service("GET", f"/v1/calls?{query}").status == 400, query
    # Another namespace has neither the call nor its key.
    for query in ("idempotencyKey=order%207", "url=charges"):
        assert service("GET", f"/v1/calls?{query}", headers={"redial-namespace": "acme"}).json["data"] == []
    filters = {"state": ["failed", "cancelled"], "url": "lost"}
    counted = service("POST", "/v1/operations", {"action": "purge", "dryRun": True, "filter": filters}).json
    assert counted["matched"] == 1 and counted["filter"] == filters
    assert service("POST", "/v1/operations", {"action": "purge", "filter": {"state": []}}).status == 422
    shown = run("list", "--url", service.url, "--state", "failed,cancelled", "--in-url", "lost").stdout
    assert lost in shown and gone not in shown
    shown = run("list", "--url", service.url, "--idempotency-key", "order 7").stdout
    assert keyed in shown and shown.count("call_") == 1


def test_a_part_of_the_url_costs_a_bounded_look_a_page(redial):
    service = redial(Constants(maxScan=100))
    wanted = service.submit(url="http://127.0.0.1:1/wanted", delay="1h")
    for _ in range(3):
        service("POST", "/v1/calls/batch", [{"url": "http://127.0.0.1:1/", "delay": "1h"}] * 99)
    page = service("GET", "/v1/calls?url=wanted").json
    assert page["data"] == [] and page["nextCursor"]
    assert listed(service, "url=wanted") == [wanted]


def processor_seconds(service):
    with open(f"/proc/{service.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_search_of_long_urls_is_linear_and_no_look_up_waits_for_it(redial):
    service = redial()
    one = service.submit(url="http://127.0.0.1:1/x", delay="1h")
    lines = "\n".join(json.dumps({"url": f"http://h/{'a' * 8100}", "delay": "1h"}) for _ in range(600))
    answer = service("POST", "/v1/calls/batch", lines.encode(),
                     {"content-type": "application/x-ndjson", "prefer": "return=minimal"})
    assert answer.body.count(b'"status":202') == 600
    path = f"/v1/calls?limit=1&url={'a' * 2000}b"
    before = processor_seconds(service)
    assert service("GET", path).json["data"] == []
    # A page takes 0.04 s of the processor, and took over 20 s with a quadratic search.
    assert processor_seconds(service) - before < 2

    over, pages = threading.Event(), []

    def scan():
        client = Client(service.port)
        while not over.is_set():
            page = client("GET", path)
            pages.append((page.status, page.json["data"]))

    scans = [threading.Thread(target=scan) for _ in range(6)]
    for thread in scans:
        thread.start()
    wait_until(lambda: len(pages) > 6, "scans run all the time")
    overtook = 0

    def looks():
        """Looks a call up while six scans run or wait; counts the looks during which no scan has ended."""
        nonlocal overtook
        ended = len(pages)
        assert service("GET", f"/v1/calls/{one}").status == 200
        overtook += len(pages) == ended
        return overtook >= 20

    try:
        # One that waited its turn would see at least one end each time.
        wait_until(looks, "look-ups overtake scans")
    finally:
        over.set()
        for thread in scans:
            thread.join()
    assert all(page == (200, []) for page in pages), pages
    assert listed(service, f"url={'a' * 2000}b", limit=250) == []
    assert len(listed(service, f"url={'A' * 2000}", limit=250)) == 600
    # The contract's limit.
    assert service("GET", f"/v1/calls?url={'a' * 2049}").status == 400


def test_scans_whose_clients_have_left_are_not_made(redial):
    service = redial(Constants(maxScan=1_000_000))
    lines = "\n".join(json.dumps({"url": f"http://h/{'?a=b' * 2000}", "delay": "1h"}) for _ in range(100))
    service("POST", "/v1/calls/batch", lines.encode(),
            {"content-type": "application/x-ndjson", "prefer": "return=minimal"})
    before = processor_seconds(service)
    assert service("GET", "/v1/calls?limit=1&url=zzz").status == 200
    one = max(processor_seconds(service) - before, 0.05)

    def all_leave():
        """How many seconds of a processor the requests of forty clients take that leave, and that of one that stays."""
        before, leaving = processor_seconds(service), []
        for _ in range(40):
            leaving.append(socket.create_connection(("127.0.0.1", service.port), BOUND))
            leaving[-1].sendall(b"GET /v1/calls?limit=1&url=zzz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        # When a later request of another client is answered, all of them have been read.
        assert Client(service.port)("GET", "/healthz").status == 200
        for connection in leaving:
            connection.close()
        # A new request waits for the running ones, and not for all forty.
        assert service("GET", "/v1/calls?limit=1&url=zzz").status == 200
        return processor_seconds(service) - before
    # The service scans for as long as a busy machine keeps the test from leaving.
    took = []
    while not took or took[-1] >= 12 * one:
        assert len(took) < 5, (took, one)
        took.append(all_leave())
