"""The list of calls: filters as chips in the address, columns, views, and what is done with selected calls."""

import os
import re

import pytest
from playwright.sync_api import expect

from processes import wait_until
from test_dashboard import SECONDS, chromium, page  # noqa: F401  fixtures

pytestmark = pytest.mark.part("browser")


def add(page, text):
    page.locator("#filter").fill(text)
    page.keyboard.press("Enter")


def rows(page):
    return page.locator("#call-table tbody tr[data-key]")


def mixed(service, target):
    """Calls in all states but running, by label and target."""
    for number in range(3):
        service.ended(service.submit(url=f"{target.url}/charges/{number}", target="payments", labels={"team": "checkout"}))
    service.ended(service.submit(url=target.url + "/lost", target="payments", labels={"team": "checkout", "tier": "gold"}))
    for number in range(2):
        service.submit(url=f"{target.url}/later/{number}", target="mail", delay="1h", policy={"deadline": "2h"}, labels={"team": "growth"})
    service("POST", "/v1/calls/" + service.submit(url=target.url + "/unwanted", target="mail", delay="1h") + "/cancel")


def test_filters_are_chips_in_the_address_and_back_takes_them_away(page, redial, receiver):
    target, service = receiver(lambda request: (404 if "lost" in request.path else 200, {}, b"")), redial()
    mixed(service, target)
    page.goto(service.url + "/#calls")
    expect(rows(page)).to_have_count(7)
    expect(page.locator("#call-count")).to_have_text("7 calls: 2 wait, 1 failed, 1 was cancelled, 3 succeeded")
    add(page, "target:payments")
    expect(rows(page)).to_have_count(4)
    expect(page.locator("#chips li")).to_contain_text(["target"])
    assert page.url.endswith("#calls?target=payments")
    # Several at once, in any case of letters, and several labels.
    add(page, "label:team=checkout STATUS:400-499 label:tier=gold")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("/lost")
    expect(rows(page)).to_contain_text("failed not retryable")
    expect(page.locator("#chips li")).to_have_count(4)
    expect(page.locator("#call-foot")).to_have_text("1 call, newest first; no more match.")
    page.go_back()
    expect(rows(page)).to_have_count(4)
    # The address is enough for somebody else.
    page.goto(service.url + "/#overview")
    page.goto(service.url + "/#calls?state=failed%2Ccancelled")
    expect(rows(page)).to_have_count(2)
    expect(page.locator("#chips li")).to_contain_text(["failed or cancelled"])
    page.get_by_role("button", name="Remove the filter state").click()
    expect(rows(page)).to_have_count(7)
    expect(page.locator("#filter")).to_be_focused()
    # A text without a name is a part of the URL; Backspace takes the last chip back.
    add(page, "/LATER")
    expect(rows(page)).to_have_count(2)
    page.keyboard.press("Backspace")
    expect(rows(page)).to_have_count(7)
    expect(page.locator("#filter")).to_have_value("url:/LATER")
    page.locator("#filter").fill("colour:red")
    page.keyboard.press("Enter")
    expect(page.locator("#filter-note")).to_contain_text("There is no filter colour. There are state, target,")
    expect(page.locator("#filter")).to_have_value("colour:red")
    # A time can be so long ago.
    add(page, "createdAfter:1h createdBefore:30m")
    expect(page.locator("#filter-note")).to_be_hidden()
    expect(page.locator("#call-table tbody")).to_contain_text("No call matches.")
    # From a call the way back is to the same list; an id leads to its call.
    page.goto(service.url + "/#calls?state=failed")
    rows(page).get_by_role("link", name="/lost").click()
    expect(page.locator("#call-name")).to_contain_text("/lost")
    identity = page.locator("#call-title").inner_text()
    page.locator("#crumb").click()
    expect(rows(page)).to_have_count(1)
    add(page, identity)
    expect(page.locator("#call-title")).to_have_text(identity)


