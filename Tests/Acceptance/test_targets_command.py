"""`redial targets`, as a process."""

import json

from processes import run


def test_targets_are_listed_shown_set_and_controlled(redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url))

    def ask(*arguments):
        return run("targets", *arguments, "--url", service.url)

    listed = ask()
    assert listed.returncode == 0 and target.url in listed.stdout and " up " in listed.stdout, listed.stderr
    for control, shown in (("pause", "paused"), ("resume", " up "), ("trip", "held open"), ("reset", " up "), ("release", " up ")):
        answer = ask(target.url, control)
        assert answer.returncode == 0 and shown in answer.stdout, (control, answer)
    assert json.loads(ask(target.url, "--set", '{"maxInFlight": 3}', "--json").stdout)["settings"]["maxInFlight"] == 3
    assert json.loads(ask(target.url, "--json").stdout)["settings"]["maxInFlight"] == 3
    # It shows the limits in effect, and which of them are of this target alone.
    shown = ask(target.url).stdout
    assert "in flight at most: 3\nattempt timeout: 1h\nrate: no limit\n" in shown, shown
    assert "set for this target: maxInFlight\n" in shown, shown
    # Each change leaves the others as they are; null removes one, and null alone all.
    limits = {"rate": {"perSecond": 2.5, "burst": 4}, "attemptTimeout": "5s"}
    shown = ask(target.url, "--set", json.dumps(limits)).stdout
    assert "in flight at most: 3\nattempt timeout: 5s\nrate: 2.5 per second\n" in shown, shown
    assert "set for this target: attemptTimeout, maxInFlight, rate\n" in shown, shown
    overrides = json.loads(ask(target.url, "--json").stdout)["overrides"]
    assert overrides == limits | {"maxInFlight": 3}
    shown = ask(target.url, "--set", '{"maxInFlight": null, "rate": {"burst": null}}').stdout
    assert "in flight at most: 64\nattempt timeout: 5s\nrate: 2.5 per second\n" in shown, shown
    assert "set for this target: attemptTimeout, rate\n" in shown, shown
    assert ask(target.url, "--set", "{}").stdout == shown
    shown = ask(target.url, "--set", "null").stdout
    assert "in flight at most: 64\n" in shown and "set for this target" not in shown, shown
    assert "leaves the others" in run("targets", "--help").stdout
    for arguments, code in (
        ((target.url, "explode"), 2), (("--set", "{}"), 2), ((target.url, "--set", "{"), 2), (("nobody",), 4),
        ((target.url, "--set", '{"maxInFlite": 1}'), 4)):
        answer = ask(*arguments)
        assert answer.returncode == code and answer.stderr and not answer.stdout, (arguments, answer)
    tls = {"pins": ["A" * 43 + "="], "minVersion": "1.3", "origins": ["https://api.example.com"]}
    answer = ask("billing", "--set", json.dumps({"tls": tls}))
    assert "TLS: 1 pin, version 1.3 or newer; for https://api.example.com\n" in answer.stdout, answer
    refused = ask("billing", "--set", json.dumps({"tls": {"origins": None}}))
    assert refused.returncode == 4 and "/tls/origins" in refused.stderr, refused
