"""The dashboard's overview, in headless Chromium: what is wrong and what to do, how calls ended, and a first call."""

import datetime
import re
import subprocess
import threading
from urllib.parse import quote

from playwright.sync_api import expect

from processes import BOUND, NO_BREAKER, free_port, run, wait_until
from test_dashboard import chromium, page  # noqa: F401 (fixtures)


def outage(service, key="payments", calls=30):
    """Makes a target fail until its breaker opens and all its calls wait."""
    dead = f"http://127.0.0.1:{free_port()}/"
    for _ in range(calls):
        service.submit(url=dead, target=key)
    wait_until(lambda: service.target(key)["state"] == "down", "the target is down")


def test_an_outage_is_said_first_in_the_words_of_the_command(page, redial, flaky):  # noqa: F811
    service, target = redial(), flaky()
    for number in range(4):
        service.ended(service.submit(url=f"{target.url}/{number}?fail={number % 2}"))
    service.ended(service.submit(url=target.url + "/x?fail=1&status=404"))
    outage(service)
    page.goto(service.url + "/")
    trouble = page.locator(".trouble").first
    expect(trouble).to_contain_text(re.compile(r"payments is down for .*: connection refused"))
    # A probe runs for a moment, and does not wait.
    expect(trouble).to_contain_text(re.compile(r"30 calls wait, the oldest for \S+s\."))
    expect(trouble).to_contain_text("Redial keeps the calls and sends single probes")
    expect(page.locator("#calm")).to_be_hidden()
    # Late calls are beside the share, and in no share.
    expect(page.locator("#ended")).to_have_text("80 % of 5 calls succeeded in the last 15 minutes")
    late = "30 calls wait: held up by a target above, and not counted here."
    expect(page.locator("#late")).to_have_text(late)
    for part in ("2 succeeded at the first attempt", "2 succeeded after retries", "1 failed", "30 wait, now"):
        expect(page.locator("#sum")).to_contain_text(part)
    told = wait_until(lambda: "30 calls wait" in (text := run("status", "--server", service.url).stdout) and text, "all wait")
    assert "80.0 % of 5 calls succeeded" in told and late in told, told
    assert page.locator("#ended-more").inner_text().split(". ")[0] in told, told
    # What waits is one step away.
    trouble.get_by_role("link", name="Show the calls").click()
    expect(page.locator("#call-table tbody tr")).to_have_count(30)
    expect(page.locator("#chips li")).to_contain_text(["payments", "scheduled"])


def test_waiting_calls_are_released_after_a_question_by_keyboard(page, redial):  # noqa: F811
    service = redial()
    outage(service, calls=12)
    page.goto(service.url + "/")
    # While one of them runs as a probe, it does not wait.
    release = page.locator(".trouble").get_by_role("button", name=re.compile("Release 1[12]…"))
    release.focus()
    shown, words = release.element_handle(), page.locator(".trouble p").first
    before = words.inner_text()
    wait_until(lambda: page.wait_for_timeout(10) or words.inner_text() != before, "it is drawn anew")
    # It is the same button: a click that lasts over this is one, too.
    assert shown.evaluate("one => one.isConnected")
    expect(release).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".trouble")).to_contain_text(re.compile(r"Send all 1[12] now\? Only if the target works again\."))
    yes = page.get_by_role("button", name="Release", exact=True)
    expect(yes).to_be_focused()
    page.get_by_role("button", name="Not now").click()
    expect(release).to_be_focused()
    page.keyboard.press("Enter")
    with page.expect_response("**/v1/targets/payments/release") as answer:
        yes.press("Enter")
    assert answer.value.status == 200, answer.value.status


def test_failed_calls_are_counted_before_they_are_run_again(page, redial, receiver):  # noqa: F811
    works = []
    target, service = receiver(lambda request: (200 if works else 404, {}, b"")), redial()
    for number in range(3):
        service.ended(service.submit(url=f"{target.url}/{number}", target="mail"))
    page.goto(service.url + "/")
    trouble = page.locator(".trouble", has_text="failed, the latest")
    expect(trouble).to_contain_text("3 calls failed, the latest ")
    expect(trouble).to_contain_text("3 to mail: 404.")
    trouble.get_by_role("link", name="Show the issue").click()
    expect(page.locator("#issue-table .opened")).to_contain_text("the newest of 3")
    page.go_back()
    works.append(True)
    trouble.get_by_role("button", name="Run again…").click()
    expect(trouble).to_contain_text("3 calls would be run again.")
    assert service("GET", "/v1/operations").json["data"] == []
    trouble.get_by_role("button", name="Run 3 again").click()
    expect(page.locator("#operation-table")).to_contain_text("completed")
    page.goto(service.url + "/#overview")
    expect(trouble).to_have_count(0)