def test_columns_and_views_are_chosen_and_kept_in_the_browser(page, redial, receiver):
    target, service = receiver(lambda request: (404 if "lost" in request.path else 200, {}, b"")), redial()
    mixed(service, target)
    page.goto(service.url + "/#calls")
    names = ["", "Call", "State", "Target", "Request", "Last answer", "Attempts", "Age", "Duration", "Next attempt", "Deadline", "Labels"]
    expect(page.locator("#call-table th")).to_have_text(names)
    failed = rows(page).filter(has_text="/lost")
    expect(failed.locator("td")).to_contain_text(["failed not retryable", "payments", "GET /lost", "404", "1", "team=checkout"])
    later = rows(page).filter(has_text="/later/0")
    expect(later.locator("td")).to_contain_text(["waits for own start", "in 59m", "in 2h"])
    page.locator("#columns summary").click()
    page.get_by_role("checkbox", name="Target").uncheck()
    page.get_by_role("checkbox", name="Labels").uncheck()
    expect(page.locator("#call-table th")).to_have_text([name for name in names if name not in ("Target", "Labels")])
    page.keyboard.press("Escape")
    expect(page.locator("#column-choice")).to_be_hidden()
    page.reload()
    expect(page.locator("#call-table th")).to_have_text([name for name in names if name not in ("Target", "Labels")])
    # Views.
    views = page.locator("#views a")
    expect(views).to_have_text(["All", "Waiting", "Late", "Held by a breaker", "Failed today"])
    expect(page.locator("#views a[aria-current]")).to_have_text("All")
    for name, count in (("Waiting", 2), ("Failed today", 1), ("Held by a breaker", 0), ("Late", 0)):
        page.get_by_role("link", name=name).click()
        expect(page.locator("#views a[aria-current]")).to_have_text(name)
        expect(rows(page)).to_have_count(count)
    expect(page.locator("#save-view")).to_be_hidden()
    add(page, "target:mail label:team=growth")
    page.get_by_role("button", name="Save view").click()
    page.get_by_label("Name of this view").fill("Growth, late")
    page.keyboard.press("Enter")
    expect(page.locator("#views a[aria-current]")).to_have_text("Growth, late")
    page.get_by_role("link", name="All", exact=True).click()
    page.reload()
    page.get_by_role("link", name="Growth, late").click()
    expect(page.locator("#chips li")).to_have_count(4)
    page.get_by_role("button", name="Forget this view").click()
    expect(views).to_have_count(5)


