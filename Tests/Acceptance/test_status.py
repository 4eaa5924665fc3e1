"""`redial status`, as a process."""

import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import threading

from processes import BINARY, BOUND, environment, free_port, run, wait_until
from terminal import Terminal


def status(service, *arguments, **more):
    return run("status", *arguments, "--server", service.url, **more)


def is_down(service, key="payments"):
    wait_until(lambda: service.target(key)["state"] == "down", "the target is down")


def test_a_service_without_calls_shows_how_to_submit_the_first(redial, flaky):
    service, target = redial(), flaky()
    answer = status(service)
    assert answer.returncode == 0 and not answer.stderr, answer
    assert answer.stdout.startswith("No call has been submitted yet.\n") and "%" not in answer.stdout, answer.stdout
    assert f"redial call --server {service.url} 'http" in answer.stdout
    assert "Service: ready; Redial " in answer.stdout and ", SQLite, 1 instance, up for " in answer.stdout, answer.stdout
    # A call that waits for its own start is one, though nothing has ended.
    service.submit(url=target.url, delay="1h")
    answer = status(service)
    assert answer.stdout.startswith("✓ No target is down, degraded or held.\n"), answer.stdout
    assert "no call has succeeded or failed yet" in answer.stdout and "%" not in answer.stdout, answer.stdout
    assert "Waiting: 1 call.\n  1  for their own start (startTime)\n" in answer.stdout, answer.stdout


def test_an_outage_is_said_first_with_what_to_type(redial, flaky):
    service, target = redial(), flaky()
    for number in range(4):
        service.ended(service.submit(url=f"{target.url}/{number}?fail={number % 2}"))
    service.ended(service.submit(url=target.url + "/x?fail=1&status=404"))
    dead = f"http://127.0.0.1:{free_port()}/"
    calls = [service.submit(url=dead, target="payments") for _ in range(30)]
    is_down(service)
    # A probe runs for a moment, and does not wait.
    answer = wait_until(lambda: "30 calls wait, the oldest for " in (answer := status(service)).stdout and answer, "all wait")
    assert answer.returncode == 1 and not answer.stderr, answer
    lines = answer.stdout.splitlines()
    assert lines[0].startswith("✗ payments is down for ") and lines[0].endswith(": connection refused"), answer.stdout
    assert "30 calls wait, the oldest for " in lines[1], answer.stdout
    assert "Last 15 minutes: 80.0 % of 5 calls succeeded, 2 of them after retries.\n" in answer.stdout, answer.stdout
    assert re.search(r"\n  Half of those that succeeded took up to \S+s, and 99 % up to \S+s\.\n", answer.stdout), answer.stdout
    assert "  30 calls wait: held up by a target above, and not counted here.\n" in answer.stdout, answer.stdout
    # The commands that it shows work.
    shown = [line.split("  ")[2].strip() for line in lines if line.startswith("    redial ")]
    assert len(shown) == 3 and shown[1].startswith("redial targets payments release"), shown
    waiting, failed = (run(*command.split()[1:]) for command in (shown[0], shown[2]))
    assert waiting.returncode == 0 and any(call in waiting.stdout for call in calls), waiting
    assert failed.returncode == 0 and "1 call to http" in failed.stdout and "404" in failed.stdout, failed
    assert re.search(r"^✗ 1 call failed, the latest .* ago\n  1 to http://127\.0\.0\.1:\d+: 404", answer.stdout, re.M), answer.stdout
    # For scripts, the same.
    answer = wait_until(lambda: '"waiting":30,' in (answer := status(service, "--json")).stdout and answer, "all wait")
    assert answer.returncode == 1
    overview = json.loads(answer.stdout)
    target = overview["targets"][0]
    assert (target["target"], target["state"], target["cause"]) == ("payments", "down", "connectionRefused")
    assert target["waiting"] == 30 and target["oldestDueAt"], target
    assert overview["last15m"]["timeToSuccess"]["p99"].endswith("s")
    assert overview["last15m"]["successRate"] == 0.8 and overview["waiting"]["late"] == 0, overview
    assert overview["failed"]["calls"] == 1 and len(overview["failed"]["issues"]) == 1, overview
    assert overview["ready"] is True and overview["service"]["store"] == "sqlite" and overview["service"]["startedAt"], overview
    assert sum(overview["waiting"]["byReason"].values()) == overview["waiting"]["total"]
    assert run(*shown[1].split()[1:]).returncode == 0