def test_a_held_target_is_let_go_where_it_is_said(page, redial, receiver):  # noqa: F811
    service, target = redial(), receiver()
    for control, word, button in (("pause", "is paused", "Resume"), ("trip", "is held open by hand", "Reset")):
        service("POST", f"/v1/targets/{control}/{control}")
        identity = service.submit(url=target.url, target=control)
        page.goto(service.url + "/")
        trouble = page.locator(".trouble")
        expect(trouble).to_contain_text(f"{control} {word}: no call to it starts")
        expect(trouble).to_contain_text("1 call waits")
        trouble.get_by_role("button", name=button).click()
        assert service.ended(identity)["state"] == "succeeded"
        expect(page.locator("#calm")).to_have_text("✓ No target is down, degraded or held.")
        expect(trouble).to_have_count(0)


def test_commits_that_a_failover_has_lost_are_said_first(page, instances):  # noqa: F811
    cluster, (service,) = instances(1)
    now = cluster.query("SELECT (extract(epoch FROM now()) * 1000000)::int8")[0][0]
    cluster.query(f"INSERT INTO redial.settings VALUES ('lostCommits', '1436 1205 {now} 1')", "redial")
    wait_until(lambda: "lostCommits" in service("GET", "/v1/instances").json, "the instance knows")
    # Also where they were all that there was.
    page.goto(service.url + "/")
    trouble = page.locator(".trouble").first
    expect(trouble).to_contain_text(re.compile(r"The database has lost 231 commits \S.* ago"))
    expect(trouble).to_contain_text("1,436 were made, and it had 1,205 after a failover.")
    expect(trouble).to_contain_text("cancels, pauses and revocations of then may be missing")
    expect(page.locator("#calm")).to_be_hidden()


def test_calls_that_a_limit_holds_back_for_a_minute_are_shown(page, redial, receiver):  # noqa: F811
    service, target, end = redial(), receiver(), threading.Event()
    target.answer = lambda request: end.wait(BOUND) and (200, {}, b"")
    service("PUT", "/v1/targets/billing", {"maxInFlight": 1})
    for _ in range(4):
        service.submit(url=target.url, target="billing")
    wait_until(lambda: service.target("billing")["backlog"]["byReason"] == {"concurrency": 3}, "three calls wait")
    page.goto(service.url + "/")
    # For less than a minute it is nothing that somebody has to know of.
    expect(page.locator("#calm")).to_be_visible()

    def later(route):
        answer = route.fetch()
        targets = answer.json()
        for one in targets["data"]:
            one["oldestDueAt"] = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=4)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        route.fulfill(response=answer, json=targets)
    page.route("**/v1/targets?*", later)
    trouble = page.locator(".trouble")
    expect(trouble).to_contain_text("billing is up, but its calls are late: they wait for the limit of 1 attempt in flight")
    expect(trouble).to_contain_text(re.compile(r"3 calls wait, the oldest for 4m.*\. *More calls come than this lets through\."))
    expect(page.locator("#calm")).to_be_hidden()
    expect(page.locator("#late")).to_contain_text("3 calls are late")
    trouble.get_by_role("link", name="Change the limit").click()
    expect(page.locator("#target-settings")).to_contain_text("Attempts in flight")
    end.set()


def test_a_degraded_target_says_how_it_fails_and_charts_are_of_the_last_minutes(page, redial, receiver):  # noqa: F811
    service, target = redial(*NO_BREAKER), receiver(lambda request: (503, {}, b""))
    for _ in range(12):
        service.submit(url=target.url, target="billing", policy={"backoff": {"initial": "1h", "max": "1h"}})
    wait_until(lambda: service.target("billing")["state"] == "degraded", "it is degraded")
    page.goto(service.url + "/")
    trouble = page.locator(".trouble")
    expect(trouble).to_contain_text(re.compile(r"billing is degraded: 12 of 12 attempts failed in 5 minutes, the latest with status 503"))
    expect(trouble).to_contain_text("Redial tries what failed again, as the policy of each call says.")
    expect(page.get_by_role("button", name="15 min")).to_have_attribute("aria-pressed", "true")
    # Where few attempts succeed, the latency says nothing.
    expect(page.locator("#attention tbody tr").first).to_contain_text(re.compile(r"0 % of 12 attempts\s*–"))