def test_selected_calls_are_run_replayed_and_cancelled(page, redial, receiver):
    target, service = receiver(lambda request: (404 if "lost" in request.path else 200, {}, b"")), redial()
    mixed(service, target)
    page.goto(service.url + "/#calls")
    expect(rows(page)).to_have_count(7)
    tools = page.locator("#call-tools")
    expect(tools.get_by_role("button")).to_have_count(0)
    page.get_by_role("checkbox", name="Select all that are shown").check()
    expect(tools.locator("button")).to_have_text(["Select none", "Run 2 now", "Run 5 again…", "Replay 7…", "Cancel 2…"])
    # It stands still meanwhile, with the focus where it was.
    box = page.get_by_role("checkbox", name="Select all that are shown")
    shown = box.element_handle()
    wait_until(lambda: page.wait_for_timeout(10) or not shown.evaluate("one => one.isConnected"), "it is drawn anew")
    expect(page.get_by_role("checkbox", name="Select all that are shown")).to_be_focused()
    page.keyboard.press("Space")
    expect(tools.get_by_role("button")).to_have_count(0)
    # A call that has ended is run again only after a question.
    rows(page).filter(has_text="/lost").get_by_role("checkbox").check()
    rows(page).filter(has_text="/charges/0").get_by_role("checkbox").check()
    tools.get_by_role("button", name="Run 2 again…").click()
    expect(tools).to_contain_text("Run 2 calls that have ended again, with all attempts? 1 of them has succeeded.")
    tools.get_by_role("button", name="Not now").click()
    expect(tools.get_by_role("button", name="Run 2 again…")).to_be_focused()
    # Another selection is another question.
    tools.get_by_role("button", name="Run 2 again…").click()
    rows(page).filter(has_text="/charges/0").get_by_role("checkbox").uncheck()
    tools.get_by_role("button", name="Run 1 again…").click()
    tools.get_by_role("button", name="Run 1 again", exact=True).click()
    wait_until(lambda: next(call for call in service("GET", "/v1/calls").json["data"] if "lost" in call["url"])["attemptCount"] == 2, "it is tried again")
    # A call that waits is run at once.
    rows(page).filter(has_text="/later/1").get_by_role("checkbox").check()
    tools.get_by_role("button", name="Run 1 now").click()
    expect(rows(page).filter(has_text="/later/1")).to_contain_text("succeeded")
    rows(page).filter(has_text="/later/1").get_by_role("checkbox").check()
    tools.get_by_role("button", name="Replay 1…").click()
    tools.get_by_role("button", name="Replay 1", exact=True).click()
    expect(rows(page).filter(has_text="/later/1")).to_have_count(2)
    rows(page).filter(has_text="/later/0").get_by_role("checkbox").check()
    tools.get_by_role("button", name="Cancel 1…").click()
    expect(tools).to_contain_text("End 1 call for good?")
    tools.get_by_role("button", name="Cancel 1", exact=True).click()
    expect(rows(page).filter(has_text="/later/0")).to_contain_text("cancelled")
    # What was refused is said, and the rest is done.
    page.tolerated.append("409")
    ended = service.submit(url=target.url + "/soon", delay="1h")
    expect(rows(page)).to_have_count(9)
    rows(page).filter(has_text="/soon").get_by_role("checkbox").check()
    service("POST", f"/v1/calls/{ended}/retry")
    service.ended(ended)
    tools.get_by_role("button", name="Cancel 1…").click()
    tools.get_by_role("button", name="Cancel 1", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("0 of 1 done. 1 call was refused")
    # A call that waited when it was selected, and has succeeded since, is not run again.
    again = service.submit(url=target.url + "/again", delay="1h")
    expect(rows(page)).to_have_count(10)
    rows(page).filter(has_text="/again").get_by_role("checkbox").check()
    service("POST", f"/v1/calls/{again}/retry")
    service.ended(again)
    tools.get_by_role("button", name="Run 1 now").click()
    expect(page.get_by_role("alert")).to_contain_text("It has gone on meanwhile.")
    assert service.get(again)["attemptCount"] == 1


def test_all_that_match_are_counted_before_a_bulk_operation_begins(page, redial, receiver):
    target, service = receiver(), redial()
    for team, count in (("a", 120), ("b", 4)):
        service("POST", "/v1/calls/batch", [{"url": target.url, "delay": "1h", "labels": {"team": team}}] * count)
    page.goto(service.url + "/#calls?label=team%3Da")
    expect(rows(page)).to_have_count(50)
    expect(page.locator("#call-count")).to_have_text("The newest 50 calls: 50 wait")
    expect(page.locator("#call-foot")).to_have_text("50 calls, newest first; there are more.")
    page.get_by_role("button", name="Show 50 more").click()
    expect(rows(page)).to_have_count(100)
    page.get_by_role("checkbox", name="Select all that are shown").check()
    tools = page.locator("#call-tools")
    tools.get_by_role("button", name="Select all that match").click()
    expect(tools).to_contain_text("All that match are selected")
    tools.get_by_role("button", name="Run again…").click()
    expect(tools).to_contain_text("None that match can be run again.")
    tools.get_by_role("button", name="Close").click()
    tools.get_by_role("button", name="Cancel…").click()
    expect(tools).to_contain_text("120 calls would be cancelled: scheduled or running, team=a.")
    # Nothing begins before the answer.
    assert service("GET", "/v1/operations").json["data"] == []
    tools.get_by_role("button", name="Start: 120 calls to be cancelled").click()
    expect(page.locator("#operation-table tbody tr").first).to_contain_text("120 of 120 done", timeout=60 * SECONDS)
    assert len(service("GET", "/v1/calls?state=scheduled").json["data"]) == 4


def test_the_list_looks_right_on_each_screen(page, redial, receiver):
    target, service = receiver(lambda request: (404 if "lost" in request.path else 503 if "slow" in request.path else 200, {}, b"")), redial()
    mixed(service, target)
    for number in range(9):
        service.submit(url=f"{target.url}/slow/customers/8121/default-card/{number}", method="PUT", target="https://inventory.internal.example.org:8443",
                       policy={"deadline": "50s" if number % 3 else "3h", "maxAttempts": 10}, labels={"team": "checkout", "region": "eu-central"})
    page.goto(service.url + "/#calls?createdAfter=1h")
    expect(rows(page)).to_have_count(16)
    expect(rows(page).filter(has_text="/lost")).to_contain_text("404")
    for scheme, width in (("light", 1400), ("dark", 1400), ("light", 390), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        expect(rows(page)).to_have_count(16)
        rows(page).nth(1).get_by_role("checkbox").check()
        rows(page).nth(12).get_by_role("checkbox").check()
        page.wait_for_timeout(2 * SECONDS)
        if folder := os.environ.get("REDIAL_SCREENSHOTS"):
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=f"{folder}/calls-list-{scheme}-{width}.png")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
        assert page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('#view-calls .scroll'))") <= 0, width
        # A row is one line, and on a phone two; nothing that is shown lies on another.
        found = page.evaluate("""() => {
          const boxes = [...document.querySelectorAll("#call-table tbody tr")].map(row => [...row.cells].map(cell => cell.getBoundingClientRect()).filter(box => box.width));
          const meet = (a, b) => a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1;
          const lines = cells => new Set(cells.slice(1).map(box => Math.round((box.top + box.bottom) / 20))).size;
          return [Math.max(...boxes.map(lines)), boxes.filter(cells => cells.some((a, index) => cells.slice(index + 1).some(b => meet(a, b)))).length];
        }""")
        assert found == [1 if width > 640 else 2, 0], (width, found)


