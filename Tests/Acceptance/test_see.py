"""What operators see."""

import json
import re
import time

import processes
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
    # A call's result can be read shortly before it is counted.
    wait_until(lambda: b'reason="notRetryable"} 1' in service("GET", "/metrics").body, "the last call is counted")
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
        # Known faults of the system's libraries, if it has older ones.
        lines = [l for l in lines if "olderLibrary" not in l]
        if form == "json":
            events = [json.loads(line) for line in lines]
            assert [e["event"] for e in events] == ["keyFileMade", "started", "callFailed", "stopping", "stopped"]
            assert all(e["level"] in ("info", "warning") and e["time"].endswith("Z") for e in events)
            failed = events[2]
            assert failed["callId"] == identity and failed["reason"] == "notRetryable"
            assert re.fullmatch("[0-9a-f]{32}", failed["traceId"]) and failed["attempt"] == "1"
            assert failed["target"] == target.url
        else:
            assert [line.split(" ")[2] for line in lines] == ["keyFileMade", "started", "callFailed", "stopping", "stopped"]
            assert f"callId={identity}" in lines[2] and "traceId=" in lines[2]


def test_the_log_follows_a_call_by_its_ids_and_tells_no_secret(redial, receiver):
    answers = iter([503, 200, 404])
    target = receiver(lambda request: (next(answers), {"set-cookie": "hush"}, b"hush"))
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    service = redial("--log-format", "json", "--log-level", "debug", "--webhook-secret", "whsec_" + "aHVzaGh1c2h" * 4)
    identity = service.submit(
        url=target.url + "/?api_key=hush", method="POST", body="hush", idempotent=True, target="billing",
        headers={"authorization": "Bearer hush", "traceparent": f"00-{trace}-00f067aa0ba902b7-01"},
        policy={"backoff": {"initial": "10ms"}})
    service.ended(identity)
    refused = f"http://127.0.0.1:{processes.free_port()}/?token=hush"
    lost = service.submit(url=refused, policy={"maxAttempts": 1})
    service.ended(lost)
    # It ends without an attempt, and the log has the reason.
    waiting = service.submit(url=target.url, delay="1h")
    service("POST", f"/v1/calls/{waiting}/cancel")
    wait_until(lambda: service.log.read_text().count('"callEnded"') == 3, "the ends are logged")
    assert service.terminate() == 0
    text = service.log.read_text()
    assert "hush" not in text.lower() and "aHVzaGh1c2h" not in text
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    told = {call: [l for l in lines if l.get("callId") == call] for call in (identity, lost, waiting)}
    assert [l["event"] for l in told[identity]] == ["attemptEnded", "attemptEnded", "callEnded"]
    assert all((l["traceId"], l["target"]) == (trace, "billing") for l in told[identity])
    assert [(l["attempt"], l.get("status")) for l in told[identity]] == [("1", "503"), ("2", "200"), ("2", None)]
    assert json.loads(told[identity][0]["decision"])["because"] == "status 503 is retryable"
    assert {l["event"] for l in told[lost]} == {"attemptEnded", "callEnded", "callFailed"}
    assert {l["error"] for l in told[lost] if l["event"] == "attemptEnded"} == {"connectionRefused"}
    assert [(l["event"], l["state"]) for l in told[waiting]] == [("callEnded", "cancelled")]
    # Every line that names a call has the fields needed to follow it.
    for line in lines:
        if re.search("call_[0-9A-Z]{13}", json.dumps(line)):
            assert {"callId", "traceId", "target", "attempt"} <= set(line), line


def test_an_endpoint_that_is_disabled_is_logged_without_its_secrets(redial, receiver):
    gone = receiver(lambda request: (410, {}, b""))
    service = redial()
    endpoint = service("POST", "/v1/webhook-endpoints", {"url": gone.url + "/?token=hush&a=1"}).json
    service("POST", f"/v1/webhook-endpoints/{endpoint['id']}/test")
    wait_until(lambda: "webhookEndpointDisabled" in service.log.read_text(), "it is disabled")
    text = service.log.read_text()
    assert f"id={endpoint['id']} url={gone.url}/?token=REDACTED&a=1 reason=gone" in text and "hush" not in text


def test_an_idle_service_costs_nothing(redial):
    service = redial()
    service("GET", "/healthz")

    def ticks():
        fields = open(f"/proc/{service.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def costs_nothing():
        before = ticks()
        time.sleep(1.5)
        return ticks() - before <= 1

    # On a busy machine it may take a while until it has nothing to do after its start.
    wait_until(costs_nothing, "it uses no more than a hundredth of a second in one and a half")
