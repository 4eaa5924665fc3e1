"""The page of the first ten requests: every block runs, and each does what its section says."""

import json
import re
import subprocess
import sys

import pytest
from standardwebhooks import Webhook

import needs
from client_packages import here
from processes import BOUND, ROOT, wait_until

PAGE = ROOT / "docs/calls.md"
TITLES = [
    "Submit a call", "Submit and wait for the result", "Submit many calls", "Forward a request", "List what waits",
    "Retry all calls of an issue", "Cancel a call", "Pause a target", "Replay a call with changes", "Get webhooks"]
LANGUAGES = ["sh", "python", "ts", "go"]

# What the test adds to a program: before its first block, after each section, and at its end. GATE is where the test waits.
FRAMES = {
    "sh": ("set -eu\n", "curl -o /dev/null GATE\n", ""),
    "python": (
        "import json\nimport urllib.request\n", "urllib.request.urlopen('GATE').read()\n", """
from redial_client import WebhookVerificationError
arrived = json.load(urllib.request.urlopen("GATE"))
for body in (arrived["body"].encode(), b"{}"):
    try:
        receive(body, arrived["headers"])
    except WebhookVerificationError:
        print("refused")
"""),
    "ts": ("", "if (!(await fetch('GATE')).ok) throw new Error('GATE');\n", """
import { WebhookVerificationError } from "redial-client";
const arrived = await (await fetch("GATE")).json();
for (const body of [arrived.body, "{}"]) {
  try {
    await receive(new Request("http://127.0.0.1/", { method: "POST", body, headers: arrived.headers }));
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log("refused");
  }
}
"""),
    "go": ("""
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"time"

	redial "redial-client"
)

func check(err error) {
	var refused *redial.WebhookVerificationError
	if errors.As(err, &refused) {
		fmt.Println("refused")
		panic(refused)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func gate(address string) []byte {
	response, err := http.Get(address)
	check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != 200 {
		log.Fatal(response.Status)
	}
	return body
}

func main() {
""", 'gate("GATE")\n', """
	var arrived struct {
		Body    string
		Headers map[string]string
	}
	check(json.Unmarshal(gate("GATE"), &arrived))
	header := http.Header{}
	for name, value := range arrived.Headers {
		header.Set(name, value)
	}
	for _, body := range []string{arrived.Body, "{}"} {
		func() {
			defer func() { _ = recover() }()
			receive([]byte(body), header)
		}()
	}
}
"""),
}


def sections():
    """Each section: its title, its text, and its blocks, each with its language."""
    found = []
    for number, title, content in re.findall(r"^## (\d+)\. (.*?)\n(.*?)(?=^## )", PAGE.read_text(), re.M | re.S):
        assert int(number) == len(found) + 1
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", content, re.M | re.S)
        found.append((title, re.sub(r"^```.*?^```$", "", content, flags=re.M | re.S), blocks))
    return found


def test_each_section_has_two_sentences_and_a_block_of_each_language():
    assert [title for title, _, _ in sections()] == TITLES
    for title, text, blocks in sections():
        assert 1 <= len(re.findall(r"[.!?](?=\s)", text)) <= 2, title
        assert [language for language, _ in blocks] == LANGUAGES, title


def test_the_failed_call_to_try_section_six_with_succeeds_the_second_time(redial, flaky):
    (query,) = re.findall(r"`http://127\.0\.0\.1:9090/(\?.*?)`", PAGE.read_text())
    service = redial()
    call = service.submit(url=f"{flaky().url}/{query}")
    assert service.ended(call)["state"] == "failed"
    (issue,) = service("GET", "/v1/issues?state=open").json["data"]
    assert service("POST", "/v1/operations", {"action": "retry", "filter": {"issue": issue["id"]}}).status == 202
    wait_until(lambda: service.get(call)["state"] == "succeeded", "it runs again")