def test_all_of_it_works_with_keys_but_not_while_somebody_types(page, redial, receiver):
    target, service = receiver(), redial()
    for number in range(3):
        service.ended(service.submit(url=f"{target.url}/{number}"))
    page.goto(service.url + "/")
    expect(page.locator("#ended")).to_be_visible()
    for keys, view in (("gt", "targets"), ("gb", "operations"), ("gp", "policy"), ("gw", "webhooks"), ("go", "overview"), ("gc", "calls")):
        page.keyboard.type(keys)
        expect(page.locator(f"#view-{view}")).to_be_visible()
    expect(rows(page)).to_have_count(3)
    # In the list.
    page.keyboard.press("j")
    expect(rows(page).nth(0).get_by_role("link", name="GET /2")).to_be_focused()
    assert page.evaluate("document.activeElement.matches(':focus-visible')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    link = rows(page).nth(1).get_by_role("link", name="GET /1")
    expect(link).to_be_focused()
    page.keyboard.press("x")
    expect(rows(page).nth(1).get_by_role("checkbox")).to_be_checked()
    expect(link).to_be_focused()
    page.keyboard.press("x")
    expect(rows(page).nth(1).get_by_role("checkbox")).not_to_be_checked()
    page.keyboard.press("Enter")
    expect(page.locator("#call-name")).to_contain_text("GET /1 to")
    # A filter is typed: its letters are no keys.
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("g?j/x")
    expect(page.locator("#filter")).to_have_value("g?j/x")
    expect(page.locator("#view-calls")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#filter")).not_to_be_focused()
    # The list of keys, in which they can be switched off.
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("gcGo to calls")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("checkbox", name="Use single keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.type("gt")
    page.keyboard.press("/")
    expect(page.locator("#view-calls")).to_be_visible()
    expect(page.locator("#filter")).not_to_be_focused()
