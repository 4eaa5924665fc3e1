"""The dashboard's views of targets, bulk operations and namespaces, in headless Chromium."""

import re
from urllib.parse import quote

from playwright.sync_api import expect

from processes import wait_until
from test_dashboard import SECONDS, chromium, page  # noqa: F401

ADMIN = "the-admin-key-of-this-test"


def test_a_target_tells_how_its_calls_fare_and_what_they_wait_for(page, redial, flaky):
    service, target = redial(), flaky()
    path = "/v1/targets/" + target.url.replace("/", "%2F")
    for _ in range(9):
        service.ended(service.submit(url=target.url + "/?delay=20ms"))
    service.ended(service.submit(url=target.url + "/?sequence=404"))
    service("PUT", path, {"maxInFlight": 3})
    service.submit(url=target.url, delay="1h")
    service("POST", path + "/pause")
    for _ in range(2):
        service.submit(url=target.url)
    page.goto(service.url + "/#targets")
    row = page.locator("#target-table tbody tr")
    expect(row).to_contain_text("90 %")
    expect(row).to_contain_text("of 10")
    expect(row).to_contain_text("3 in all, most wait for a resume")
    shown = service("GET", path).json
    expect(row).to_contain_text(shown["recent"]["1m"]["latency"]["p95"])
    row.get_by_role("link").click()
    for index, window in enumerate(("1 min", "5 min", "15 min")):
        cells = page.locator("#target-recent tbody tr").nth(index).locator("td")
        expect(cells).to_have_text([window, "90 %", "10", *[re.compile(r"^\d+ms$")] * 3])
    expect(page.locator("#waits-key li")).to_have_text(["pause 2", "own start 1"])
    expect(page.locator("#waits-sum")).to_have_text("3 calls wait")
    own = page.locator("#target-settings > div", has_text="this target")
    expect(own).to_have_count(1)
    expect(own).to_contain_text("Attempts in flight")
    expect(own).to_contain_text("3")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#waits-sum")).to_have_text("1 call waits")


def test_who_is_at_a_control_by_keyboard_stays_there_while_rows_change(page, redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url))
    page.goto(service.url + "/#targets")
    trip = page.get_by_role("button", name="Trip")
    trip.focus()
    shown = trip.element_handle()
    wait_until(lambda: not shown.evaluate("button => button.isConnected"), "the table is drawn anew")
    expect(page.get_by_role("button", name="Trip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#target-table")).to_contain_text("held open")


def test_calls_are_counted_and_then_cancelled_in_bulk(page, redial, receiver):
    target = receiver()
    service = redial()
    for team, count in (("a", 30), ("b", 4)):
        service("POST", "/v1/calls/batch", [{"url": target.url, "delay": "1h", "labels": {"team": team}}] * count)
    page.goto(service.url + "/#operations")
    view = page.locator("#view-operations")
    expect(page.locator("#operation-table")).to_contain_text("There are none.")
    begin = page.locator("#operation-begin")
    view.get_by_label("Action").select_option("cancel")
    assert view.get_by_label("State").input_value() == "scheduled"
    view.get_by_label("Label").fill("team=nobody")
    page.get_by_role("button", name="Count").click()
    expect(page.locator("#operation-count")).to_have_text("No call matches.")
    expect(begin).to_be_hidden()
    view.get_by_label("Label").fill("team=a")
    view.get_by_label("Calls per second").fill("10")
    view.get_by_label("Who").fill("ada")
    view.get_by_label("Why").fill("They are not wanted.")
    # By keyboard: Enter in the form counts, and does nothing else.
    page.keyboard.press("Enter")
    expect(page.locator("#operation-count")).to_have_text("30 calls would be cancelled: scheduled, team=a.")
    assert service("GET", "/v1/operations").json["data"] == []
    # The counted filter is the one that runs: after a change the user has to count again.
    view.get_by_label("Label").fill("team=b")
    expect(begin).to_be_hidden()
    view.get_by_label("Label").fill("team=a")
    page.get_by_role("button", name="Count").click()
    expect(begin).to_have_text("Start: 30 calls to be cancelled")
    begin.click()
    row = page.locator("#operation-table tbody tr")
    expect(row).to_contain_text("by ada: They are not wanted.")
    expect(row).to_contain_text("running")
    expect(row).to_contain_text("of 30 done")
    wait_until(lambda: 0 < service("GET", "/v1/operations").json["data"][0]["done"], "it is under way")
    row.get_by_role("button", name="Stop").click()
    expect(row).to_contain_text("cancelled")
    stopped = service("GET", "/v1/operations").json["data"][0]
    assert stopped["state"] == "cancelled" and stopped["done"] < 30
    expect(row).to_contain_text(f"{stopped['done']} of 30 done")
    # The rest, to its end.
    view.get_by_label("Calls per second").fill("1000")
    page.get_by_role("button", name="Count").click()
    expect(page.locator("#operation-count")).to_have_text(f"{30 - stopped['done']} calls would be cancelled: scheduled, team=a.")
    # One that was accepted since is not among them.
    since = service.submit(url=target.url, delay="1h", labels={"team": "a"})
    begin.click()
    expect(page.locator("#operation-table tbody tr").first).to_contain_text("completed")
    left = service("GET", "/v1/calls?state=scheduled").json["data"]
    assert len(left) == 5 and left[0]["id"] == since
    assert service("POST", f"/v1/calls/{since}/cancel").status == 200
    # A count says what was counted.
    assert service("POST", f"/v1/targets/{quote(target.url, safe='')}/pause").status == 200
    view.get_by_label("Label").fill("")
    view.get_by_label("Waits for").select_option("paused")
    page.get_by_role("button", name="Count").click()
    expect(page.locator("#operation-count")).to_have_text("4 calls would be cancelled: scheduled, waitingOn paused.")
    # What was counted in one namespace is not begun in another.
    for place in ("acme", ""):
        page.goto(service.url + "/#sign")
        page.get_by_label("Act in").fill(place)
        page.get_by_role("button", name="Use it").click()
        expect(page).to_have_url(service.url + "/#targets")
        page.goto(service.url + "/#operations")
        expect(begin).to_be_hidden()
    # A refusal by the service is shown.
    page.tolerated += ["422"]
    view.get_by_label("Last status").fill("9999")
    page.get_by_role("button", name="Count").click()
    expect(page.get_by_role("alert")).to_contain_text("/filter/status")


