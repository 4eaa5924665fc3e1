"""Redirects: responses by default, followed if a call asks for it, and never to a forbidden destination."""

import pytest


def moved(location, status=302):
    return status, {"location": location}, b""


def test_redirects_are_followed_to_the_bound_that_a_call_gives(redial, receiver):
    target = receiver(lambda request: (200, {}, b"here") if request.path == "/3" else moved(
        f"/{int(request.path[1:]) + 1}"))
    service = redial()
    call = service.ended(service.submit(url=target.url + "/0"))
    assert (call["failureReason"], call["attempts"][0]["status"]) == ("notRetryable", 302)
    assert "redirects" not in call
    call = service.ended(service.submit(url=target.url + "/0", redirects={"max": 2}))
    assert (call["state"], call["attempts"][0]["status"], call["redirects"]) == ("failed", 302, {"max": 2})
    identity = service.submit(url=target.url + "/0", redirects={"max": 3})
    call = service.ended(identity)
    assert (call["state"], call["response"]["body"], call["attemptCount"]) == ("succeeded", "here", 1)
    attempts = service("GET", f"/v1/calls/{identity}/attempts").json["data"]
    assert attempts[0]["exchange"]["redirectCount"] == 3
    assert [r.path for r in target.requests] == ["/0", "/0", "/1", "/2", "/0", "/1", "/2", "/3"]


def test_a_restart_forgets_nothing_of_what_a_call_follows(redial, receiver):
    target = receiver(lambda request: (200, {}, b"") if request.path == "/there" else moved("/there"))
    service = redial(clock=True)
    identity = service.submit(url=target.url, redirects={"max": 1}, delay="1h")
    service.kill()
    service.start()
    assert service.get(identity)["redirects"] == {"max": 1}
    service.advance(3600)
    assert service.ended(identity)["state"] == "succeeded"


def test_a_forwarded_request_may_be_redirected_too(redial, receiver):
    target = receiver(lambda request: (200, {}, b"") if request.path == "/there" else moved("/there", 307))
    service = redial()
    answer = service("POST", f"/v1/forward/{target.url}", b"x", {"Redial-Redirects": '{"max": 1}'})
    assert answer.status == 202, answer.body
    assert service.ended(answer.json["id"])["state"] == "succeeded"
    assert [(r.method, r.body) for r in target.requests] == [("POST", b"x")] * 2


ABOUT_CONTENT = {
    "content-type": "text/plain", "content-language": "de", "content-location": "/a", "content-digest": "sha-256=:eA==:",
    "content-md5": "eA==", "content-encoding": "identity", "content-disposition": "inline", "digest": "SHA-256=eA==",
    "repr-digest": "sha-256=:eA==:", "last-modified": "Tue, 15 Nov 1994 12:45:26 GMT", "signature": "sig1=:eA==:",
    "signature-input": 'sig1=("content-digest")', "x-hub-signature-256": "sha256=00", "x-amz-content-sha256": "00",
    "x-checksum": "1"}
KEPT = {"accept": "text/plain", "accept-signature": "sig1=()", "want-repr-digest": "sha-256=1", "x-one": "1", "if-match": '"x"',
        "authorization": "Bearer t"}


def test_what_is_about_the_content_goes_with_it(redial, receiver):
    service = redial()
    for status, method, becomes in ((303, "POST", "GET"), (303, "PUT", "GET"), (303, "PATCH", "GET"), (303, "GET", "GET"),
                                    (301, "POST", "GET"), (302, "POST", "GET"), (301, "PUT", "PUT"), (307, "POST", "POST"),
                                    (308, "POST", "POST"), (303, "DELETE", "GET")):
        target = receiver(lambda request: (200, {}, b"") if request.path == "/there" else moved("/there", status))
        call = service.ended(service.submit(
            url=target.url, method=method, body="x", headers=ABOUT_CONTENT | KEPT, redirects={"max": 1}))
        assert call["state"] == "succeeded", call
        first, second = target.next(), target.next()
        keeps = becomes != "GET"
        assert (second.method, second.body) == (becomes, b"x" if keeps else b""), status
        for name, value in (ABOUT_CONTENT | KEPT).items():
            assert first.headers[name] == value
            assert second.headers[name] == (value if keeps or name in KEPT else None), (status, method, name)


