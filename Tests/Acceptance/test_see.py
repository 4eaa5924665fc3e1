"""What operators see."""

import json
import re

from processes import wait_until

SAMPLE = re.compile(r'([a-z_]+)(\{(?:[a-z]+="[^"\\\n]*",?)*\})? (-?[0-9.e+-]+|[+-]Inf|NaN)')


def parse(text):
    """Prometheus text exposition 0.0.4, strictly; samples by family."""
    families, samples = {}, {}
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in families, f"{name} is described twice"
            families[name] = None
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert families[name] is None and kind in ("counter", "gauge", "histogram")
            families[name] = kind
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            name = found[1]
            base = re.sub("_(bucket|sum|count)$", "", name)
            family = base if families.get(base) == "histogram" else name
            assert families.get(family), f"{name} has no TYPE"
            if families[family] == "counter":
                assert name.endswith("_total"), name
            assert (name, found[2]) not in samples, line
            samples[name, found[2]] = float(found[3])
    return families, samples


def test_metrics_are_prometheus_text_and_count_what_happened(redial, flaky):
    service, target = redial(), flaky("--fail", "1")
    for _ in range(10):
        service.ended(service.submit(url=target.url, policy={"backoff": {"initial": "10ms"}}))
    service.ended(service.submit(url=target.url + "/?sequence=404"))
    service("POST", "/v1/calls", {})
    answer = service("GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families, samples = parse(answer.body.decode())
    assert samples["redial_calls_accepted_total", None] == 11
    assert samples["redial_calls_refused_total", None] == 1
    assert samples["redial_attempts_total", '{outcome="answered"}'] == 21
    assert samples["redial_calls_finished_total", '{state="succeeded",reason=""}'] == 10
    assert samples["redial_calls_finished_total", '{state="failed",reason="notRetryable"}'] == 1
    assert samples["redial_backlog_calls", None] == samples["redial_attempts_in_flight", None] == 0
    assert samples["redial_breakers", '{state="closed"}'] == 1
    for name, count in (("redial_accept_seconds", 11), ("redial_attempt_seconds", 21)):
        assert families[name] == "histogram"
        buckets = [(labels, v) for (n, labels), v in samples.items() if n == name + "_bucket"]
        assert [v for _, v in buckets] == sorted(v for _, v in buckets)
        assert buckets[-1] == ('{le="+Inf"}', count) and samples[name + "_count", None] == count
        assert samples[name + "_sum", None] > 0


def test_health_and_readiness(redial):
    service = redial()
    for path in ("/healthz", "/readyz"):
        answer = service("GET", path)
        assert answer.status == 200 and answer.headers["content-type"].startswith("text/plain")
        assert service("HEAD", path).body == b""


def test_the_log_is_a_line_an_event_as_text_or_json(redial, flaky, tmp_path):
    target = flaky("--sequence", "404")
    for form in ("text", "json"):
        folder = tmp_path / form
        folder.mkdir()
        service = redial("--log-format", form, folder=folder)
        identity = service.submit(url=target.url)
        service.ended(identity)
        wait_until(lambda: "callFailed" in service.log.read_text(), "the failure is logged")
        assert service.terminate() == 0
        lines = [l for l in service.log.read_text().splitlines() if re.match(r"\d{4}-|{", l)]
        if form == "json":
            events = [json.loads(line) for line in lines]
            assert [e["event"] for e in events] == ["started", "callFailed", "stopping", "stopped"]
            assert all(e["level"] in ("info", "warning") and e["time"].endswith("Z") for e in events)
            assert events[1]["id"] == identity and events[1]["reason"] == "notRetryable"
        else:
            assert [line.split(" ")[2] for line in lines] == ["started", "callFailed", "stopping", "stopped"]
            assert f"id={identity}" in lines[1]


def test_an_idle_service_costs_nothing(redial):
    service = redial()
    service("GET", "/healthz")

    def ticks():
        fields = open(f"/proc/{service.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    import time
    time.sleep(0.2)
    before = ticks()
    time.sleep(1.5)
    assert ticks() - before <= 1