def test_a_degraded_target_says_how_it_failed_when_no_call_waits_for_it(page, redial, receiver):  # noqa: F811
    service, seen = redial(), set()

    def answer(request):
        # Each call fails once.
        first = request.path not in seen
        seen.add(request.path)
        return 503 if first else 200, {}, b""
    target = receiver(answer)
    for number in range(12):
        service.ended(service.submit(url=f"{target.url}/{number}", target="billing", policy={"backoff": {"initial": "10ms"}}))
    headline = "billing is degraded: 12 of 24 attempts failed in 5 minutes, the latest with status 503"
    page.goto(service.url + "/")
    expect(page.locator(".trouble")).to_contain_text(headline)
    assert headline in run("status", "--server", service.url).stdout


def test_where_a_store_is_shared_the_instances_that_are_left_are_shown(page, redial):  # noqa: F811
    service = redial()
    service.submit(url="http://127.0.0.1:9/", delay="1h")
    page.goto(service.url + "/")
    expect(page.locator("#calm")).to_be_visible()
    expect(page.locator("#instances-part")).to_be_hidden()
    (one,) = service("GET", "/v1/instances").json["data"]
    page.route("**/v1/instances", lambda route: route.fulfill(json={"data": [one | {"url": "http://10.0.0.7:8080"}]}))
    expect(page.locator("#instances tbody tr")).to_have_count(1)
    expect(page.locator("#instances")).to_contain_text("http://10.0.0.7:8080")


def test_troubles_fit_every_width_and_can_be_read(chromium, redial, receiver):  # noqa: F811
    service = redial()
    outage(service, "https://payments.internal.a-rather-long-name.example.com:8443")
    service.ended(service.submit(url=receiver(lambda request: (404, {}, b"")).url))
    service("POST", "/v1/targets/" + quote("https://mail.example.com", safe="") + "/pause")
    for scheme in ("light", "dark"):
        for width in (1400, 390):
            context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
            view = context.new_page()
            view.goto(service.url + "/")
            expect(view.locator(".trouble")).to_have_count(3)
            overflow = view.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert overflow <= 0, f"the overview is {overflow} pixels wider than {width}"
            # Nothing is cut off, nothing to hit is smaller than 24 pixels, and text has enough contrast (WCAG 2.2).
            assert view.evaluate(CLIPPED) == []
            assert view.evaluate(SMALL) == []
            assert view.evaluate(FAINT) == [], (scheme, width)
            context.close()


def test_a_fresh_service_shows_how_to_submit_the_first_call_and_how_it_goes(page, redial, flaky):  # noqa: F811
    service, target = redial(), flaky()
    page.goto(service.url + "/")
    fresh = page.locator("#fresh")
    expect(fresh.get_by_role("heading", name="Submit the first call")).to_be_visible()
    # Nothing was measured, so there is no number.
    expect(page.locator("#usual")).to_be_hidden()
    assert "%" not in page.locator("#view-overview").inner_text()
    command = page.locator("#fresh-command").inner_text()
    assert f"{service.url}/v1/calls" in command and "Authorization" not in command
    # The command works as it is shown, here for another target.
    subprocess.run(["sh", "-c", command.replace("http://127.0.0.1:9090", target.url)], check=True, capture_output=True, timeout=60)
    expect(page.locator("#first-attempts .attempt")).to_have_count(3)
    expect(page.locator("#first-attempts .attempt").nth(0)).to_contain_text("because status 503 is retryable")
    expect(page.locator("#first-state")).to_have_text(re.compile(r"Succeeded at attempt 3, \S+s after it was accepted\."))
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_role("button", name="Show the overview").click()
    expect(page.locator("#ended")).to_have_text("100 % of 1 call succeeded in the last 24 hours")
    expect(page.locator("#calm")).to_be_visible()
    # It is no fresh service any more.
    page.reload()
    expect(page.locator("#ended")).to_be_visible()


def test_the_first_call_is_submitted_from_the_page_and_tells_what_it_waits_for(chromium, redial, flaky):  # noqa: F811
    service, target = redial(), flaky()
    for scheme, width in (("dark", 390), ("light", 1400)):
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        view = context.new_page()
        view.goto(service.url + "/")
        if width == 390:
            view.get_by_label("URL to call").fill(target.url + "/?fail=1000")
            view.get_by_role("button", name="Submit the call").press("Enter")
            expect(view.locator("#first-state")).to_have_text(re.compile(r"Waits for backoff, attempt \d+ in \S+s\."))
            assert view.evaluate(CLIPPED) == [] and view.evaluate(SMALL) == [] and view.evaluate(FAINT) == []
            assert view.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        else:
            # Who comes later sees a service that has a call.
            expect(view.locator("#ended")).to_have_text("No call has succeeded or failed in the last 24 hours")
            expect(view.locator("#fresh")).to_be_hidden()
        context.close()


