"""More connections than the service's limit."""

import http.client
import resource
import socket

import pytest

from processes import BOUND, Constants, wait_until


def descriptors(count):
    """Raises this process's limit of open files, for many sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        pytest.skip(f"only {hard} descriptors may be open")
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def health(port):
    """The status of /healthz on a new connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
    connection.request("GET", "/healthz")
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost:"], ids=["silent", "half a request"])
def test_at_the_bound_of_connections_a_new_one_is_served_or_told_503_at_once(redial, sent):
    descriptors(4000)
    # No connection ends by itself as long as a client waits here: a new one is not answered because another has timed out.
    service = redial("--max-connections", "2000", Constants(headerTimeout="10m", idleTimeout="10m"))
    open_ones = []
    try:
        for _ in range(2500):
            open_ones.append(socket.create_connection(("127.0.0.1", service.port), BOUND))
            if sent:
                try:
                    open_ones[-1].sendall(sent)
                except OSError:
                    pass  # It has been closed for another already.
        statuses = [health(service.port) for _ in range(20)]
        assert set(statuses) <= ({200} if not sent else {200, 503}), statuses
    finally:
        for one in open_ones:
            one.close()
    wait_until(lambda: health(service.port) == 200, "there is room again")


def test_memory_of_half_sent_bodies_is_given_back_when_they_have_gone(redial):
    descriptors(4000)
    service = redial("--max-connections", "3000", Constants(bodyTimeout="10m"))

    def resident():
        return service.metrics()["process_resident_memory_bytes"]
    before = resident()
    head = b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
    open_ones = []
    for _ in range(2000):
        open_ones.append(socket.create_connection(("127.0.0.1", service.port), BOUND))
        open_ones[-1].sendall(head + b" " * 30000)
    wait_until(lambda: resident() > before + (40 << 20), "the bodies are held")
    for one in open_ones:
        one.close()
    # 16 MiB are kept, and the earlier connections use some.
    wait_until(lambda: resident() < before + (28 << 20), "the memory is given back")
