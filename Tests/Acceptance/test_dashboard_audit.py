"""The page of the audit log: who did what; and whom a proxy has signed in."""

import pytest
from playwright.sync_api import expect

from test_dashboard import SECONDS, chromium, page  # noqa: F401  fixtures
from test_trusted_users import PROXY

pytestmark = pytest.mark.part("browser")


def test_it_lists_who_did_what_and_finds_it(page, redial):  # noqa: F811
    service = redial()
    for number in range(101):
        assert service("PUT", f"/v1/policies/p{number}", {"maxAttempts": 2}).status == 201
    assert service("POST", "/v1/targets/orders/pause").status == 200
    page.goto(service.url + "/#audit")
    rows = page.locator("#audit-table tbody tr")
    expect(rows).to_have_count(100)
    expect(rows.nth(0)).to_contain_text("target.paused")
    expect(rows.nth(0)).to_contain_text("+ paused: true")
    expect(rows.nth(0)).to_contain_text("127.0.0.1")
    page.get_by_role("button", name="Show 100 more").click()
    expect(rows).to_have_count(102)
    expect(page.locator("#audit-more")).to_be_hidden()
    page.locator("#audit-object").fill("p7")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text('+ policy: {"maxAttempts":2}')


def test_it_says_whom_the_proxy_has_signed_in(page, redial):  # noqa: F811
    service = redial(*PROXY, "ops=admin")
    page.set_extra_http_headers({"x-forwarded-user": "ada@example.com", "x-forwarded-groups": "ops"})
    assert service("POST", "/v1/targets/orders/pause", None, {"x-forwarded-user": "ada@example.com", "x-forwarded-groups": "ops"}).status == 200
    page.goto(service.url + "/#audit")
    expect(page.locator("#sign")).to_have_text("ada@example.com")
    expect(page.locator("#audit-table tbody tr")).to_contain_text("ada@example.com")
