"""A target's view of its calls, and defaults for targets that match a pattern."""

import json

from processes import run, wait_until


def test_calls_of_a_paused_target_are_counted_once_whatever_happens(redial, receiver):
    service, target = redial(), receiver()
    path = "/v1/targets/held"
    service("POST", path + "/pause")
    batch = service("POST", "/v1/calls/batch", [{"url": target.url, "target": "held"}] * 60).json
    identities = [item["call"]["id"] for item in batch["data"]]

    def counted():
        view = service("GET", path).json
        return view["waiting"], view["backlog"]["total"]
    wait_until(lambda: counted() == (60, 60), "all wait")
    for end in (service.kill, service.terminate):
        end()
        service.start()
        wait_until(lambda: counted() == (60, 60), "all wait, and each is counted once")
    for identity in identities[:5]:
        assert service("DELETE", f"/v1/calls/{identity}/content").status == 409
        service("POST", f"/v1/calls/{identity}/retry")
    assert counted() == (60, 60)
    for identity in identities:
        assert service("POST", f"/v1/calls/{identity}/cancel").status == 200
    assert counted() == (0, 0)


def milliseconds(duration):
    """A duration of at most seconds, in milliseconds."""
    return float(duration[:-2]) if duration.endswith("ms") else 1000 * float(duration.removesuffix("s"))


def test_a_target_tells_what_its_calls_wait_for_and_how_they_fared(redial, flaky):
    service, target = redial(), flaky()
    key = target.url
    path = "/v1/targets/" + key.replace("/", "%2F")
    took = []
    for _ in range(20):
        call = service.ended(service.submit(url=target.url + "/?delay=20ms"))
        took.append(milliseconds(call["attempts"][0]["duration"]))
    service.ended(service.submit(url=target.url + "/?fail=1&status=404"))
    view = service("GET", path).json
    for window in ("1m", "5m", "15m"):
        recent = view["recent"][window]
        assert recent["succeeded"] == 20 and recent["failed"] == 1
        assert all(recent["latency"][q] for q in ("p50", "p95", "p99"))
        # As its attempts say, within the precision of the buckets.
        assert 0.8 * min(took) < milliseconds(recent["latency"]["p50"]) < 1.25 * max(took), (recent, took)
    assert view["backlog"] == {"total": 0, "isComplete": True, "byReason": {}} and view["drainEstimate"] == "0s"
    # A hundred at four a time, 100 ms each.
    service("PUT", path, {"maxInFlight": 4})
    service("POST", path + "/pause")
    batch = [{"url": target.url + "/?delay=100ms"}] * 100 + [{"url": target.url, "delay": "1h"}] * 3
    service("POST", "/v1/calls/batch", batch)
    service("POST", "/v1/calls/batch", [{"url": target.url, "delay": "1h", "orderingKey": "k"}] * 4)
    paused = service("GET", path).json
    assert paused["backlog"]["byReason"]["paused"] == 100 and paused["drainEstimate"] is None
    assert paused["backlog"]["byReason"]["ordering"] == 3 and paused["backlog"]["byReason"]["startTime"] == 4
    assert paused["backlog"]["total"] == 107 and paused["backlog"]["isComplete"]
    assert service.target(key)["backlog"] == paused["backlog"]
    service("POST", path + "/resume")

    def draining():
        view = service("GET", path).json
        return view["recent"]["1m"]["succeeded"] >= 40 and view
    view = wait_until(draining, "some are done")
    assert view["overrides"] == {"maxInFlight": 4} and view["pattern"] is None
    if view["waiting"]:
        assert view["drainEstimate"].endswith("s") and view["backlog"]["byReason"]["concurrency"] > 0
    wait_until(lambda: service("GET", path).json["waiting"] == 0, "all are done")
    text = run("targets", key, "--url", service.url).stdout
    assert "p95" in text and "due calls would take" in text