class Observer:
    """What has happened after each section, by the API, the target and the output of the program.

    There is a check for each title. The program waits at the gate after each section, until its check is done.
    """

    def __init__(self, service, receiver, output, is_shell):
        self.service, self.output, self.is_shell = service, output, is_shell
        self.is_mended = False
        self.target, self.hook, self.operators = receiver(self.answer), receiver(), receiver()
        self.read, self.seen, self.webhook, self.errors, self.steps = 0, set(), None, [], []
        service("POST", "/v1/webhook-endpoints", {"url": self.operators.url, "events": ["target.controlled"]})
        self.failed = [service.submit(url=f"{self.target.url}/customers/{number}") for number in (7, 8)]
        assert [service.ended(call)["state"] for call in self.failed] == ["failed", "failed"]
        self.new()
        self.gate = receiver(self.step)

    def answer(self, request):
        if request.path.startswith("/customers") and not self.is_mended:
            return 404, {}, b"no such customer"
        return 200, {}, b"accepted by the target"

    def step(self, request):
        """The answer to the program once a section is checked; it gets the webhook that came."""
        number = int(request.path[1:])
        self.steps.append(number)
        try:
            text = self.output.read_text()[self.read:]
            self.read += len(text)
            if number <= len(TITLES):
                getattr(self, "after_" + TITLES[number - 1].lower().replace(" ", "_"))(text)
            webhook = self.webhook and {"body": self.webhook.body.decode(), "headers": dict(self.webhook.headers)}
            return 200, {"content-type": "application/json"}, json.dumps(webhook).encode()
        except BaseException as error:
            self.errors.append(error)
            return 500, {}, b""

    def calls(self, query=""):
        return self.service("GET", f"/v1/calls?limit=250{query}").json["data"]

    def new(self):
        """The calls that came since this was asked last, the oldest first."""
        found = [call for call in reversed(self.calls()) if call["id"] not in self.seen]
        self.seen |= {call["id"] for call in found}
        return found

    def sent(self, path):
        return [request for request in self.target.requests if request.path == path]

    def charges(self):
        return [json.loads(request.body)["amount"] for request in self.sent("/charges")]

    def after_submit_a_call(self, output):
        (call,) = self.new()
        assert call["id"] in output
        assert [one["id"] for one in self.calls("&idempotencyKey=order-7")] == [call["id"]]
        assert self.service.ended(call["id"])["state"] == "succeeded" and self.charges() == [100]

    def after_submit_and_wait_for_the_result(self, output):
        (call,) = self.new()
        assert call["state"] == "succeeded" and self.charges() == [100, 120]
        # It has the result, and not only Redial.
        assert "succeeded" in output and "accepted by the target" in output

    def after_submit_many_calls(self, output):
        self.reminders = [call["id"] for call in self.new()]
        assert len(self.reminders) == 2 and re.findall(r"\b202\b", output) == ["202", "202"]
        assert sorted(set(re.findall(r"call_\w{13}", output))) == sorted(self.reminders)
        assert {call["id"] for call in self.calls("&state=scheduled&label=team=payments")} == set(self.reminders)
        assert [call["waitingOn"] for call in map(self.service.get, self.reminders)] == ["startTime", "startTime"]

    def after_forward_a_request(self, output):
        (call,) = self.new()
        (request,) = self.sent("/orders")
        assert call["state"] == "succeeded" and "succeeded" in output
        assert (request.method, request.body) == ("POST", b"item=42")
        assert request.headers["content-type"].startswith("application/x-www-form-urlencoded")

    def after_list_what_waits(self, output):
        assert set(re.findall(r"call_\w{13}", output)) == set(self.reminders) and output.count("startTime") >= 2
        assert self.new() == []
        # The next section needs failed calls with a cause that is repaired.
        assert [self.service.get(call)["state"] for call in self.failed] == ["failed", "failed"]
        self.is_mended = True

    def after_retry_all_calls_of_an_issue(self, output):
        (operation,) = self.service("GET", "/v1/operations").json["data"]
        assert operation["id"] in output and operation["action"] == "retry"
        wait_until(
            lambda: [self.service.get(call)["state"] for call in self.failed] == ["succeeded", "succeeded"],
            "the calls of the issue ran again")
        assert self.service("GET", "/v1/issues?state=open").json["data"] == [] and self.new() == []

    def after_cancel_a_call(self, output):
        (call,) = self.new()
        assert call["state"] == "cancelled" and "cancelled" in output
        self.cancelled = call["id"]

    def after_pause_a_target(self, output):
        events = [json.loads(self.operators.next().body)["data"] for _ in range(2)]
        assert {event["key"] for event in events} == {self.target.url}
        assert sorted((event["action"], event["paused"]) for event in events) == [("pause", True), ("resume", False)]
        assert self.service.target(self.target.url)["paused"] is False

    def after_replay_a_call_with_changes(self, output):
        (call,) = self.new()
        assert self.service.get(call["id"])["replayOf"] == self.cancelled and call["id"] in output
        assert self.service.ended(call["id"])["state"] == "succeeded" and self.charges() == [100, 120, 100]

    def after_get_webhooks(self, output):
        (call,) = self.new()
        chosen = [endpoint["events"] for endpoint in self.service("GET", "/v1/webhook-endpoints").json["data"]]
        assert len(chosen) == 2 and ["call.succeeded", "call.failed"] in chosen
        self.webhook = self.hook.next()
        event = json.loads(self.webhook.body)
        assert (event["type"], event["data"]["id"]) == ("call.succeeded", call["id"]) and self.webhook.path == "/hooks"
        if self.is_shell:
            Webhook(re.search(r"whsec_[\w+/=]+", output)[0]).verify(self.webhook.body, dict(self.webhook.headers))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_block_does_what_its_section_says(redial, receiver, packages, tmp_path, language):
    output = tmp_path / "output"
    service = redial()
    observer = Observer(service, receiver, output, language == "sh")
    before, between, end = FRAMES[language]
    program = before
    for number, (_, _, blocks) in enumerate(sections(), 1):
        block = here(dict(blocks)[language], service, observer.target)
        program += block.replace("https://me.example.com", observer.hook.url)
        program += between.replace("GATE", f"{observer.gate.url}/{number}")
    program += end.replace("GATE", f"{observer.gate.url}/{len(TITLES) + 1}")
    file = (packages.typescript if language == "ts" else tmp_path) / f"first_requests.{language.replace('python', 'py')}"
    file.write_text(program)
    env = packages.environment() | {"PYTHONUNBUFFERED": "1", "CURL_HOME": str(tmp_path)}
    if language == "sh":
        # A refusal fails, and each answer has its line.
        (tmp_path / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
        command = ["bash", file]
    elif language == "python":
        packages.typed(file, folder=tmp_path)
        command = [sys.executable, file]
    elif language == "ts":
        (module,) = packages.compiled(file)
        command = [needs.program("node"), module]
    else:
        command = packages.programs("first_requests", [[program]])
    with open(output, "w") as written:
        done = subprocess.run(command, stdout=written, stderr=subprocess.STDOUT, env=env, timeout=3 * BOUND)
    if observer.errors:
        raise observer.errors[0]
    assert done.returncode == 0, output.read_text()
    assert observer.steps == list(range(1, len(TITLES) + (1 if language == "sh" else 2)))
    if language != "sh":
        assert output.read_text()[observer.read:].split() == ["call.succeeded", "refused"]
