"""The command when something else answers in the place of the service, or nothing does for a while."""

import subprocess

import pytest

from lossy_proxy import LossyProxy
from processes import BINARY, BOUND, environment, run, standing_still, wait_until

CALL = "call_1M7YBERJP0000"
OTHERS = {
    "a redirect": (301, {"location": "https://ada:secret@elsewhere.example/redial"}, b""),
    "a page": (200, {"content-type": "text/html"}, b"\n<h1>Sign in</h1>"),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("arguments", [
    ["list"], ["get", CALL], ["cancel", CALL], ["retry", CALL], ["erase", CALL], ["targets"], ["targets", "billing", "pause"],
    ["statistics"], ["keys", "list"], ["keys", "revoke", "key_1"], ["webhooks", "delete", "ep_1M7YBERJP0000"], ["ops", "list"],
    ["call", "--no-wait", "https://a.example"]], ids=" ".join)
def test_an_answer_of_something_else_is_no_success(receiver, arguments, other):
    elsewhere = receiver(lambda request: OTHERS[other])
    told = run(*arguments, "--server", elsewhere.url)
    assert told.returncode == 3 and told.stdout == "", told
    assert f"{elsewhere.url} does not answer like Redial" in told.stderr
    assert ("https://REDACTED@elsewhere.example/redial" in told.stderr) == (other == "a redirect")
    assert "secret" not in told.stderr
    assert run("health", "--server", receiver(lambda request: OTHERS["a redirect"]).url).returncode == 3


def start(*arguments):
    return subprocess.Popen(
        [BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())


def ended(process):
    try:
        out, err = process.communicate(timeout=BOUND)
        return process.returncode, out, err
    finally:
        process.kill()


def test_waiting_goes_on_while_the_service_restarts(redial, receiver):
    service, target = redial(), receiver()
    waiting = start("call", "--delay", "1h", "--server", service.url, target.url)
    # When others can see the call, the command may not have the answer yet. Now it has.
    call = waiting.stdout.readline().removeprefix("accepted as ").strip()
    service.kill()
    assert f"still waiting for {call}" in waiting.stderr.readline()
    service.start()
    service("POST", f"/v1/calls/{call}/retry")
    code, out, _ = ended(waiting)
    assert code == 0 and "succeeded after 1 attempt" in out


def test_the_time_to_wait_counts_also_while_the_service_hangs(redial, receiver):
    service, target = redial(), receiver()
    waiting = start("call", "--delay", "1h", "--timeout", "2s", "--server", service.url, target.url)
    call = waiting.stdout.readline().removeprefix("accepted as ").strip()
    with standing_still(service.process):
        code, out, err = ended(waiting)
    assert code == 5 and call in err and out == ""


def test_a_submission_whose_answer_is_lost_may_have_been_accepted(redial, receiver, made):
    service, target = redial(), receiver()
    made.append(proxy := LossyProxy(service.port))
    proxy.lose(1)
    told = run("call", "--delay", "1h", "--server", proxy.url, target.url)
    assert told.returncode == 3 and "may have accepted" in told.stderr and "Is it running" not in told.stderr
    assert len(service("GET", "/v1/calls").json["data"]) == 1
