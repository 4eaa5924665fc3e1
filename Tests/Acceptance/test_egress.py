"""Where calls may go, whatever name or notation is used."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import processes


def test_what_a_url_already_tells_is_refused_when_it_is_submitted(redial):
    service = redial()
    for url in ["http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://[::ffff:a9fe:a9fe]/",
                "http://0.0.0.0/", "http://224.0.0.1/", service.url, "http://user@example.com/", "file:///etc/passwd",
                "http://1.2.3.4.5/", "http+unix://%2Frun%2Fdocker.sock/"]:
        answer = service("POST", "/v1/calls", {"url": url})
        assert answer.status == 422, url
        assert [error["pointer"] for error in answer.json["errors"]] == ["/url"]
        answer = service("POST", "/v1/calls", {"url": "http://example.com/", "callback": {"url": url}})
        assert answer.status == 422, url
        assert [error["pointer"] for error in answer.json["errors"]] == ["/callback/url"]
    answer = service("POST", "/v1/calls", {"url": "http://example.com/", "headers": {"X-A": "a\r\nX-B: b"}})
    assert answer.status == 422 and answer.json["errors"][0]["pointer"] == "/headers/X-A"


def test_a_name_that_leads_to_the_service_itself_is_blocked_at_once(redial):
    service = redial()
    call = service.ended(service.submit(url=f"http://localhost:{service.port}/v1/calls", method="POST", body="{}"))
    assert (call["state"], call["failureReason"], call["attemptCount"]) == ("failed", "blocked", 1)
    assert call["attempts"][0]["outcome"] == "blocked"
    assert call["attempts"][0]["error"]["code"] == "egressOwnAddress"
    assert len(service("GET", "/v1/calls").json["data"]) == 1


def test_the_lists_hold_for_calls_and_for_webhooks(redial, receiver):
    target, inner = receiver(), receiver()
    service = redial("--egress", "listed", "--egress-allow", f"127.0.0.1:{target.port},localhost:{inner.port}",
                     "--egress-deny", "*.evil.example")
    assert service("POST", "/v1/calls", {"url": "http://x.evil.example/"}).status == 422
    assert service("POST", "/v1/calls", {"url": inner.url}).status == 422
    call = service.ended(service.submit(url=target.url, callback={"url": f"http://localhost:{inner.port}/hook"}))
    assert call["state"] == "succeeded"
    assert inner.next().path == "/hook"


@pytest.mark.parametrize("listen", ["127.0.0.1", "unix"])
@pytest.mark.parametrize("reach, rule", [("public", "egressLoopback"), ("listed", "egressNotListed")])
def test_a_service_behind_a_proxy_on_its_machine_is_no_way_to_loopback(redial, receiver, tmp_path, listen, reach, rule):
    """The usual installation is a proxy in front of a service on loopback: everybody may reach the service then."""
    inner = receiver()
    more = ["--egress-allow", f"localhost:{inner.port + 1}"] if reach == "listed" else []
    if listen == "unix":
        path = tmp_path / "redial.sock"
        flags = [*more, "--egress", reach, "--store", f"sqlite:{tmp_path}/unix.db", "--listen", f"unix:{path}"]
        process = subprocess.Popen([processes.BINARY, "serve", *flags], env=processes.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            processes.wait_until(lambda: processes.run("list", "--url", f"unix:{path}").returncode == 0, "it has started")
            refused = processes.run("call", "--url", f"unix:{path}", inner.url)
            assert refused.returncode == 4 and "egress policy" in refused.stderr, refused
        finally:
            process.terminate()
            assert process.wait(processes.BOUND) == 0
    else:
        service = redial(*more, "--egress", reach)
        for host in ["127.0.0.1", "[::1]", "127.9.9.9", "2130706433"]:
            answer = service("POST", "/v1/calls", {"url": f"http://{host}:{inner.port}/"})
            assert answer.status == 422 and answer.json["errors"][0]["pointer"] == "/url", host
        if reach == "public":
            # A name is checked by the address that is about to be dialled.
            call = service.ended(service.submit(url=f"http://localhost:{inner.port}/"))
            assert (call["failureReason"], call["attempts"][0]["error"]["code"]) == ("blocked", rule)
    assert inner.requests == []


@pytest.mark.parametrize("reach", ["private", "public", "listed"])
def test_loopback_that_is_named_is_allowed_under_every_reach(redial, receiver, reach):
    inner = receiver()
    service = redial("--egress", reach, "--egress-allow", f"127.0.0.1:{inner.port}")
    assert service.ended(service.submit(url=inner.url))["state"] == "succeeded"


def in_a_network_of_its_own(name, tmp_path):
    """The report of a script of this folder."""
    space = ["unshare", "--net", "--mount"]
    if os.geteuid() != 0:
        space += ["--user", "--map-root-user"]
    if subprocess.run([*space, "true"], capture_output=True).returncode:
        pytest.skip("this machine makes no network namespaces")
    script = pathlib.Path(__file__).with_name(name)
    run = subprocess.run(
        [*space, sys.executable, str(script), processes.BINARY, str(tmp_path)], capture_output=True, text=True,
        timeout=10 * processes.BOUND, env=processes.environment(), stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_names_are_remembered_as_long_as_is_set_and_a_dead_address_costs_a_delay(tmp_path):
    if not shutil.which("ip"):
        pytest.skip("there is no ip to make a network that answers nothing")
    seen = in_a_network_of_its_own("names.py", tmp_path)
    # Only IPv6 is tried for this long; then also IPv4, which answers.
    for delay in [300, 1500]:
        attempt = seen[f"twofold{delay}"]
        assert (attempt["outcome"], attempt["status"]) == ("answered", 503), json.dumps(attempt)
        took = attempt["duration"]
        took = float(took[:-2]) if took.endswith("ms") else 1000 * float(took[:-1])
        # It was answered, so the dead address has not used up the time to connect, which is 10 s for both.
        assert took >= delay * 0.95, attempt
    assert seen["own"]["error"]["code"] == "egressOwnAddress"
    first, moved = seen["asked"][0], seen["asked"][1]
    # The age of an address is counted in whole seconds, so four may be little more than three.
    assert moved - first >= 3, seen
    addresses = [address for address, _ in seen["moving"]]
    assert addresses == sorted(addresses) and addresses[0] == "93.184.216.34" and addresses[-1] == "93.184.216.35", seen
    # Who is held up for longer than that finds the new address at once.
    assert {address for address, when in seen["moving"] if when - first < 3} == {"93.184.216.34"}, seen


def test_a_name_that_changes_its_address_gains_nothing(tmp_path):
    seen = in_a_network_of_its_own("rebinding.py", tmp_path)
    # The fourth is the token endpoint, whose call itself is never made.
    assert seen["reached"] == ["93.184.216.34"] * 4
    attempts = seen["calls"]["tokens"]["attempts"]
    assert {attempt["outcome"] for attempt in attempts} == {"localFault"} and len(attempts) > 1
    assert "answered 503" in attempts[0]["error"]["message"] and "egress policy" in attempts[-1]["error"]["message"]
    # A name that does not exist is the call's fault; a resolver that does not work is not the target's.
    assert seen["lost"] == [["notSent", "unknownHost", 1], ["localFault", "resolverUnavailable", 0]]
    for name, rule in [("loopback", "egressLoopback"), ("private", "egressPrivate"), ("linklocal", "egressLinkLocal")]:
        call = seen["calls"][name]
        assert seen["asked"][name] >= 2
        assert [attempt["outcome"] for attempt in call["attempts"]] == ["answered", "blocked"]
        assert (call["state"], call["failureReason"]) == ("failed", "blocked")
        assert call["attempts"][1]["error"]["code"] == rule
        for address in ["127.0.0.1", "10.9.9.9", "169.254.169.254"]:
            assert address not in json.dumps(call)
