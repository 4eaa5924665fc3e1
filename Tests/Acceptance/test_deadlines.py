"""A backlog that is longer than its deadlines allow is reported: by the API, the command, a metric and the log."""

from urllib.parse import quote

import pytest

from processes import Constants, run, wait_until

POLICY = {"deadline": "4000s", "attemptTimeout": "5s"}


def missing(service, target):
    view = service("GET", "/v1/targets/" + quote(target.url, safe=""))
    assert view.status == 200, view.body
    return view.json["backlog"]["missesDeadline"]


def shown(words, service, *target):
    text = run("targets", *target, "--url", service.url).stdout
    return text if words in text else None


@pytest.mark.parametrize("memory", ["10000", "50"], ids=["in memory", "in the store"])
def test_calls_that_will_miss_their_deadlines_are_counted_while_they_wait(redial, receiver, memory):
    service, target = redial(Constants(storeWatchInterval="1s"), "--max-held", memory, clock=True), receiver()
    path = "/v1/targets/" + quote(target.url, safe="")
    # One in 20 s for 4000 s are 200; of 500 calls about 300 will be too late, whenever that is asked.
    assert service("PUT", path, {"rate": {"perSecond": 0.05, "burst": 1}, "newCallShare": 0}).status == 200
    batch = service("POST", "/v1/calls/batch", [{"url": target.url, "policy": POLICY}] * 500)
    assert {item["status"] for item in batch.json["data"]} == {202}, batch.body[:1000]

    def until(condition, what):
        """Time goes on meanwhile, as an estimate needs an attempt of the last minute."""
        def met():
            service.advance(1)
            return condition()
        return wait_until(met, what)

    def known():
        found = missing(service, target)
        return found and 280 <= found["calls"] <= 320 and found["perSecond"] == 0.05
    until(known, "the estimate is there")
    listed = until(lambda: service("GET", "/v1/targets").json["data"][0]["backlog"]["missesDeadline"], "the list has it")
    assert 280 <= listed["calls"] <= 320
    text = until(lambda: shown("of them will miss their deadlines", service, target.url), "the command shows it")
    assert "per second about" in text, text
    until(lambda: shown("will miss their deadlines", service), "its list shows it")
    series = f'redial_target_missed_deadlines{{target="{target.url}"}}'
    until(lambda: 280 <= service.metrics().get(series, 0) <= 320, "the metric has it")
    until(lambda: "backlogMissesDeadlines" in service.log.read_text(), "the log says so")
    assert service.log.read_text().count("backlogMissesDeadlines") == 1

    # With a higher rate all of them start in time.
    assert service("PUT", path, {"rate": {"perSecond": 100, "burst": 1}, "newCallShare": 0}).status == 200
    wait_until(lambda: "backlogMeetsDeadlines" in service.log.read_text(), "the log says that it is over")


def test_without_a_backlog_nothing_is_estimated(redial, receiver):
    service, target = redial(), receiver()
    service.ended(service.submit(url=target.url))
    assert missing(service, target) is None