def test_who_may_chooses_a_namespace_and_sees_what_is_there(page, redial, receiver):
    target = receiver()
    service = redial(env={"REDIAL_ADMIN_KEY": ADMIN})
    admin = service.credentials = {"authorization": f"Bearer {ADMIN}"}
    inside = service("POST", "/v1/keys", {"name": "k", "scopes": ["admin"], "namespace": "acme"}).json["key"]
    mine = service.submit(url=target.url, delay="1h", target="mine")
    theirs = service("POST", "/v1/calls", {"url": target.url, "delay": "1h", "target": "theirs"},
                     admin | {"redial-namespace": "acme"}).json["id"]
    page.tolerated += ["401", "403", "400"]
    page.goto(service.url + "/#targets")
    page.get_by_label("API key").fill(ADMIN)
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    expect(page.locator("#status")).to_have_text("Live")
    expect(page.locator("#place")).to_be_hidden()
    page.goto(service.url + "/#calls")
    expect(page.locator("#call-table tbody tr")).to_have_count(1)
    expect(page.locator("#call-table tbody")).to_contain_text(mine)
    page.goto(service.url + "/#sign")
    page.get_by_label("Act in").focus()
    wait_until(lambda: "acme" in page.locator("#places option").evaluate_all("all => all.map(o => o.value)"), "it is offered")
    page.get_by_label("Act in").fill("acme")
    page.keyboard.press("Enter")
    expect(page.locator("#place")).to_have_text("acme")
    expect(page.locator("#target-table tbody tr")).to_have_count(1)
    expect(page.locator("#target-table tbody")).to_contain_text("theirs")
    page.get_by_role("link", name="Calls", exact=True).click()
    expect(page.locator("#call-table tbody tr")).to_have_count(1)
    expect(page.locator("#call-table tbody")).to_contain_text(theirs)
    # Its figures are those of this namespace only.
    page.get_by_role("link", name="Overview").click()
    expect(page.locator("#attention tbody tr")).to_have_count(1)
    expect(page.locator("#attention tbody")).to_contain_text("theirs")
    expect(page.locator("#backlog-sum")).to_have_text("1 call waits")
    # Another key belongs to its own namespace, and a refusal is shown where it can be corrected.
    page.goto(service.url + "/#sign")
    page.get_by_label("API key").fill(inside)
    page.locator("#sign-form").get_by_role("button", name="Sign in").click()
    expect(page.locator("#place")).to_be_hidden()
    page.get_by_role("link", name="Calls", exact=True).click()
    expect(page.locator("#call-table tbody")).to_contain_text(theirs)
    page.goto(service.url + "/#sign")
    page.get_by_label("Act in").fill("default")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#view-sign")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("namespace")
    page.get_by_label("Act in").fill("")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#target-table tbody")).to_contain_text("theirs")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Sign out").click()
    assert page.evaluate("sessionStorage.length") == 0