def test_status_issues_and_the_overview_have_one_rule_for_late(redial):
    service = redial(clock=True)
    for _ in range(30):
        service.submit(url=f"http://127.0.0.1:{free_port()}/", target="payments", policy={"deadline": "12h"})
    is_down(service)
    late = re.compile(r"^  (\d+) calls? (?:is|are) late: held up by a target above", re.M)

    def both():
        """How many are late, by the command's overview and by its JSON, at about one time; and what the issues say."""
        overview = json.loads(status(service, "--json").stdout)["waiting"]["late"]
        text = late.search(status(service).stdout)
        issues = json.loads(run("issues", "--server", service.url, "--json").stdout)
        issues = issues["data"] if isinstance(issues, dict) else issues
        return overview, int(text[1]) if text else 0, [one["kind"] for one in issues]
    wait_until(lambda: "30 calls wait: held up by a target above" in status(service).stdout, "all wait")
    assert both() == (0, 0, ["down"])
    service.advance(600)
    # A call that is being tried waits for its own backoff.
    wait_until(lambda: (said := both())[0] == said[1] and said[0] >= 25 and said[2] == ["down"], "all say that they are late")


def test_a_target_that_somebody_holds_is_shown_and_changes_no_exit_code(redial, receiver):
    service, target = redial(), receiver()
    for control, word in (("pause", "is paused"), ("trip", "is held open by hand")):
        key = f"{control}ped"
        service("POST", f"/v1/targets/{key}/{control}")
        service.submit(url=target.url, target=key)
        answer = status(service)
        assert answer.returncode == 0 and f" {key} {word}: no call to it starts\n  1 call waits" in answer.stdout, answer.stdout


def test_what_a_key_may_not_see_is_left_out(redial, flaky):
    service, target = redial(env={"REDIAL_ADMIN_KEY": "0123456789abcdef"}), flaky()
    admin = {"REDIAL_API_KEY": "0123456789abcdef"}

    def key(scopes, *more):
        made = run("keys", "create", "--name", "k", "--scope", scopes, *more, "--server", service.url, env=admin)
        return {"REDIAL_API_KEY": made.stdout.strip()}
    run("call", target.url, "--server", service.url, env=admin)
    everything = status(service, env=admin)
    assert everything.returncode == 0 and "Not shown" not in everything.stdout, everything
    assert "Last 15 minutes: 100 % of 1 call succeeded.\n" in everything.stdout
    reader = status(service, env=key("read"))
    assert reader.returncode == 0 and "100 % of 1 call succeeded" in reader.stdout, reader
    assert "Not shown: the store and since when it runs. The API key lacks the scope metrics. Use one that has it." in reader.stdout, reader
    submitter = status(service, env=key("submit"))
    assert submitter.returncode == 0 and "%" not in submitter.stdout, submitter
    assert "What is wrong with targets is not known.\n" in submitter.stdout and "Service: answers; " in submitter.stdout
    assert "The API key lacks the scope read. Use one that has it." in submitter.stdout
    tenant = status(service, env=key("read,metrics", "--namespace", "tenant"))
    assert tenant.returncode == 0 and "No call has been submitted yet." in tenant.stdout, tenant
    assert "Not shown: the instances; the store and since when it runs. This covers all namespaces" in tenant.stdout, tenant
    # The administrator's view of the tenant; further commands are about it, too.
    view = status(service, "--namespace", "tenant", env=admin)
    assert view.returncode == 0 and "redial call --server" in view.stdout and " --namespace tenant " in view.stdout, view
    # A wrong key is no key with few scopes.
    for env in ({}, {"REDIAL_API_KEY": "wrong"}):
        refused = status(service, env=env)
        assert refused.returncode == 4 and refused.stderr and not refused.stdout, refused


def test_a_service_that_is_away_or_not_redial_is_an_error(receiver):
    answer = run("status", "--server", f"http://127.0.0.1:{free_port()}")
    assert answer.returncode == 3 and "cannot reach the service" in answer.stderr and not answer.stdout, answer
    answer = run("status", "--server", receiver().url)
    assert answer.returncode == 3 and "does not answer like Redial" in answer.stderr, answer


ENTER, LEAVE = "\x1b[?1049h", "\x1b[?25h\x1b[?1049l"


