"""The page of issues: a few errors in place of many calls, each with what can be done about it."""

import json
import os

import pytest
from playwright.sync_api import expect

from processes import wait_until
from test_dashboard import SECONDS, chromium, page  # noqa: F401  fixtures
from test_dashboard_overview import outage

pytestmark = pytest.mark.part("browser")

ONCE = {"maxAttempts": 1}


@pytest.fixture
def failing(redial, receiver):
    """A service with failed calls of three issues, and what answers them."""
    works = []

    def answer(request):
        if works:
            return 200, {}, b""
        if request.path.startswith("/card"):
            return 422, {"content-type": "application/json"}, json.dumps({"error": {"message": "account 17 is locked"}}).encode()
        return 503, {}, b"upstream connect error"
    target, service = receiver(answer), redial()
    for path, count in (("stock", 5), ("card", 2)):
        for number in range(count):
            labels = {"team": "shop" if number else "store", "order": f"{path}-{number}"}
            service.ended(service.submit(url=f"{target.url}/{path}/{number + 100}", target=path, policy=ONCE, labels=labels))
    service.ended(service.submit(url="http://127.0.0.1:1/", target="nobody", policy=ONCE))
    return service, works


def test_issues_are_listed_opened_and_run_again(page, failing):  # noqa: F811
    service, works = failing
    page.goto(service.url + "/#issues")
    rows = page.locator("#issue-table tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("503 upstream connect error")
    expect(rows.nth(0)).to_contain_text("stock")
    expect(rows.nth(0)).to_contain_text("failed, attempts exhausted")
    expect(rows.nth(0).locator("td.calls")).to_have_text("5")
    expect(rows.nth(1)).to_contain_text("422 account {n} is locked")
    expect(page.locator("#issue-views a")).to_have_text(["All 3", "Open 3", "Acknowledged 0", "Resolved 0"])
    expect(rows.nth(0).locator(".spark")).to_have_attribute("aria-label", "Failed in each of the last 24 hours, the latest last: " + "0, " * 23 + "5")
    # It opens in its place, with an example.
    rows.nth(0).get_by_role("link", name="503 upstream").click()
    opened = page.locator(".opened")
    expect(opened).to_contain_text("the newest of 5")
    expect(opened.locator("pre")).to_contain_text("503 in ")
    expect(opened.locator("pre")).to_contain_text("upstream connect error")
    expect(rows).to_have_count(4)
    # Whom it concerns: what differs from call to call is no sum.
    sums = opened.locator(".share > .sum-of")
    expect(sums).to_have_text(["/stock/{n}", "shop", "store"])
    expect(opened.locator(".share > .number")).to_have_text(["5", "4", "1"])
    sums.get_by_role("link", name="shop").click()
    expect(page.locator("#call-table tbody tr")).to_have_count(4)
    page.go_back()
    issue = service("GET", "/v1/issues").json["data"][0]
    assert page.url.endswith("#issues/" + issue["id"])
    opened.get_by_role("link", name="Show all 5").click()
    expect(page.locator("#call-table tbody tr")).to_have_count(5)
    page.go_back()
    # What is begun is what was counted, and the result is seen there.
    works.append(True)
    opened.get_by_role("button", name="Run 5 again…").click()
    expect(opened).to_contain_text("5 calls would be run again.")
    assert service("GET", "/v1/operations").json["data"] == []
    expect(opened.get_by_role("button", name="Run 5 again", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    wait_until(lambda: page.wait_for_timeout(50) or service("GET", f"/v1/issues/{issue['id']}").status == 404, "all have succeeded")
    expect(rows).to_have_count(2, timeout=60 * SECONDS)


def test_all_calls_of_an_issue_are_replayed_but_those_that_were_erased(page, failing):  # noqa: F811
    service, works = failing
    [issue] = service("GET", "/v1/issues?target=stock").json["data"]
    assert service("DELETE", f"/v1/calls/{issue['example']}/content").status in (200, 204)
    works.append(True)
    page.goto(f"{service.url}/#issues/{issue['id']}")
    opened = page.locator(".opened")
    opened.get_by_role("button", name="Replay…").click()
    expect(opened).to_contain_text("5 calls would be replayed, each by a new call. 1 of them would be skipped: 1 erased.")
    opened.get_by_role("button", name="Replay 5", exact=True).click()
    expect(opened).to_contain_text("Replayed: 4 of 5, 1 skipped.", timeout=60 * SECONDS)

    def made():
        return [call for call in service("GET", "/v1/calls?state=succeeded").json["data"] if "replayOf" in call]
    wait_until(lambda: len(made()) >= 4, "the new calls succeed")
    assert len({call["replayOf"] for call in made()}) == len(made()) == 4
    assert service("GET", f"/v1/issues/{issue['id']}").json["calls"] == 5


def test_an_issue_is_acknowledged_resolved_and_opened_again(page, failing):  # noqa: F811
    service, _ = failing
    issue = service("GET", "/v1/issues?target=card").json["data"][0]
    page.goto(f"{service.url}/#issues/{issue['id']}")
    opened, views = page.locator(".opened"), page.locator("#issue-views")
    opened.get_by_role("button", name="Acknowledge", exact=True).click()
    expect(opened).to_contain_text("Acknowledged ")
    expect(views).to_contain_text("Acknowledged 1")
    assert service("GET", f"/v1/issues/{issue['id']}").json["state"] == "acknowledged"
    opened.get_by_role("button", name="Resolve").click()
    expect(views).to_contain_text("Resolved 1")
    expect(opened).to_contain_text("Resolved ")
    opened.get_by_role("button", name="Reopen").click()
    expect(views).to_contain_text("Open 3")
    opened.get_by_role("button", name="Acknowledge for 8 h").click()
    expect(opened).to_contain_text(", until ")
    # The states are views of their own, and on the overview one that is known is no alarm.
    views.get_by_role("link", name="Open").click()
    expect(page.locator("#issue-table tbody tr")).to_have_count(2)
    page.goto(service.url + "/#overview")
    known = page.locator(".trouble.soft")
    expect(known).to_contain_text("2 calls failed and are acknowledged")
    expect(page.locator(".trouble.bad", has_text="failed, the latest")).to_contain_text("5 to stock: 503 upstream connect error")
    known.get_by_role("link").click()
    expect(page.locator(".opened")).to_contain_text("422")


def test_an_outage_leads_to_its_target(page, redial):  # noqa: F811
    service = redial(clock=True)
    page.goto(service.url + "/#issues")
    expect(page.locator("#issue-table")).to_contain_text("Nothing is wrong.")
    outage(service, calls=12)
    service.advance(70)
    row = page.locator("#issue-table tbody tr").first
    expect(row).to_contain_text("down, waits for ", timeout=60 * SECONDS)
    expect(row).to_contain_text("connection refused")
    row.locator("a").first.focus()
    page.keyboard.press("Enter")
    opened = page.locator(".opened")
    expect(opened).to_contain_text("they go on by themselves when that ends")
    expect(opened.get_by_role("button", name="Resolve")).to_have_count(0)
    opened.get_by_role("link", name="Open the target").click()
    expect(page.locator("#target-state")).to_contain_text("is down")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390), ("dark", 390)])
def test_issues_fit_the_screen(chromium, failing, scheme, width):  # noqa: F811
    service, _ = failing
    issue = service("GET", "/v1/issues").json["data"][0]
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, locale="en-GB")
    page = context.new_page()
    page.goto(f"{service.url}/#issues/{issue['id']}")
    expect(page.locator(".opened pre")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    folder = os.environ.get("REDIAL_SCREENSHOTS")
    if folder:
        page.screenshot(path=f"{folder}/issues-{scheme}-{width}.png", full_page=True)
    context.close()
