"""The page of a target: its state in a sentence, its controls, its settings edited in place, and its pace apart from its backlog."""

import os
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from processes import HASTY, breaker, wait_until
from test_breaker import SLOW
from test_dashboard import SECONDS, chromium, page  # noqa: F401  fixtures
from test_dashboard_overview import outage

pytestmark = pytest.mark.part("browser")


def test_a_target_says_how_it_is_and_takes_its_controls(page, redial, receiver):
    target, service = receiver(), redial()
    service.ended(service.submit(url=target.url, target="payments"))
    page.goto(service.url + "/#target/payments")
    state, acts, waits = (page.locator("#target-" + name) for name in ("state", "acts", "waits"))
    expect(state).to_have_text("✓ is up.")
    expect(waits).to_contain_text("No call waits for it.")
    expect(acts.locator("button")).to_have_text(["Pause", "Release"])
    expect(acts.get_by_role("button", name="Release")).to_be_disabled()
    acts.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("! is paused: no call to it starts.")
    held = service.submit(url=target.url, target="payments")
    expect(waits).to_contain_text("1 call waits")
    acts.get_by_role("button", name="Resume").click()
    assert service.ended(held)["state"] == "succeeded"
    # What is rarely wanted is in a menu, and asks first.
    menu = page.locator("#target-menu")
    menu.locator("summary").click()
    expect(menu.get_by_role("button", name="Forget its settings…")).to_be_disabled()
    menu.get_by_role("button", name="Trip…").click()
    expect(menu.get_by_role("button", name="Trip…")).to_be_hidden()
    expect(acts).to_contain_text("Hold its breaker open until somebody resets it?")
    expect(acts.get_by_role("button", name="Trip")).to_be_focused()
    acts.get_by_role("button", name="Not now").click()
    expect(menu.locator("summary")).to_be_focused()
    assert service.target("payments")["tripped"] is False
    page.keyboard.press("Enter")
    menu.get_by_role("button", name="Trip…").click()
    acts.get_by_role("button", name="Trip").click()
    expect(state).to_contain_text("is held open by hand: no call to it starts.")
    # The question stays while the page is drawn anew.
    menu.locator("summary").click()
    menu.get_by_role("button", name="Reset…").click()
    shown = acts.get_by_role("button", name="Reset").element_handle()
    wait_until(lambda: page.wait_for_timeout(10) or not shown.evaluate("one => one.isConnected"), "it is drawn anew")
    expect(acts.get_by_role("button", name="Reset")).to_be_focused()
    page.keyboard.press("Enter")
    expect(state).to_have_text("✓ is up.")
    page.get_by_role("link", name="Its calls").click()
    expect(page.locator("#call-table tbody tr")).to_have_count(2)


def test_a_target_that_is_down_says_since_when_and_what_a_release_would_do(page, redial):
    service = redial()
    outage(service, calls=12)
    page.goto(service.url + "/#target/payments")
    expect(page.locator("#target-state")).to_contain_text(re.compile(r"✗ is down for .*: connection refused\. Redial keeps the calls and sends single probes"))
    expect(page.locator("#target-waits")).to_contain_text(re.compile(r"1[12] calls wait, the oldest for .*\."))
    row = page.locator("#target-outage tbody tr")
    expect(row).to_contain_text("goes on")
    expect(row).to_contain_text("connection refused")
    # No latency is made of refused connections.
    expect(page.locator("#target-recent tbody tr").first.locator("td")).to_contain_text(["1 min", "0 %", "", "–", "–", "–"])
    expect(page.locator("#waits-key")).to_contain_text("breaker")
    # A probe runs for a moment, and does not wait.
    release = page.locator("#target-acts").get_by_role("button", name=re.compile(r"Release 1?\d…"))
    release.click()
    expect(page.locator("#target-acts")).to_contain_text(re.compile(r"Send the 1?\d calls that wait for its breaker, Retry-After or pace now\? Only if the target works again\."))
    with page.expect_response("**/v1/targets/payments/release") as answer:
        page.locator("#target-acts").get_by_role("button", name="Release", exact=True).click()
    assert answer.value.status == 200
    page.get_by_role("link", name="Show those that wait").click()
    expect(page.locator("#chips li")).to_contain_text(["payments", "scheduled"])