def test_watching_redraws_survives_a_restart_and_leaves_the_terminal_as_it_was(redial):
    service = redial()
    terminal = Terminal("status", "--watch", "--every", "500ms", "--server", service.url, env={"NO_COLOR": "1"})
    try:
        terminal.until("No call has been submitted yet")
        assert terminal.text.startswith(ENTER)
        service.submit(url=f"http://127.0.0.1:{free_port()}/", target="payments")
        service("POST", "/v1/targets/payments/pause")
        terminal.until("! payments is paused: no call to it starts")
        service.kill()
        terminal.until("✗ No answer for ")
        before = len(terminal.text)
        service.start()
        terminal.until(r"(?s)✗ No answer.*\x1b\[H\d{4}-[^\n]*every 500ms")
        assert "payments is paused" in terminal.text[before:]
        # Each drawing begins at the top and scrolls nothing: no screen is longer than the terminal's 24 lines.
        for drawing in terminal.text.split("\x1b[H")[1:]:
            assert drawing.count("\n") < 24
        # For a while it gives the terminal back.
        os.kill(terminal.process.pid, signal.SIGTSTP)
        terminal.until(re.escape(LEAVE))
        stopped = pathlib.Path(f"/proc/{terminal.process.pid}/stat")
        wait_until(lambda: stopped.read_text().rsplit(")", 1)[1].split()[0] == "T", "it stands still")
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.until("(?s)" + re.escape(LEAVE) + ".*" + re.escape(ENTER) + ".*payments is paused")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == -signal.SIGINT
        assert terminal.text.endswith(LEAVE) and terminal.text.count(ENTER) == terminal.text.count(LEAVE) == 2
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


class Lines:
    """A process whose output is no terminal, line by line."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [BINARY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=lambda: [self.lines.put(line) for line in self.process.stdout])
        self.reader.start()

    def until(self, words):
        while words not in (line := self.lines.get(timeout=BOUND)):
            pass
        return line

    def end(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


def test_watching_without_a_terminal_appends_only_changes(redial, receiver, made):
    service, target = redial(), receiver()
    service.ended(service.submit(url=target.url))
    watch = Lines("status", "--watch", "--every", "500ms", "--server", service.url)
    made.append(watch)
    watch.until("Service: ready;")
    # More calls are no change.
    service.ended(service.submit(url=target.url))
    service("POST", "/v1/targets/payments/pause")
    assert re.match(r"\d{4}-\d\d-\d\dT[0-9:.]+Z  payments is paused\n", watch.lines.get(timeout=BOUND))
    service("POST", "/v1/targets/payments/resume")
    assert watch.lines.get(timeout=BOUND).endswith("Z  payments is up\n")
    assert service.terminate() == 0
    watch.until("Z  no answer: cannot reach the service at ")
    service.start()
    watch.until("Z  the service answers again, after ")
    watch.until("Z  the service was started again\n")
    for number in range(30):
        service.submit(url=f"http://127.0.0.1:{free_port()}/", target="payments")
    assert "payments is down: connection refused; " in watch.until("payments is down")


def test_watching_as_json_writes_a_line_each_time(redial, made):
    service = redial()
    watch = Lines("status", "--watch", "--json", "--every", "500ms", "--server", service.url)
    made.append(watch)
    first, second = (json.loads(watch.lines.get(timeout=BOUND)) for _ in range(2))
    assert first["targets"] == second["targets"] == [] and first["ready"] and first["at"] <= second["at"]


def test_watching_ends_with_its_reader(redial):
    service = redial()
    answer = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {BINARY} status --watch --every 500ms --server {service.url} | head -1"],
        capture_output=True, text=True, timeout=BOUND, env=environment())
    assert answer.returncode == 141 and answer.stdout == "No call has been submitted yet.\n", answer


def test_watching_needs_a_service_at_first_and_a_valid_interval():
    answer = run("status", "--watch", "--server", f"http://127.0.0.1:{free_port()}")
    assert answer.returncode == 3 and "cannot reach the service" in answer.stderr and not answer.stdout, answer
    for arguments, words in ((("--every", "5s"), "--every needs --watch"), (("--watch", "--every", "1ms"), "from 500ms to 1h"),
                             (("--watch", "--every", "soon"), "\"soon\" is not a duration")):
        answer = run("status", *arguments)
        assert answer.returncode == 2 and words in answer.stderr, answer
