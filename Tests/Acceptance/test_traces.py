"""Spans, as a collector gets them: by OTLP/HTTP in JSON, which OpenTelemetry's own messages parse."""

import base64
import json
import threading
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from processes import Constants, free_port, run, wait_until

QUICK = {"backoff": {"initial": "20ms", "jitter": "none"}}
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CLIENT, INTERNAL, ERROR = 3, 1, 2


def parsed(body):
    """A request in OpenTelemetry's own message; protobuf's JSON has bytes in base 64, and OTLP's ids in hex."""
    message = json.loads(body)
    for resource in message["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name, length in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
                    if name in span:
                        assert len(span[name]) == length and span[name] == span[name].lower()
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    # Unknown members are errors.
    return json_format.Parse(json.dumps(message), ExportTraceServiceRequest())


class Span:
    def __init__(self, span):
        self.trace, self.id, self.parent = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
        self.name, self.kind, self.status = span.name, span.kind, span.status
        self.start, self.end, self.flags = span.start_time_unix_nano, span.end_time_unix_nano, span.flags
        self.attributes = {a.key: a.value.string_value or a.value.int_value for a in span.attributes}
        assert len(self.attributes) == len(span.attributes)


def spans(collector):
    found = []
    for request in collector.requests:
        assert (request.method, request.path) == ("POST", "/v1/traces")
        assert request.headers["content-type"] == "application/json"
        for resource in parsed(request.body).resource_spans:
            names = {a.key: a.value.string_value for a in resource.resource.attributes}
            assert names["service.name"] == "redial" and names["service.version"] and names["service.instance.id"]
            for scope in resource.scope_spans:
                assert scope.scope.name == "redial"
                found += [Span(span) for span in scope.spans]
    return found


def started(redial, collector, *flags, **more):
    return redial("--otlp-endpoint", collector.url, Constants(otlpInterval="50ms"), *flags, **more)


def of_call(collector, count):
    """The spans, once there are as many."""
    return wait_until(lambda: len(spans(collector)) >= count and spans(collector), f"{count} spans arrive")


def metric(service, name):
    return service.metrics().get(name)


def test_each_attempt_and_the_call_are_spans_in_the_clients_trace(redial, receiver):
    answers = iter([503, 503, 200])
    target = receiver(lambda request: (next(answers), {}, b""))
    collector = receiver(lambda request: (200, {"content-type": "application/json"}, b"{}"))
    service = started(redial, collector)
    began = time.time()
    identity = service.submit(
        url=target.url + "/charges?token=hush&page=2", method="POST", json={"a": 1}, idempotent=True, policy=QUICK,
        headers={"traceparent": f"00-{TRACE}-{PARENT}-01", "authorization": "Bearer hush"}, labels={"team": "a"},
        target="billing")
    call = service.ended(identity)
    found = of_call(collector, 4)
    attempts = sorted((s for s in found if s.kind == CLIENT), key=lambda s: s.start)
    (whole,) = [s for s in found if s.kind == INTERNAL]
    assert len(attempts) == 3 and {s.trace for s in found} == {TRACE}
    assert whole.parent == PARENT and whole.flags == 0x301 and whole.name == "redial call"
    assert {s.parent for s in attempts} == {whole.id} and {s.flags for s in attempts} == {0x101}
    # The parent of the target's spans is the attempt that reached it.
    told = [r.headers["traceparent"].split("-") for r in target.requests]
    assert [t[1] for t in told] == [TRACE] * 3 and [t[2] for t in told] == [s.id for s in attempts]
    assert all(t[3] == "01" for t in told)
    for number, (span, status) in enumerate(zip(attempts, (503, 503, 200)), 1):
        a = span.attributes
        assert span.name == a["http.request.method"] == "POST"
        assert (a["server.address"], a["server.port"]) == ("127.0.0.1", target.port)
        assert a["url.full"] == f"{target.url}/charges?token=REDACTED&page=2"
        assert a["http.response.status_code"] == status
        assert a.get("http.request.resend_count", 0) == number - 1
        assert a["redial.call.id"] == identity and a["redial.attempt.number"] == number
        assert a["redial.target"] == "billing" and a["redial.attempt.outcome"] == "answered"
        assert (a["network.peer.address"], a["network.peer.port"]) == ("127.0.0.1", target.port)
        assert whole.start <= span.start <= span.end <= whole.end
        if status == 503:
            assert a["error.type"] == "503" and span.status.code == ERROR
            assert a["redial.decision.action"] == "retry" and a["redial.decision.because"] == "status 503 is retryable"
        else:
            assert "error.type" not in a and span.status.code == 0
    assert whole.attributes["redial.call.state"] == "succeeded" and whole.attributes["redial.label.team"] == "a"
    assert whole.attributes["redial.call.attempts"] == 3 and whole.status.code == 0
    # A second for a machine that sets its clock meanwhile.
    assert began - 1 <= whole.start / 1e9 and whole.end / 1e9 <= time.time() + 1 and call["attemptCount"] == 3
    assert all(b"hush" not in r.body for r in collector.requests)


def test_calls_without_a_trace_begin_one_and_calls_that_fail_say_why(redial, receiver):
    collector = receiver(lambda request: (200, {}, b""))
    service = started(redial, collector)
    refused = f"http://127.0.0.1:{free_port()}"
    failed = service.submit(url=refused, policy=QUICK | {"maxAttempts": 2})
    service.ended(failed)
    waiting = service.submit(url=refused, delay="1h", method="BREW")
    assert service("POST", f"/v1/calls/{waiting}/cancel").status == 200
    found = of_call(collector, 4)
    attempts = [s for s in found if s.kind == CLIENT]
    whole = {s.attributes["redial.call.id"]: s for s in found if s.kind == INTERNAL}
    assert len(attempts) == 2 and not whole[failed].parent and whole[failed].trace != whole[waiting].trace
    assert all(s.attributes["error.type"] == "connectionRefused" and s.status.message for s in attempts)
    assert all(s.trace == whole[failed].trace and s.parent == whole[failed].id for s in attempts)
    assert whole[failed].status.code == ERROR and whole[failed].attributes["error.type"] == "attemptsExhausted"
    # It has made no attempt, but is in the trace all the same.
    assert whole[waiting].attributes["redial.call.state"] == "cancelled" and whole[waiting].status.code == 0


def test_a_client_that_does_not_sample_is_heeded_and_so_is_the_share(redial, receiver):
    target = receiver()
    collector = receiver(lambda request: (200, {}, b""))
    service = started(redial, collector, "--trace-share", "0.5")
    for _ in range(30):
        service.ended(service.submit(url=target.url, headers={"traceparent": f"00-{TRACE}-{PARENT}-00"}))
    own = [service.submit(url=target.url) for _ in range(60)]
    for call in own:
        service.ended(call)
    marked = service.submit(url=target.url, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    service.ended(marked)
    wait_until(lambda: marked in {s.attributes["redial.call.id"] for s in spans(collector)}, "the marked one arrives")
    seen = {s.attributes["redial.call.id"] for s in spans(collector)}
    assert 10 <= len(seen - {marked}) <= 50 and seen - {marked} <= set(own)
    # The decision that targets receive is followed.
    flags = {r.headers["idempotency-key"]: r.headers["traceparent"][-2:] for r in target.requests}
    assert {call for call in own if flags[call] == "01"} == seen - {marked}


def test_off_is_the_default_and_the_standard_variables_turn_it_on(redial, receiver):
    target = receiver()
    collector = receiver(lambda request: (200, {}, b""))
    service = redial()
    service.ended(service.submit(url=target.url))
    assert "traceparent" not in target.next().headers
    # The trace of a client goes on.
    service.ended(service.submit(url=target.url, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"}))
    assert target.next().headers["traceparent"].startswith(f"00-{TRACE}-")
    assert metric(service, "redial_spans_exported_total") is None
    service.terminate()
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=a%20b,api-key=hush"}
    service = redial(env=env)
    service.ended(service.submit(url=target.url))
    assert target.next().headers["traceparent"].endswith("-01")
    # Waiting spans are sent before the service has stopped.
    assert service.terminate() == 0
    assert len(spans(collector)) == 2
    assert collector.requests[0].headers["x-tenant"] == "a b" and collector.requests[0].headers["api-key"] == "hush"
    shown = run("serve", "--print-config", env=env).stdout
    assert f"otlpEndpoint = {collector.url}  # environment OTEL_EXPORTER_OTLP_ENDPOINT" in shown and "hush" not in shown


def test_a_collector_that_is_busy_is_asked_again_when_it_says(redial, receiver):
    target = receiver()
    answers = iter([(429, {"retry-after": "1"}, b""), (503, {}, b"")])
    collector = receiver(lambda request: next(answers, (200, {}, b"")))
    service = started(redial, collector)
    service.ended(service.submit(url=target.url))
    wait_until(lambda: metric(service, "redial_spans_exported_total") == 2, "the spans are taken at last")
    first, second, third = collector.requests
    assert first.body == second.body == third.body and second.at - first.at >= 1
    assert all(v == 0 for n, v in service.metrics().items() if n.startswith("redial_spans_dropped_total"))
    wait_until(lambda: "spansExportedAgain" in service.log.read_text(), "the log says that they are")
    assert service.log.read_text().count("spansNotExported") == 1


def test_spans_that_the_collector_refuses_are_counted_and_not_sent_again(redial, receiver):
    target = receiver()
    answers = iter([(400, {}, b"{}"), (200, {}, b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "no"}}')])
    collector = receiver(lambda request: next(answers))
    service = started(redial, collector)
    refused = 'redial_spans_dropped_total{reason="refused"}'
    service.ended(service.submit(url=target.url))
    wait_until(lambda: metric(service, refused) == 2, "what was refused is counted")
    service.ended(service.submit(url=target.url))
    wait_until(lambda: metric(service, refused) == 3, "what was refused of it is counted")
    assert metric(service, "redial_spans_exported_total") == 1 and len(collector.requests) == 2


def test_without_a_collector_nothing_suffers_and_what_is_lost_is_counted(redial, receiver):
    target = receiver()
    service = redial(
        "--otlp-endpoint", f"http://127.0.0.1:{free_port()}", Constants(otlpInterval="20ms", maxSpans=10))
    calls = [service.submit(url=target.url) for _ in range(100)]
    assert all(service.ended(call)["state"] == "succeeded" for call in calls)
    full = 'redial_spans_dropped_total{reason="full"}'
    # Ten are in the request that cannot be sent, and ten wait behind it.
    wait_until(lambda: metric(service, full) >= 80, "there is no room for more")
    assert metric(service, "redial_spans_waiting") <= 10
    # It does not go on to try.
    assert service.terminate() == 0
    service.says("spansNotExported")


def test_a_collector_that_never_answers_holds_nothing_up(redial, receiver):
    target = receiver()
    over = threading.Event()
    hanging = receiver(lambda request: (over.wait(), (200, {}, b""))[1])
    service = started(redial, hanging, Constants(otlpTimeout="1h"))
    calls = [service.submit(url=target.url) for _ in range(50)]
    assert all(service.ended(call)["state"] == "succeeded" for call in calls)
    assert service.terminate() == 0
    over.set()
    service.says("spansLeft")