def test_the_first_command_of_a_key_in_a_namespace_names_both(page, redial):  # noqa: F811
    service = redial(env={"REDIAL_ADMIN_KEY": "0123456789abcdef"})
    page.tolerated += ["401"]
    page.goto(service.url + "/#sign")
    page.get_by_label("API key").fill("0123456789abcdef")
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    expect(page.locator("#fresh-command")).to_contain_text('-H "Authorization: Bearer $REDIAL_API_KEY"')
    assert "Redial-Namespace" not in page.locator("#fresh-command").inner_text()
    page.goto(service.url + "/#sign")
    page.get_by_label("Act in").fill("acme")
    page.get_by_role("button", name="Use it").click()
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("#fresh-command")).to_contain_text('-H "Redial-Namespace: acme"')
    expect(page.locator("#fresh")).to_contain_text("No call has been submitted yet in acme.")


def quarter(*steps):
    """An answer of the statistics in which these are the last minutes: what succeeded, and its times; None for nothing."""
    now = datetime.datetime.now(datetime.UTC).replace(second=0, microsecond=0)

    def one(succeeded=0, times=None):
        calls = {"succeeded": succeeded, "retried": 0, "failed": 0, "cancelled": 0, "successRate": 1 if succeeded else None}
        calls["timeToSuccess"] = times and dict(zip(("p50", "p95", "p99"), times))
        return {"backlog": succeeded / 4, "calls": calls, "attempts": {"succeeded": succeeded, "failed": 0}, "latency": None}

    def at(ago):
        return (now - datetime.timedelta(minutes=ago)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    minutes = [None] * (15 - len(steps)) + list(steps)
    shown = [{"from": at(14 - index), **one(*(minute or ()))} for index, minute in enumerate(minutes)]
    total = one(sum(minute[0] for minute in steps if minute), ("7ms", "58s", "120s") if steps else None)
    return {"data": [{"window": name, "from": at(14), "step": "1m", **total, "steps": shown} for name in ("15m", "24h", "7d")]}


def test_charts_have_gaps_where_nothing_was_measured_and_decades_where_times_span_them(page, redial):  # noqa: F811
    service = redial()
    fast, slow = ("7ms", "20ms", "31ms"), ("90ms", "58s", "120s")
    answer = quarter((333, fast), (300, fast), None, None, (557, slow), None, (7, fast))
    page.route("**/v1/statistics", lambda route: route.fulfill(json=answer))
    page.goto(service.url + "/")
    page.get_by_role("button", name="15 min").click()
    expect(page.locator("#times-axis")).to_have_text("of calls, log axis")
    labels = page.locator("#times text").all_text_contents()
    assert labels[:7] == ["1ms", "10ms", "100ms", "1s", "10s", "1m", "10m"], labels
    # For each of three lines: two minutes, a gap, one minute, a gap, one minute. Nothing is drawn at zero.
    expect(page.locator("#times path")).to_have_count(3)
    expect(page.locator("#times circle")).to_have_count(6)
    expect(page.locator("#times-key")).to_have_text("p50 7msp95 58sp99 2m")
    # Where nothing ended there is no bar, and the axis ends at a round number.
    expect(page.locator("#ends-axis")).to_have_text("calls that ended, per minute")
    assert page.locator("#ends text").all_text_contents()[:4] == ["0", "200", "400", "600"]
    expect(page.locator("#ends rect.f-good")).to_have_count(4)
    expect(page.locator("#ends-key")).to_have_text("succeeded 1,197failed none")
    # Without a success there is no axis of times, and no number.
    page.unroute("**/v1/statistics")
    page.route("**/v1/statistics", lambda route: route.fulfill(json=quarter()))
    expect(page.locator("#ended")).to_have_text("No call has succeeded or failed in the last 15 minutes")
    expect(page.locator("#times")).to_have_text(re.compile("No call has succeeded in this time."))
    expect(page.locator("#times-key")).to_have_text("p50 –p95 –p99 –")


def test_axes_end_at_round_numbers(page, redial):  # noqa: F811
    service = redial()
    page.goto(service.url + "/")
    for most in (0, 1, 3, 7, 19.1, 333, 557, 1112, 9999, 20500, 3_300_000):
        ticks = page.evaluate("most => countAxis(most).ticks", most)
        values = [value for value, _ in ticks]
        assert values[0] == 0 and values[-1] >= most and 2 <= len(values) <= 6, ticks
        assert str(round(values[1])).strip("0") in ("1", "2", "5"), ticks
        assert len({text for _, text in ticks}) == len(ticks), ticks
    for least, most in ((0.004, 0.03), (0.2, 1.7), (3, 20), (70, 600), (0.002, 58), (0.08, 200), (0.001, 90_000)):
        axis = page.evaluate("values => { const axis = durationAxis(values); return {...axis, top: axis.place(values[1]), low: axis.place(values[0])}; }", [least, most])
        assert axis["isLog"] == (most / least >= 10), axis
        assert axis["ticks"][-1][0] >= most and 0 <= axis["low"] <= axis["top"] <= 1, axis
        assert all(re.fullmatch(r"|0|\d+(\.5)?(ms|s|m|h|d)", text) for _, text in axis["ticks"]), axis


def test_what_waits_and_how_targets_do_adds_up(page, redial, receiver):  # noqa: F811
    target = receiver()
    service = redial()
    service.ended(service.submit(url=target.url, target="mail"))
    outage(service, calls=20)
    service("POST", "/v1/targets/sms/pause")
    for _ in range(3):
        service.submit(url=target.url, target="sms")
    service.submit(url=target.url, target="mail", delay="1h")
    page.goto(service.url + "/")
    expect(page.locator("#backlog-sum")).to_have_text("24 calls wait")
    # All but those that run as a probe: the causes add up to what waits.
    def counts():
        return sum(int(text) for text in page.locator("#backlog b").all_text_contents())
    wait_until(lambda: page.wait_for_timeout(10) or counts() == 24, "the causes add up")
    expect(page.locator("#backlog")).to_contain_text("for a target that is paused (paused)")
    expect(page.locator("#late")).to_contain_text("23 calls wait: held up by a target above")
    rows = page.locator("#attention tbody tr")
    expect(rows.nth(0)).to_contain_text("payments")
    expect(rows.nth(0)).to_contain_text("✗ down")
    # Refused connections have no latency.
    expect(rows.nth(0).locator("td").nth(3)).to_have_text("–")
    expect(rows.nth(1)).to_contain_text("sms")
    expect(rows.nth(1)).to_contain_text("! paused")
    # Nothing was measured there.
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("–")
    expect(rows.nth(2)).to_contain_text("100 % of 1 attempt")
    expect(page.locator("#attention-more")).to_have_text("3: 1 down, 1 paused, 1 up")
    # The outage is on both charts over time.
    expect(page.locator("#times .band")).to_have_count(1)
    expect(page.locator("#ends .band-name")).to_have_text("payments")


def test_times_are_of_the_readers_place_and_it_is_said_which(chromium, redial, receiver):  # noqa: F811
    service = redial()
    service.ended(service.submit(url=receiver().url))
    context = chromium.new_context(timezone_id="Asia/Kolkata", locale="de-DE")
    view = context.new_page()
    view.goto(service.url + "/")
    expect(view.locator("#zone")).to_contain_text("Asia/Calcutta (GMT+5:30)")
    # Round hours of that place.
    expect(view.locator("#ends text", has_text=re.compile(r"^(00|06|12|18):00$"))).not_to_have_count(0)
    context.close()


CLIPPED = """() => [...document.querySelectorAll('#view-overview *')].filter(one => one.clientWidth && one.scrollWidth > one.clientWidth + 1
  && getComputedStyle(one).display !== 'inline' && !one.closest('svg, .scroll, input')).map(one => one.outerHTML.slice(0, 200))"""
SMALL = """() => [...document.querySelectorAll('#view-overview button, #view-overview a.button')].filter(one => one.offsetParent
  && (one.offsetHeight < 24 || one.offsetWidth < 24)).map(one => one.outerHTML)"""
# The colour of each text with that of what is behind it.
FAINT = """() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = color.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = one => {
    for (let at = one; at; at = at.parentElement) {
      const color = parts(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('#view-overview *')].filter(one => one.getClientRects().length
      && [...one.childNodes].some(child => child.nodeType === 3 && child.data.trim())).flatMap(one => {
    const style = getComputedStyle(one), text = light(parts(one.closest('svg') ? style.fill : style.color).slice(0, 3)), back = light(behind(one));
    const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
    return ratio < 4.5 ? [`${one.textContent.slice(0, 40)}: ${ratio.toFixed(2)}`] : [];
  });
}"""
