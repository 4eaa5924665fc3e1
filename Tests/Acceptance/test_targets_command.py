"""`redial targets`, as a process."""

import json

from processes import run


def test_targets_are_listed_shown_set_and_controlled(redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url))

    def ask(*arguments):
        return run("targets", *arguments, "--url", service.url)

    listed = ask()
    assert listed.returncode == 0 and target.url in listed.stdout and "closed" in listed.stdout, listed.stderr
    for control, shown in (("pause", "paused"), ("resume", "closed"), ("trip", "held open"), ("reset", "closed"), ("release", "closed")):
        answer = ask(target.url, control)
        assert answer.returncode == 0 and shown in answer.stdout, (control, answer)
    assert json.loads(ask(target.url, "--set", '{"maxInFlight": 3}', "--json").stdout)["settings"]["maxInFlight"] == 3
    assert json.loads(ask(target.url, "--json").stdout)["settings"]["maxInFlight"] == 3
    for arguments, code in (
        ((target.url, "explode"), 2), (("--set", "{}"), 2), ((target.url, "--set", "{"), 2), (("nobody",), 4),
        ((target.url, "--set", '{"maxInFlite": 1}'), 4)):
        answer = ask(*arguments)
        assert answer.returncode == code and answer.stderr and not answer.stdout, (arguments, answer)
    tls = {"pins": ["A" * 43 + "="], "minVersion": "1.3", "origins": ["https://api.example.com"]}
    answer = ask("billing", "--set", json.dumps({"tls": tls}))
    assert "TLS: 1 pin, version 1.3 or newer; for https://api.example.com\n" in answer.stdout, answer
    refused = ask("billing", "--set", json.dumps({"tls": {"minVersion": "1.3"}}))
    assert refused.returncode == 4 and "/tls/origins" in refused.stderr, refused
