"""Each view of the dashboard, with data, by the rules of axe-core: light, dark, and on a phone."""

from importlib.resources import files

import pytest
from playwright.sync_api import expect

from processes import wait_until
from test_dashboard import SECONDS, chromium  # noqa: F401  a fixture
from test_dashboard_overview import outage

pytestmark = pytest.mark.part("browser")
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()


def faults_of(page):
    """What axe-core finds: each rule with the elements that break it. It is evaluated, because the page allows no other script."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [(rule["id"], rule["help"], [node["html"][:160] for node in rule["nodes"]]) for rule in found]


@pytest.fixture
def views(redial, receiver):
    """A service in which all views have something to show, and the views with an element that is there once they are drawn."""
    works = []
    target, hook, service = receiver(lambda request: (404 if "lost" in request.path else 503 if "flaky" in request.path and not works else 200, {}, b"{}")), receiver(), redial()
    for path in ("a", "b", "lost"):
        lost = service.submit(url=f"{target.url}/{path}", target="mail", labels={"team": "checkout"}, callback={"url": hook.url})
        service.ended(lost)
    tried = service.submit(url=target.url + "/flaky", target="mail", policy={"backoff": {"strategy": "constant", "initial": "2s", "jitter": "none"}})
    wait_until(lambda: len(service.get(tried)["attempts"]) >= 2, "two attempts have ended")
    service.submit(url=target.url, delay="1h", target="held")
    service("POST", "/v1/targets/held/pause")
    service("PATCH", "/v1/targets/mail", {"maxInFlight": 3})
    service("POST", "/v1/operations", {"action": "retry", "filter": {"state": "succeeded"}, "ratePerSecond": 1, "by": "ada", "reason": "A test."})
    service("POST", "/v1/webhook-endpoints", {"url": hook.url + "/hooks"})
    service("PUT", "/v1/credentials/token", {"type": "oauth2", "tokenURL": hook.url, "clientID": "shop", "clientSecret": "x", "origins": [hook.url], "description": "Of the shop."})
    outage(service)
    return service, [
        ("overview", "#troubles .trouble"), ("issues", "#issue-table td a"), (f"issues/{service.get(lost)['issue']}", "#issue-table .opened pre"), ("targets", "#target-table td a"), ("calls", "#call-table [data-key]"), ("calls?target=payments&state=scheduled", "#call-table [data-key]"), (f"call/{tried}", "#call-line rect"),
        ("target/payments", "#waits-line path"), ("target/mail", "#target-settings dd"), ("operations", "#operation-table progress"), ("policy", "#policy-chart[src]"),
        ("webhooks", "#webhook-table td a"), ("credentials/token", "#credential-facts td"), ("credentials?new", "#credential-token"), ("credentials/token?replace", "#credential-clientSecret"), ("audit", "#audit-table td a"), ("sign", "#key")]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing_in_any_view(chromium, views, scheme, width):  # noqa: F811
    service, shown = views
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, locale="en-GB")
    page = context.new_page()
    found = {}
    for view, element in shown:
        page.goto(f"{service.url}/#{view}")
        expect(page.locator(element).first).to_be_attached(timeout=60 * SECONDS)
        if view == "calls":
            page.locator("#call-table [data-key] input").first.check()
        if view == "target/mail":
            page.get_by_role("button", name="Change Attempts in flight").click()
            page.locator("#target-menu summary").click()
        if view == "credentials/token":
            page.get_by_role("button", name="Remove…").click()
        if "?replace" in view:
            page.get_by_role("button", name="Replace", exact=True).click()
            expect(page.locator("#credential-clientSecret-note")).not_to_be_empty()
        found |= {view: faults} if (faults := faults_of(page)) else {}
    page.goto(f"{service.url}/#calls")
    page.locator("#show-keys").click()
    found |= {"keys": faults} if (faults := faults_of(page)) else {}
    context.close()
    assert found == {}


def test_axe_finds_nothing_before_the_first_call(chromium, redial):  # noqa: F811
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(redial().url + "/")
    expect(page.locator("#fresh")).to_be_visible()
    assert faults_of(page) == []
    context.close()