def test_a_redirect_to_a_name_that_cannot_exist_is_not_retried(redial, receiver):
    service = redial()
    for host in ("a..b", ".a", "x" * 64 + ".example", "a..", "b" * 63 + ".c" * 96):
        target = receiver(lambda request: moved(f"http://{host}/"))
        call = service.ended(service.submit(url=target.url, redirects={"max": 3}))
        assert (call["failureReason"], call["attemptCount"], call["lastStatus"]) == ("notRetryable", 1, 302), host


@pytest.mark.parametrize("path, wanted", [
    # ISO-8859-1, UTF-8, neither, what is encoded already, in a query, and as a relative reference.
    (b"/\xe9", "/%E9"), ("/é".encode(), "/%C3%A9"), (b"/\xff\x80\xef\xbf\xbd", "/%FF%80%EF%BF%BD"), (b"/%E9\xe9%20", "/%E9%E9%20"),
    (b"/there?x=\xe9&y=\xc3", "/there?x=%E9&y=%C3"), (b"?\xe9", "/from?%E9"), (b"\xe9/x", "/%E9/x"), (b"/\xe9#\xe9", "/%E9"),
])
def test_a_location_outside_ascii_is_followed_with_the_bytes_that_it_has(redial, receiver, path, wanted):
    service = redial()
    for is_absolute in (False, True) if path.startswith(b"/") else (False,):
        def answer(request):
            if request.path != "/from":
                return 200, {}, b"here"
            return moved(((target.url.encode() if is_absolute else b"") + path).decode("latin-1"))
        target = receiver(answer)
        call = service.ended(service.submit(url=target.url + "/from", redirects={"max": 1}))
        assert (call["state"], call["response"]["body"]) == ("succeeded", "here"), call
        assert [r.path for r in target.requests] == ["/from", wanted]


def test_a_location_with_a_host_outside_ascii_is_not_followed(redial, receiver):
    service = redial()
    for host in (b"\xe9.example", "é.example".encode(), b"127.0.0.1\xff"):
        target = receiver(lambda request: moved(f"http://{host.decode('latin-1')}/"))
        call = service.ended(service.submit(url=target.url, redirects={"max": 1}))
        assert (call["failureReason"], call["lastStatus"]) == ("notRetryable", 302), (host, call)


def test_a_redirect_leads_nowhere_that_the_egress_policy_refuses(redial, receiver, tmp_path):
    inner = receiver()
    service = redial()
    for location, code in [("http://169.254.169.254/latest/meta-data/", "egressLinkLocal"),
                           (f"http://localhost:{service.port}/v1/calls", "egressOwnAddress"),
                           ("http://[::ffff:169.254.169.254]/", "egressLinkLocal")]:
        target = receiver(lambda request: moved(location))
        call = service.ended(service.submit(url=target.url, redirects={"max": 5}))
        assert (call["state"], call["failureReason"], call["attemptCount"]) == ("failed", "blocked", 1), location
        assert call["attempts"][0]["outcome"] == "blocked"
        assert call["attempts"][0]["error"]["code"] == code
    (tmp_path / "strict").mkdir()
    strict = redial("--egress-deny", f"127.0.0.1:{inner.port}", folder=tmp_path / "strict")
    target = receiver(lambda request: moved(inner.url))
    call = strict.ended(strict.submit(url=target.url, redirects={"max": 5}))
    assert call["failureReason"] == "blocked"
    assert not inner.requests


def test_credentials_stay_behind_when_the_origin_changes(redial, receiver):
    other = receiver()
    target = receiver(lambda request: moved(other.url + "/x"))
    service = redial()
    call = service.ended(service.submit(
        url=target.url, redirects={"max": 1}, headers={"Authorization": "Bearer s", "X-Kept": "1"}))
    assert call["state"] == "succeeded"
    assert target.requests[0].headers["authorization"] == "Bearer s"
    assert other.requests[0].headers["authorization"] is None and other.requests[0].headers["x-kept"] == "1"
