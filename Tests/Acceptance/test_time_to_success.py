"""How long calls take until they have succeeded: what people promise, and watch."""

import re
import subprocess
import urllib.parse

import pytest

from processes import ROOT, wait_until
from prometheus import Prometheus
from test_prometheus import tools  # noqa: F401  a fixture
from test_see import parse
from test_statistics import windows

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def seconds(text):
    number, unit = re.fullmatch(r"([0-9.]+)(ms|s)", text).groups()
    return float(number) / (1000 if unit == "ms" else 1)


def work(service, target):
    """One call that succeeds at its second attempt, and one that fails."""
    traced = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    policy = {"backoff": {"initial": "300ms", "multiplier": 1, "jitter": "none"}}
    service.ended(service.submit(url=target.url, policy=policy, headers=traced))
    service.ended(service.submit(url=target.url + "/?sequence=404"))
    wait_until(lambda: b'redial_calls_finished_total{state="failed",reason="notRetryable"} 1' in service("GET", "/metrics").body,
               "the last call is counted")


def figures(service, state, accept="text/plain"):
    """The buckets of the calls that ended so, with all of each line."""
    text = service("GET", "/metrics", headers={"accept": accept}).body.decode()
    return dict(re.findall(rf'^redial_call_duration_seconds_bucket{{state="{state}",le="([^"]+)"}} (.*)$', text, re.M))


def test_the_time_to_success_is_measured_with_its_retries_and_survives_a_restart(redial, flaky):
    service, target = redial(), flaky("--fail", "1")
    assert windows(service)["15m"]["calls"]["timeToSuccess"] is None
    work(service, target)
    for window in windows(service).values():
        found = window["calls"]["timeToSuccess"]
        # The backoff counts.
        assert 0.24 < seconds(found["p50"]) == seconds(found["p99"])
    shown = service("GET", "/v1/targets/" + urllib.parse.quote(target.url, safe="")).json
    assert 0.24 < seconds(shown["timeToSuccess"]["p50"]) and shown["oldestDueAt"] is None
    buckets = figures(service, "succeeded")
    assert (buckets["0.25"], buckets["+Inf"]) == ("0", "1")
    assert figures(service, "failed")["+Inf"] == "1" and figures(service, "cancelled")["+Inf"] == "0"
    before = windows(service)["7d"]["calls"]["timeToSuccess"]
    service.terminate()
    service.start()
    assert windows(service)["7d"]["calls"]["timeToSuccess"] == before


def test_how_long_the_oldest_due_call_waits_is_shown_also_after_a_restart(redial, flaky):
    service, target = redial(clock=True), flaky()
    key = urllib.parse.quote(target.url, safe="")
    assert service("POST", f"/v1/targets/{key}/pause").status == 200
    service.submit(url=target.url)
    service.advance(90)

    def ages():
        _, samples = parse(service("GET", "/metrics").body.decode())
        return [value for (name, labels), value in samples.items()
                if name == "redial_oldest_due_seconds" or name == "redial_target_oldest_due_seconds" and target.url in labels]

    assert len(ages()) == 2 and all(90 <= age < 150 for age in ages()), ages()
    due = service("GET", f"/v1/targets/{key}").json["oldestDueAt"]
    service.kill()
    service.start()
    # Until the call is back in memory, it is known to be due since the restart alone.
    wait_until(lambda: service("GET", f"/v1/targets/{key}").json["oldestDueAt"] == due, "the call is due since then")
    assert service("POST", f"/v1/targets/{key}/resume").status == 200
    wait_until(lambda: ages() == [0, 0], "nothing waits any more")


def test_open_metrics_have_the_trace_of_a_call_as_an_exemplar(redial, flaky):
    service, target = redial(), flaky("--fail", "1")
    work(service, target)
    answer = service("GET", "/metrics", headers={"accept": OPEN_METRICS})
    assert answer.headers["content-type"] == OPEN_METRICS + "; charset=utf-8"
    text = answer.body.decode()
    assert text.endswith("# EOF\n") and "# TYPE redial_calls_accepted counter\n" in text
    found = [line for line in figures(service, "succeeded", OPEN_METRICS).values() if "#" in line]
    assert len(found) == 1 and re.fullmatch(rf'1 # {{trace_id="{TRACE}"}} [0-9.]+ [0-9.]+', found[0]), found
    # The call that failed had no trace that is recorded.
    assert not any("#" in line for line in figures(service, "failed", OPEN_METRICS).values())


@pytest.mark.part("prometheus")
def test_the_rules_of_a_promise_hold_what_their_tests_say(tools):  # noqa: F811
    for check in (["check", "rules", "slo.yml"], ["test", "rules", "slo.test.yml"]):
        answer = subprocess.run([f"{tools}/promtool", *check], cwd=ROOT / "docker/prometheus", capture_output=True, text=True)
        assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.part("prometheus")
@pytest.mark.parametrize("native", [True, False])
def test_prometheus_has_the_distribution_its_exemplars_and_the_promise(tools, redial, flaky, made, tmp_path, native):  # noqa: F811
    service, target = redial(), flaky("--fail", "1")
    features = ["exemplar-storage"] + ["native-histograms"] * native
    prometheus = Prometheus(
        tools, tmp_path, {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(ROOT / "docker/prometheus/slo.yml")],
            "scrape_configs": [{"job_name": "redial", "static_configs": [{"targets": [f"127.0.0.1:{service.port}"]}]}]},
        "--enable-feature=" + ",".join(features))
    made.append(prometheus)
    value = prometheus.value
    wait_until(prometheus.scrapes, "Prometheus scrapes the service")
    work(service, target)
    if native:
        wait_until(lambda: (value('histogram_count(redial_call_duration_seconds{state="succeeded"})') or 0) == 1,
                   "the native histogram is there")
        assert 0.24 < value('histogram_quantile(0.5, redial_call_duration_seconds{state="succeeded"})') < 5
        assert value('histogram_fraction(0, 300, redial_call_duration_seconds{state="succeeded"})') == 1
    else:
        wait_until(lambda: value('redial_call_duration_seconds_count{state="succeeded"}') == 1, "the histogram is there")
        assert value('redial_call_duration_seconds_bucket{state="succeeded", le="300.0"}') == 1
        found = wait_until(
            lambda: prometheus.ask("query_exemplars", query="redial_call_duration_seconds_bucket", start=0, end=2e9),
            "there is an exemplar")
        assert {e["labels"]["trace_id"] for series in found for e in series["exemplars"]} == {TRACE}
        # Half of the calls that ended have failed.
        wait_until(lambda: value("redial:missed:ratio_rate5m") == pytest.approx(0.5), "the promise is judged")
