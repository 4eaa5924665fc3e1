"""docker/nginx.conf in front of three instances: what clients see when one of them, or the database, is away."""

import json
import re

import pytest

from processes import ROOT, Client, free_port, wait_until
from test_proxies import Nginx

pytestmark = pytest.mark.part("database")


@pytest.fixture
def nginx(made, tmp_path):
    """The configuration, with the ports of peers in the place of redial1, redial2 and redial3."""
    def start(peers):
        text = re.search(r"http \{\n(.*)\}\n", (ROOT / "docker/nginx.conf").read_text(), re.S)[1]
        for number, peer in enumerate(peers, 1):
            assert text.count(f"redial{number}:8080") == 1
            text = text.replace(f"redial{number}:8080", f"127.0.0.1:{peer.port}")
        made.append(Nginx(tmp_path / "nginx", text.replace("listen 8080;", f"listen 127.0.0.1:{free_port()};")))
        return Client(made[-1].port)
    return start


def test_clients_see_no_failure_when_an_instance_is_killed_and_503_when_the_database_is_away(instances, receiver, nginx):
    target = receiver()
    cluster, services = instances(3)
    front = nginx(services)
    calls = []

    def submit(count):
        for _ in range(count):
            answer = front("POST", "/v1/calls", {"url": target.url, "target": f"target{len(calls) % 12}"})
            assert answer.status == 202, answer.body
            calls.append(answer.json["id"])

    submit(6)
    services[1].kill()
    early = len(calls)
    submit(12)
    for identity in calls:
        wait_until(lambda: front("GET", f"/v1/calls/{identity}").json["finishedAt"], "a call ends")
    # An attempt that the killed instance had in flight is made again.
    assert len(calls) <= len(target.requests) <= len(calls) + early
    cluster.stop("immediate")
    for service in (services[0], services[2]):
        wait_until(lambda: service("GET", "/readyz").status == 503, "it has noticed")
    # nginx takes no instance for dead because of a 503.
    for _ in range(6):
        for method, path, body in (("POST", "/v1/calls", {"url": target.url}), ("GET", "/v1/calls", None)):
            answer = front(method, path, body)
            assert answer.status == 503 and int(answer.headers["retry-after"]) >= 1, (answer.status, answer.body)
    cluster.start()
    wait_until(lambda: front("GET", "/v1/calls").status == 200, "the database is back")


def test_large_bodies_waits_and_events_pass(instances, receiver, nginx):
    target = receiver()
    _, services = instances(3)
    front = nginx(services)
    listener = Client(front.port)
    listener("GET", "/healthz")
    listener.connection.request("GET", "/v1/events")
    stream = listener.connection.getresponse()
    assert stream.status == 200
    answer = front("POST", f"/v1/forward/{target.url}/a", b"x" * 1_000_000, {"prefer": "wait=50", "expect": "100-continue"})
    assert answer.status == 200, answer.body
    assert len(target.next().headers["content-length"]) == 7
    # It arrives although the answer does not end.
    while not (line := stream.fp.readline()).startswith(b"event: call.succeeded"):
        assert line, "the stream ended"
    answer = front("POST", "/v1/calls", {"url": target.url}, {"prefer": "wait=50"})
    assert (answer.status, answer.json["state"]) == (200, "succeeded")
    lines = "".join(json.dumps({"url": target.url, "target": f"t{n % 9}"}) + "\n" for n in range(2000)).encode()
    answer = front("POST", "/v1/calls/batch", lines, {"content-type": "application/x-ndjson"})
    assert [json.loads(line)["status"] for line in answer.body.split()] == [202] * 2000


@pytest.mark.parametrize("method, path, sent", [
    ("POST", "/v1/calls", 1), ("PUT", "/v1/forward/http://127.0.0.1:9/x", 1), ("GET", "/v1/calls", 3)])
def test_a_submission_that_may_have_arrived_is_not_sent_again(receiver, nginx, method, path, sent):
    # They read the request, and end the connection without an answer.
    peers = [receiver(lambda request: None) for _ in range(3)]
    assert nginx(peers)(method, path, b"" if method == "GET" else b"{}").status == 502
    assert sum(len(peer.requests) for peer in peers) == sent
