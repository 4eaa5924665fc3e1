"""The page of one call: what it waits for, its waits and attempts to scale, each answer, and the actions."""

import os
import re

import pytest
from playwright.sync_api import expect

from processes import free_port, wait_until
from test_dashboard import SECONDS, chromium, page  # noqa: F401  fixtures

pytestmark = pytest.mark.part("browser")


def boxes(page, style):
    return [box.bounding_box() for box in page.locator(f"#call-line rect.{style}").all()]


def test_a_call_that_waits_says_for_what_and_shows_it_to_scale(page, redial, receiver):
    target = receiver(lambda request: (503, {"content-type": "text/plain"}, b"try later"))
    service = redial()
    call = service.submit(
        url=target.url + "/charges", target="payments", policy={"deadline": "2h", "backoff": {
            "strategy": "constant", "initial": "2s", "jitter": "none"}})
    wait_until(lambda: len(service.get(call)["attempts"]) >= 3, "three attempts have ended")
    assert service("POST", "/v1/targets/payments/trip").status == 200
    wait_until(lambda: service.get(call)["waitingOn"] == "breaker", "it waits for the breaker")
    attempts = len(service.get(call)["attempts"])
    page.goto(f"{service.url}/#call/{call}")
    expect(page.locator("#call-name")).to_have_text("GET /charges to payments")
    expect(page.locator("#call-state")).to_contain_text("Waits for a target that is down", timeout=60 * SECONDS)
    expect(page.locator("#call-sums")).to_contain_text("backoff")
    expect(page.locator("#call-sums")).to_contain_text("breaker")
    expect(page.locator("#timeline .attempt")).to_have_count(attempts)
    expect(page.locator("#timeline .wait.backoff").first).to_contain_text("waited for backoff: 2")
    expect(page.locator("#timeline .wait").last).to_contain_text("so far")
    # To scale: both pauses are as long as each other.
    first, second = boxes(page, "f-backoff")[:2]
    assert abs(first["width"] / second["width"] - 1) < 0.3, (first, second)
    assert len(boxes(page, "f-bad")) == attempts
    # Each answer can be seen, and stays while the page is drawn anew.
    page.locator("#timeline .attempt").nth(1).get_by_role("button", name="Answer").click()
    expect(page.locator("#timeline .attempt").nth(1)).to_contain_text("try later")
    page.wait_for_timeout(3 * SECONDS)
    expect(page.locator("#timeline .attempt").nth(1)).to_contain_text("try later")
    assert page.evaluate("document.activeElement.textContent") == "Answer"
    expect(page.locator("#call-policy")).to_contain_text("\"deadline\"")
    for scheme, width in (("light", 1400), ("dark", 1400), ("light", 390), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(3 * SECONDS)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
        if folder := os.environ.get("REDIAL_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/call-{scheme}-{width}.png", full_page=True)
        # No text of the picture lies on another, and none is cut off.
        found = page.evaluate("""() => {
          const edges = document.getElementById("call-line").getBoundingClientRect();
          const texts = [...document.querySelectorAll("#call-line text:not(.in)")].map(one => [one.textContent, one.getBoundingClientRect()]);
          const isCut = box => box.left < edges.left - 1 || box.right > edges.right + 1 || box.top < edges.top - 1 || box.bottom > edges.bottom + 1;
          const meet = (a, b) => a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 3 && b.bottom > a.top + 3;
          return [texts.filter(([, box]) => isCut(box)).map(([text]) => text),
            texts.flatMap(([text, box], index) => texts.slice(index + 1).filter(([, other]) => meet(box, other)).map(([other]) => [text, other]))];
        }""")
        assert found == [[], []], (width, found)


HOUR, MINUTE = 3600, 60
# What a call was given, and its waits in seconds so far; the last one goes on.
WAITS = {
    "failed, run again by hand after two days, and its target is paused": (
        {"attempts": [{"at": 0}], "waitingOn": "paused", "age": 48 * HOUR + 90, "deadline": 49 * HOUR + MINUTE, "ends": HOUR},
        [("paused", 30)]),
    "its start comes later than its target's release": (
        {"waitingOn": "paused", "age": HOUR / 2, "deadline": 2 * HOUR, "ends": HOUR}, [("startTime", HOUR / 2)]),
    "the target asked for a minute, and is down": (
        {"attempts": [{"at": 0, "decision": {"action": "retry", "after": "1m", "waitingOn": "retryAfter"}}], "waitingOn": "breaker",
         "age": 90}, [("retryAfter", 60), ("breaker", 30)]),
    "the backoff goes on although the target is held": (
        {"attempts": [{"at": 0, "decision": {"action": "retry", "after": "1h", "waitingOn": "backoff"}}], "waitingOn": "breaker",
         "age": 90}, [("backoff", 90)]),
    "an operator has ended the backoff": (
        {"attempts": [{"at": 0, "decision": {"action": "retry", "after": "1h", "waitingOn": "backoff"}}], "waitingOn": "breaker",
         "age": 90, "retriedAt": 30}, [("backoff", 30), ("breaker", 60)]),
}


@pytest.mark.parametrize("words", WAITS)
def test_the_wait_that_goes_on_is_first_of_the_call_and_then_for_its_target(page, redial, words):
    given, expected = WAITS[words]
    page.goto(redial().url + "/")
    found = page.evaluate("""given => {
      const begun = clock() - given.age * 1000, moment = seconds => new Date(begun + seconds * 1000).toISOString(), attempts = given.attempts || [];
      const call = {createdAt: moment(0), finishedAt: null, state: "scheduled", waitingOn: given.waitingOn, attemptCount: attempts.length,
        attempts: attempts.map(({at, decision}, index) => ({number: index + 1, startedAt: moment(at), duration: "0s", waited: {}, decision})),
        retries: given.retriedAt ? [{at: moment(given.retriedAt), afterAttempt: attempts.length}] : [],
        deadlineAt: given.deadline ? moment(given.deadline) : null, policyInForce: {deadline: given.deadline ? given.ends + "s" : null}};
      return walked(call).filter(part => part.cause).map(part => [part.cause, part.length, Boolean(part.isOpen)]);
    }""", given)
    assert [cause for cause, *_ in found] == [cause for cause, _ in expected], found
    assert all(abs(length - long) < 10 for (_, length, _), (_, long) in zip(found, expected)), found
    assert [is_open for *_, is_open in found] == [False] * (len(found) - 1) + [True]


def test_ending_a_call_takes_two_steps_and_running_it_one(page, redial, receiver):
    target, service = receiver(), redial()
    call = service.submit(url=target.url, delay="1h")
    page.goto(f"{service.url}/#call/{call}")
    expect(page.locator("#call-state")).to_contain_text("Waits for its own start; attempt 1 in")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Keep it").click()
    assert service.get(call)["state"] == "scheduled"
    page.get_by_role("button", name="Run it now").click()
    expect(page.locator("#call-state")).to_contain_text("Succeeded at attempt 1", timeout=60 * SECONDS)
    other = service.submit(url=target.url, delay="1h")
    page.goto(f"{service.url}/#call/{other}")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel it for good").click()
    expect(page.locator("#call-state")).to_contain_text("Cancelled")
    assert service.get(other)["state"] == "cancelled"


def test_an_attempt_without_an_answer_is_named_by_its_error(page, redial):  # noqa: F811
    service = redial()
    call = service.submit(url=f"http://127.0.0.1:{free_port()}/", policy={"maxAttempts": 1})
    service.ended(call)
    page.goto(f"{service.url}/#call/{call}")
    expect(page.locator("#timeline .attempt b")).to_have_text("1. connection refused")
    expect(page.locator("#timeline .attempt")).to_contain_text(re.compile(r"1\. connection refused in <?[\d.]+m?s "))