def test_settings_are_edited_in_place(page, redial, receiver):
    target, service = receiver(), redial()
    service.ended(service.submit(url=target.url, target="payments"))
    page.goto(service.url + "/#target/payments")
    settings = page.locator("#target-settings")
    flight = page.get_by_role("button", name="Change Attempts in flight")
    expect(flight).to_have_text("64")
    flight.focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Attempts in flight")
    expect(field).to_be_focused()
    expect(settings.locator(".edit")).to_contain_text("More attempts than this wait. From now on, also for calls that wait.")
    # What is typed stays while the page is drawn anew.
    field.fill("4")
    with page.expect_response("**/v1/targets/payments"):
        pass
    page.wait_for_timeout(100)
    expect(field).to_be_focused()
    expect(field).to_have_value("4")
    page.keyboard.press("Enter")
    expect(page.locator("#target-said")).to_have_text("Attempts in flight: 4, from now on.")
    expect(flight).to_have_text("4")
    expect(flight).to_be_focused()
    assert service.target("payments")["overrides"] == {"maxInFlight": 4}
    expect(settings.locator("div", has_text="Attempts in flight")).to_contain_text("this target")
    # A part of an object leaves the others, and a choice is saved by Enter as well.
    page.get_by_role("button", name="Change Attempts per second: no limit").click()
    page.get_by_label("Attempts per second").fill("20")
    page.keyboard.press("Enter")
    expect(page.locator("#target-said")).to_have_text("Attempts per second: 20, from now on.")
    page.get_by_role("button", name="Change Pace").click()
    page.get_by_label("Pace", exact=True).select_option("fixed")
    page.keyboard.press("Enter")
    expect(page.locator("#pace-key")).to_contain_text("fixed")
    expect(page.locator("#pace-line")).to_be_hidden()
    assert service.target("payments")["overrides"] == {"maxInFlight": 4, "pace": "fixed", "rate": {"perSecond": 20}}
    # A refusal is said beside the field; Escape leaves all as it was.
    page.tolerated.append("422")
    page.get_by_role("button", name="Change Timeout of an attempt").click()
    page.get_by_label("Timeout of an attempt").fill("soon")
    page.keyboard.press("Enter")
    expect(settings.locator(".edit")).to_contain_text("/attemptTimeout")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Change Timeout of an attempt")).to_be_focused()
    # Back to what the service says: one of them, and all.
    flight.click()
    page.get_by_role("button", name="Follow the service").click()
    expect(flight).to_have_text("64")
    page.locator("#target-menu summary").click()
    page.get_by_role("button", name="Forget its settings…").click()
    expect(page.locator("#target-acts")).to_contain_text("Drop 2 settings of this target? It follows the service again, at once.")
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_role("button", name="Change Pace: adaptive")).to_be_visible()
    assert service.target("payments")["overrides"] == {}


def test_an_outage_that_is_over_is_kept_with_its_target_and_said_on_the_overview(page, redial, receiver):
    answers = [500]
    target, service = receiver(lambda request: (answers[0], {}, b"")), redial(*breaker(**HASTY, openInterval="100ms", maxOpenInterval="100ms"), clock=True)
    calls = [service.submit(url=target.url, target="payments", policy=SLOW) for _ in range(5)]
    wait_until(lambda: service.target("payments")["state"] == "down", "the target is down")
    page.goto(service.url + "/#overview")
    expect(page.locator("#usual")).to_be_visible()
    expect(page.locator("#past-outages")).to_be_hidden()
    service.advance(240)
    answers[0] = 200
    for call in calls:
        service.ended(call)
    wait_until(lambda: service.target("payments")["state"] == "degraded", "its breaker closes")
    service.advance(30)
    wait_until(lambda: service.target("payments")["pastOutages"], "the outage is over")
    expect(page.locator("#past-outages")).to_have_text(re.compile(r"^payments was down for 4m\S* until \d\d:\d\d\. $"), timeout=60 * SECONDS)
    # It stays on the charts.
    expect(page.locator("#due .band")).to_have_count(1)
    page.locator("#past-outages a").click()
    row = page.locator("#target-outage tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text(re.compile(r"4m\S*\dstatus 500"))


def test_the_page_of_a_target_looks_right_on_each_screen(page, redial, flaky):
    service, target = redial(), flaky()
    key = target.url
    service("PATCH", f"/v1/targets/{quote(key, safe='')}", {"rate": {"perSecond": 5, "burst": 1}, "maxInFlight": 4})
    service("POST", "/v1/calls/batch", [{"url": target.url}] * 400)
    service.submit(url=target.url, delay="1h")
    outage(service, calls=40)
    for name in (key, "payments"):
        page.goto(f"{service.url}/#target/{quote(name, safe='')}")
        expect(page.locator("#target-title")).to_have_text(name)
        for scheme, width in (("light", 1400), ("dark", 1400), ("light", 390), ("dark", 390)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate("scrollTo(0, 0)")
            if scheme == "light":
                page.get_by_role("button", name="Change Attempts in flight").click()
            page.wait_for_timeout(3 * SECONDS)
            if folder := os.environ.get("REDIAL_SCREENSHOTS"):
                page.screenshot(path=f"{folder}/target-{'down' if name == 'payments' else 'up'}-{scheme}-{width}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
            # Nothing has to be scrolled sideways, no text of a chart lies on another, and none is cut off.
            found = page.evaluate("""() => {
              const view = document.getElementById("view-target"), wide = [...view.querySelectorAll(".scroll, dd, button")].filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className + one.textContent);
              const meet = (a, b) => a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 3 && b.bottom > a.top + 3;
              return [wide, ...[...view.querySelectorAll("svg.plot")].filter(one => one.getClientRects().length).map(svg => {
                const edges = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].filter(one => one.textContent).map(one => [one.textContent, one.getBoundingClientRect()]);
                return texts.flatMap(([text, box], index) => (box.left < edges.left - 1 || box.right > edges.right + 1 ? [text] : []).concat(texts.slice(index + 1).filter(([, other]) => meet(box, other)).map(([other]) => text + other)));
              })].flat();
            }""")
            assert found == [], (width, found)
            if scheme == "light":
                page.get_by_role("button", name="Cancel", exact=True).click()
