"""The dashboard, in headless Chromium."""

import os
import re
import subprocess
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import browsers
from processes import wait_until

SECONDS = 1000
# A busy machine is no failure.
expect.set_options(timeout=60 * SECONDS)


@pytest.fixture(scope="module")
def chromium():
    with browsers.chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium, made):
    """A page without errors: an error on its console fails the test."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(20 * SECONDS)
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.tolerated = []
    yield page
    origin = re.match(r"https?://[^/]+", page.url)[0]
    context.close()
    assert [e for e in errors if not any(t in e for t in page.tolerated)] == []
    assert all(url.startswith((origin, "blob:", "data:")) for url in requests), requests


def test_the_page_is_bound_by_a_strict_policy(redial):
    answer = redial()("GET", "/")
    assert answer.status == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    for name in ("script-src", "style-src"):
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", policy[name])
    assert "http" not in re.sub(r"http://(www\.w3\.org/2000/svg|127\.0\.0\.1:9090[^\"]*)|https://(api|me)\.example\.com", "", answer.body.decode())


def test_a_call_is_handed_over_and_watched_until_it_gets_through(page, redial, flaky):
    service, target = redial(), flaky()
    page.goto(service.url + "/#calls")
    page.get_by_text("Submit a call", exact=True).click()
    page.get_by_label("Call a URL").fill(target.url + "/hello?fail=2")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#timeline .attempt")).to_have_count(3, timeout=60 * SECONDS)
    expect(page.locator("#timeline .attempt").nth(0)).to_contain_text("503")
    expect(page.locator("#timeline .attempt").nth(0)).to_contain_text("because status 503 is retryable")
    expect(page.locator("#timeline .attempt").nth(2)).to_contain_text("3. 200")
    expect(page.locator("#call-facts")).to_contain_text("succeeded")
    page.get_by_role("button", name="Run it again").click()
    expect(page.locator("#timeline .attempt")).to_have_count(4, timeout=60 * SECONDS)


def test_targets_are_paused_and_resumed_and_calls_found(page, redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url))
    page.goto(service.url + "/#targets")
    row = page.locator("#target-table tbody tr")
    expect(row).to_contain_text("closed")
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused")
    waiting = service.submit(url=target.url)
    assert service.get(waiting)["waitingOn"] == "paused"
    row.get_by_role("button", name="Resume").click()
    assert service.ended(waiting)["state"] == "succeeded"
    row.get_by_role("button", name="Trip").click()
    expect(row).to_contain_text("held open")
    row.get_by_role("button", name="Reset").click()
    expect(row).to_contain_text("closed")
    row.get_by_role("link").click()
    expect(page.locator("#target-title")).to_have_text(target.url)
    page.get_by_role("link", name="Its calls").click()
    expect(page.locator("#call-table tbody tr")).to_have_count(2)
    page.get_by_label("Add a filter").fill("state:failed")
    page.keyboard.press("Enter")
    expect(page.locator("#call-table tbody")).to_contain_text("No call matches.")


def test_a_service_with_keys_has_people_sign_in_with_one(page, redial, flaky):
    service, target = redial(), flaky()
    admin = service("POST", "/v1/keys", {"name": "me", "scopes": ["admin"]}).json["key"]
    service.credentials = {"authorization": f"Bearer {admin}"}
    reader = service("POST", "/v1/keys", {"name": "reader", "scopes": ["read"]}).json["key"]
    call = service.submit(url=target.url)
    service.ended(call)
    # The browser itself writes refused requests to its console.
    page.tolerated += ["401", "403"]
    page.goto(service.url + "/#calls")
    expect(page.locator("#view-sign")).to_be_visible()
    expect(page.locator("#call-table tbody tr")).to_have_count(0)
    page.get_by_label("API key").fill("rdl_0000000000000_nonsense")
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    expect(page.locator("#key")).to_be_focused()
    page.get_by_label("API key").fill(reader)
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    expect(page.locator("#status")).to_have_text("Live")
    page.get_by_role("link", name="Calls").click()
    expect(page.locator("#call-table tbody")).to_contain_text(call)
    assert page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]") == [1, 0, ""]
    # If the key is not sufficient, the page asks for another.
    page.get_by_role("link", name="Targets").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#view-sign")).to_be_visible()
    page.get_by_label("API key").fill(admin)
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Targets").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#target-table")).to_contain_text("paused")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#view-sign")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_policy_and_an_outage_can_be_played_with(page, redial):
    service = redial()
    page.goto(service.url + "/#policy")
    # The default has no limit on attempts; this many are shown.
    expect(page.locator("#policy-sum")).to_contain_text("Attempt 20 starts")
    page.get_by_label("Policy", exact=True).fill('{"maxAttempts": 3, "backoff": {"jitter": "none"}}')
    expect(page.locator("#policy-warnings")).to_contain_text("noJitter")
    expect(page.locator("#policy-sum")).to_contain_text("Attempt 3 starts")
    wait_until(lambda: page.locator("#policy-chart").evaluate("i => i.complete && i.naturalWidth > 100"), "a chart shows")
    page.tolerated.append("422")
    page.get_by_label("Policy", exact=True).fill('{"maxAttempts": 0}')
    expect(page.get_by_role("alert")).to_contain_text("/policy/maxAttempts")
    page.get_by_label("Policy", exact=True).fill("{}")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_the_overview_and_the_webhooks_are_live(page, redial, flaky, receiver):
    service, target, hook = redial(), flaky(), receiver()
    service.ended(service.submit(url=target.url))
    page.goto(service.url + "/")
    expect(page.locator("#ended")).to_contain_text("100 % of 1 call succeeded")
    expect(page.locator("#status")).to_have_text("Live")
    for _ in range(30):
        service.submit(url=target.url, callback={"url": hook.url})
    expect(page.locator("#ended")).to_contain_text("100 % of 31 calls succeeded", timeout=60 * SECONDS)
    page.get_by_role("link", name="Webhooks").click()
    expect(page.locator("#webhook-table tbody tr")).to_have_count(30)
    expect(page.locator("#webhook-table tbody")).to_contain_text("succeeded")


def test_webhook_endpoints_are_registered_tried_and_switched_off(page, redial, receiver):
    service, hook = redial(), receiver()
    page.goto(service.url + "/#webhooks")
    expect(page.locator("#endpoint-table")).to_contain_text("No endpoint is registered.")
    page.get_by_label("Send webhooks to").fill(hook.url + "/hooks")
    page.get_by_label("Events").select_option("failures")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("#endpoint-secret")).to_contain_text("whsec_")
    row = page.locator("#endpoint-table tbody tr")
    expect(row).to_contain_text("call.failed, call.tripped, target.down, target.recovered")
    row.get_by_role("button", name="Test").click()
    assert hook.next().path == "/hooks"
    row.get_by_role("link", name="/hooks").click()
    expect(page.locator("#deliveries-title")).to_contain_text(hook.url)
    expect(page.locator("#webhook-table tbody tr")).to_have_count(1)
    expect(page.locator("#webhook-table tbody")).to_contain_text("succeeded")
    row.get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("disabled")
    expect(row.get_by_role("button", name="Test")).to_be_disabled()
    row.get_by_role("button", name="Enable").click()
    expect(row).to_contain_text("enabled")
    page.get_by_role("link", name="Show all").click()
    expect(page.locator("#deliveries-title")).to_have_text("Deliveries")
    # The secret was shown once.
    expect(page.locator("#endpoint-secret")).to_be_empty()


def test_calls_are_found_by_what_is_known_of_them(page, redial, receiver):
    target = receiver(lambda request: (404, {}, b"") if "lost" in request.path else (200, {}, b""))
    service = redial()
    for path, team in (("/a", "a"), ("/b", "b"), ("/lost", "a")):
        service.ended(service.submit(url=target.url + path, labels={"team": team}))
    page.goto(service.url + "/#calls")
    rows = page.locator("#call-table tbody tr")
    expect(rows).to_have_count(3)
    search = page.get_by_label("Add a filter")
    for text, count in (("label:team=a", 2), ("status:400-499", 1)):
        search.fill(text)
        search.press("Enter")
        expect(rows).to_have_count(count)
    expect(rows).to_contain_text("/lost")
    for text in ("failureReason:deadlineExceeded", "failureReason:notRetryable createdAfter:2999-01-01"):
        search.fill(text)
        search.press("Enter")
        expect(page.locator("#call-table tbody")).to_contain_text("No call matches.")


def test_calls_are_found_by_what_they_wait_for_and_how_often_they_were_tried(page, redial, receiver):
    target = receiver(lambda request: (404, {}, b""))
    service = redial()
    service.ended(service.submit(url=target.url + "/tried", policy={"maxAttempts": 1}))
    service.submit(url=target.url + "/later", delay="1h")
    service.submit(url=target.url + "/held", delay="1h", target="held")
    assert service("POST", "/v1/targets/held/pause").status == 200
    page.goto(service.url + "/#calls")
    expect(page.locator("#call-table tbody tr")).to_have_count(3)
    for text, expected in (
            ("waitingOn:paused", "/held"), ("waitingOn:startTime", "/later"), ("nextAttemptBefore:2h", "/later"),
            ("nextAttemptBefore:10m", "No call matches."), ("attempts:1", "/tried"), ("olderThan:1d", "No call matches.")):
        page.goto(service.url + "/#calls")
        page.get_by_label("Add a filter").fill(text)
        page.keyboard.press("Enter")
        expect(page.locator("#chips li")).to_have_count(1)
        expect(page.locator("#call-table tbody tr")).to_have_count(1)
        expect(page.locator("#call-table tbody")).to_contain_text(expected)


def test_the_dials_of_a_policy_and_its_text_say_the_same(page, redial):
    service = redial()
    assert service("PUT", "/v1/policies/patient", {"maxAttempts": 12, "backoff": {"initial": "7s"}}).status == 201
    page.goto(service.url + "/#policy")
    text = page.get_by_label("Policy", exact=True)
    chart = page.locator("#policy-chart")
    expect(page.locator("#dial-attempts-value")).to_have_text("no limit")
    text.fill('{"maxAttempts": 8}')
    expect(page.locator("#policy-sum")).to_contain_text("Attempt 8 starts")
    before = chart.get_attribute("src")
    page.get_by_role("slider", name="Attempts").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#policy-sum")).to_contain_text("Attempt 5 starts")
    assert '"maxAttempts": 5' in text.input_value()
    wait_until(lambda: chart.get_attribute("src") != before, "the chart is drawn anew")
    page.get_by_label("Jitter").select_option("none")
    expect(page.locator("#policy-warnings")).to_contain_text("noJitter")
    text.fill('{"maxAttempts": 4}')
    expect(page.locator("#dial-attempts-value")).to_have_text("4")
    expect(page.get_by_label("Jitter")).to_have_value("proportional")
    page.get_by_label("Stored policy").select_option("patient")
    expect(page.locator("#policy-sum")).to_contain_text("Attempt 12 starts")
    expect(page.get_by_label("First wait")).to_have_value("7s")


def test_every_view_can_be_reached_by_keyboard_and_fits_every_width(chromium, redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url))
    for _ in range(5):
        service.submit(url=target.url, delay="1h")
    service("POST", "/v1/operations", {"action": "cancel", "all": True, "ratePerSecond": 1, "by": "ada", "reason": "A test."})
    service("POST", "/v1/operations", {"action": "retry", "filter": {"state": "succeeded"}})
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
            page = context.new_page()
            page.goto(service.url + "/")
            for name in ("Overview", "Issues", "Targets", "Calls", "Operations", "Policy", "Webhooks", "Credentials", "Audit"):
                for _ in range(40):
                    page.keyboard.press("Tab")
                    if page.evaluate("document.activeElement.textContent") == name:
                        break
                page.keyboard.press("Enter")
                expect(page.locator("nav a[aria-current=page]")).to_have_text(name)
                expect(page.locator(f"#view-{name.lower()}")).to_be_visible()
                # For people: REDIAL_SCREENSHOTS names a folder.
                if folder := os.environ.get("REDIAL_SCREENSHOTS"):
                    page.wait_for_timeout(2 * SECONDS)
                    page.screenshot(path=f"{folder}/{name.lower()}-{scheme}-{width}.png")
                overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert overflow <= 0, f"{name} is {overflow} pixels wider than {width}"
                # Text has enough contrast (WCAG 2.2, 1.4.3).
                assert page.evaluate(CONTRAST) >= 4.5
            # Views that can be reached only by a link.
            for view, hash in (("target", f"target/{quote(target.url, safe='')}"), ("sign", "sign")):
                page.goto(f"{service.url}/#{hash}")
                expect(page.locator(f"#view-{view}")).to_be_visible()
                if folder := os.environ.get("REDIAL_SCREENSHOTS"):
                    page.wait_for_timeout(2 * SECONDS)
                    page.screenshot(path=f"{folder}/{view}-{scheme}-{width}.png", full_page=True)
                overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert overflow <= 0, f"{view} is {overflow} pixels wider than {width}"
            context.close()


CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const light = name => {
    const hex = style.getPropertyValue(name).trim().slice(1);
    const parts = [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
      .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  return Math.min(...["--text", "--soft", "--link", "--good", "--bad", "--warn", "--run"]
    .flatMap(name => [ratio(name, "--back"), ratio(name, "--panel")]));
}"""