def test_rules_in_the_config_file_hold_for_targets_that_match(redial, flaky, tmp_path):
    config = tmp_path / "redial.json"
    config.write_text(json.dumps({"targetDefaults": {"maxInFlight": 30}, "targetRules": [
        {"match": "127.0.0.*", "settings": {"maxInFlight": 2, "attemptTimeout": "7s"}},
        {"match": "bill*", "settings": {"maxInFlight": 5}}, {"match": "*", "settings": {"maxInFlight": 9}}]}))
    service, target = redial("--config", config), flaky()
    path = "/v1/targets/" + target.url.replace("/", "%2F")
    for name, expected, pattern in ((None, 2, "127.0.0.*"), ("billing", 5, "bill*"), ("other", 9, "*")):
        service.submit(url=target.url, **({"target": name} if name else {}))
        view = service.target(name or target.url)
        assert (view["settings"]["maxInFlight"], view["pattern"], view["overrides"]) == (expected, pattern, {})
    assert service("GET", path).json["settings"]["attemptTimeout"] == "7s"
    # The settings of one target come first, also after a restart; omitted ones follow the rule.
    service("PUT", path, {"maxInFlight": 1})
    for _ in range(2):
        view = service("GET", path).json
        assert view["settings"]["maxInFlight"] == 1 and view["settings"]["attemptTimeout"] == "7s"
        assert view["overrides"] == {"maxInFlight": 1} and view["pattern"] == "127.0.0.*"
        service.terminate()
        service.start()


def test_a_rule_that_is_wrong_stops_the_start_and_is_named(tmp_path):
    config = tmp_path / "redial.json"
    for text, words in (
        ('{\n"targetRules": [\n{"match": "a", "settings": {"maxInFlight": 0}}]}', ("line 3", "/0/settings/maxInFlight")),
        ('{\n"targetRules": [{"settings": {}}]}', ("line 2", "/0/match is missing")),
        ('{"targetRules": {}}', ("targetRules",)),
    ):
        config.write_text(text)
        result = run("serve", "--config", config, "--store", f"sqlite:{tmp_path}/x.db", "--listen", "127.0.0.1:0")
        assert result.returncode != 0
        for word in words:
            assert word in result.stderr, result.stderr


def test_targets_are_listed_in_pages(redial, flaky):
    service, target = redial(), flaky()
    keys = sorted(f"t{n}" for n in range(300))
    answer = service("POST", "/v1/calls/batch", [{"url": f"{target.url}/{k}", "target": k} for k in keys])
    assert answer.status in (200, 207)
    wait_until(lambda: service.metrics().get('redial_calls_finished_total{state="succeeded",reason=""}') == 300, "all end")
    found, path = [], "/v1/targets"
    while path:
        page = service("GET", path).json
        found += [t["key"] for t in page["data"]]
        assert len(page["data"]) <= 100
        path = page["nextCursor"] and "/v1/targets?cursor=" + page["nextCursor"]
    assert found == keys
    assert service("GET", "/v1/targets?active=true").json == {"data": [], "nextCursor": None}
    service("POST", "/v1/targets/t7/pause")
    assert [t["key"] for t in service("GET", "/v1/targets?active=true").json["data"]] == ["t7"]
    for query in ("limit=0", "limit=251", "active=maybe", "x=1"):
        assert service("GET", "/v1/targets?" + query).status == 400, query
    listed = run("targets", "--limit", "3", "--cursor", keys[5], "--url", service.url)
    assert keys[6] in listed.stdout and keys[8] in listed.stdout and keys[9] not in listed.stdout
    assert f"more: --cursor {keys[8]}" in listed.stdout
    assert "t7" in run("targets", "--active", "--url", service.url).stdout


def test_a_target_is_known_while_all_its_calls_wait_for_their_start(redial):
    service = redial()
    keys = {"plain": {}, "ordered": {"orderingKey": "k"}}
    for key, more in keys.items():
        service.submit(url="http://127.0.0.1:9/", target=key, delay="1h", **more)
    for _ in range(2):
        for key in keys:
            answer = service("GET", f"/v1/targets/{key}")
            assert answer.status == 200 and answer.json["backlog"]["total"] == 1, (key, answer.body)
        service.terminate()
        service.start()
    assert service("GET", "/v1/targets/unknown").status == 404