def test_a_view_that_was_left_before_it_was_there_is_not_asked_for_any_more(page, redial):
    service, held, asked, released = redial(), [], [], []
    page.clock.install()
    page.goto(service.url + "/#policy")
    page.route("**/v1/targets*", lambda route: held.append(route) if not released else route.continue_())
    page.evaluate("location.hash = '#targets'")
    wait_until(lambda: page.wait_for_timeout(10) or held, "the view is asked for")
    page.evaluate("location.hash = '#calls'")
    expect(page.locator("#view-calls")).to_be_visible()
    released.append(True)
    with page.expect_response("**/v1/targets*"):
        for route in held:
            route.continue_()
    page.on("request", lambda request: asked.append(request.url))
    for _ in range(5):
        page.clock.run_for(5 * SECONDS)
    wait_until(lambda: page.wait_for_timeout(10) or any("/v1/calls" in url for url in asked), "the other is drawn anew")
    assert not [url for url in asked if "/v1/targets" in url]


def test_the_overview_shows_how_calls_ended_before_the_page_was_opened(page, redial, receiver):
    target = receiver(lambda request: (404 if "lost" in request.path else 200, {}, b""))
    service = redial()
    for path in ("/a", "/b", "/lost"):
        service.ended(service.submit(url=target.url + path))
    service.terminate()
    service.start()
    page.goto(service.url + "/")
    windows = page.locator("#spans button")
    expect(windows).to_have_text(["15 min", "24 h", "7 d"])
    # A call has just failed, so it is the last minutes.
    expect(windows.nth(0)).to_have_attribute("aria-pressed", "true")
    for index, name in enumerate(("15 minutes", "24 hours", "7 days")):
        windows.nth(index).click()
        expect(windows.nth(index)).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#ended")).to_have_text(f"66.6 % of 3 calls succeeded in the last {name}")
        expect(page.locator("#sum li")).to_have_text(["2 succeeded at the first attempt", "1 failed"])
        expect(page.locator("#ended-more")).to_contain_text("Half of those that succeeded took up to ")
    windows.nth(0).click()
    expect(page.locator("#ends")).to_have_attribute("aria-label", re.compile("last 15 minutes.* 2 succeeded, 1 failed"))
    expect(page.locator("#ends rect.f-bad")).to_have_count(1)


def test_a_call_shows_request_and_answer_and_is_copied_as_curl(chromium, redial, receiver):
    target, service = receiver(lambda request: (201, {"x-answer": "42"}, b"done")), redial()
    body = "it's $(id) `x`\n\"quoted\" \\"
    identity = service.submit(
        url=target.url + "/charges?a=[1]&b={x}", body=body, headers={"content-type": "text/plain", "authorization": "Bearer x"})
    service.ended(identity)
    sent = target.next()
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{service.url}/#call/{identity}")
    expect(page.locator("#call-request")).to_contain_text("POST " + target.url + "/charges?a=[1]&b={x}")
    expect(page.locator("#call-request")).to_contain_text("authorization: REDACTED")
    expect(page.locator("#call-request")).to_contain_text("$(id)")
    expect(page.locator("#call-response")).to_contain_text("x-answer: 42")
    expect(page.locator("#call-response")).to_contain_text("done")
    page.get_by_role("button", name="Copy as curl").click()
    expect(page.locator("#curl-note")).to_contain_text("The value of authorization is not shown")
    command = page.evaluate("navigator.clipboard.readText()")
    subprocess.run(["sh", "-c", command], check=True, capture_output=True, timeout=60)
    again = target.next()
    assert (again.method, again.path, again.body) == (sent.method, sent.path, sent.body) == ("POST", "/charges?a=[1]&b={x}", body.encode())
    assert again.headers["content-type"] == "text/plain"
    # The same again, with a change.
    page.get_by_role("button", name="Replay…").click()
    page.locator("#replay-text").fill('{"labels": {"again": "yes"}}')
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.locator("#call-facts")).to_contain_text("again=yes")
    expect(page.locator("#call-facts").get_by_role("link", name=identity)).to_be_visible()
    assert target.next().body == body.encode()
    if folder := os.environ.get("REDIAL_SCREENSHOTS"):
        for scheme, width in (("light", 1280), ("dark", 1280), ("dark", 390), ("light", 390)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(3 * SECONDS)
            page.screenshot(path=f"{folder}/call-{scheme}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    context.close()


def test_a_key_without_the_scope_payloads_sees_a_call_without_its_request(page, redial, receiver):
    target, service = receiver(), redial()
    admin = service("POST", "/v1/keys", {"name": "me", "scopes": ["admin"]}).json["key"]
    service.credentials = {"authorization": f"Bearer {admin}"}
    reader = service("POST", "/v1/keys", {"name": "reader", "scopes": ["read"]}).json["key"]
    identity = service.submit(url=target.url, body="hidden")
    service.ended(identity)
    page.tolerated += ["401", "403"]
    page.goto(service.url + "/#sign")
    page.get_by_label("API key").fill(reader)
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    expect(page.locator("#status")).to_have_text("Live")
    page.evaluate(f"location.hash = '#call/{identity}'")
    expect(page.locator("#call-facts")).to_contain_text("succeeded")
    expect(page.locator("#call-request")).to_contain_text("scope payloads")
    expect(page.get_by_role("button", name="Copy as curl")).to_be_hidden()


def test_calls_are_found_by_a_part_of_the_url_several_states_and_the_key(page, redial, receiver):
    target, service = receiver(lambda request: (404 if "lost" in request.path else 200, {}, b"")), redial()
    for path in ("/charges", "/lost"):
        service.ended(service.submit(url=target.url + path))
    service("POST", "/v1/calls", {"url": target.url + "/keyed", "delay": "1h"}, {"idempotency-key": "order-7"})
    page.goto(service.url + "/#calls")
    rows = page.locator("#call-table tbody tr")
    expect(rows).to_have_count(3)
    search = page.get_by_label("Add a filter")
    for text, expected in (("charges", "/charges"), ("url:keyed idempotencyKey:order-7", "/keyed"), ("url:/ state:failed,cancelled", "/lost")):
        search.fill(text)
        search.press("Enter")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text(expected)
        page.goto(service.url + "/#calls")
        expect(rows).to_have_count(3)


def test_a_target_shows_its_pace_and_its_backlog_over_time(page, redial, flaky):
    service, target = redial(), flaky()
    path = "/v1/targets/" + quote(target.url, safe="")
    service("PUT", path, {"rate": {"perSecond": 20, "burst": 1}})
    service("POST", "/v1/calls/batch", [{"url": target.url}] * 900)
    page.goto(service.url + "/#target/" + quote(target.url, safe=""))
    for chart in ("#pace-line path.line-done", "#waits-line path.f-pace"):
        wait_until(lambda: page.locator(chart).last.evaluate("path => path.getBBox().width > 100"), f"{chart} shows")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
