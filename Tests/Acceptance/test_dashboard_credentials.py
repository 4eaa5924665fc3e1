"""The page of credentials: each type is stored, replaced and removed, and no secret is left in the browser."""

import json
import re
import subprocess

import pytest
import yaml
from playwright.sync_api import expect

from client_packages import ROOT
from test_credentials import SECRET, TokenEndpoint, bearer, oauth, put
from test_dashboard import SECONDS, chromium, page  # noqa: F401  fixtures

pytestmark = pytest.mark.part("browser")
WEBHOOK_SECRETS = ("whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCwgbm90IG9uZQ==", "whsec_b25lIG1vcmUgZXhhbXBsZSwgYWxzbyBub3Qgb25l")
# Each with what people type: what is secret, and the rest.
TYPES = {
    "bearer": ({"token": SECRET}, {}),
    "basic": ({"password": SECRET}, {"username": "ada"}),
    "header": ({"value": SECRET}, {"header": "X-Api-Key"}),
    "query": ({"value": SECRET}, {"parameter": "api_key"}),
    "oauth2": ({"clientSecret": SECRET}, {"tokenURL": "https://login.example.com/token", "clientID": "shop", "clientAuthentication": "post", "scope": "write", "audience": "a", "resource": "b"}),
    "awsSigV4": ({"secretAccessKey": SECRET, "sessionToken": SECRET + "-session"}, {"accessKeyID": "AKID", "region": "eu-west-1", "service": "s3"}),
    "standardWebhooks": (dict(zip(("secret", "previousSecret"), WEBHOOK_SECRETS)), {}),
    "github": ({"secret": SECRET}, {}),
    "stripe": ({"secret": SECRET, "previousSecret": SECRET + "-old"}, {}),
    "slack": ({"secret": SECRET}, {}),
    "hmacSHA256": ({"secret": SECRET, "previousSecret": SECRET + "-old"}, {"header": "X-Signature", "prefix": "v1=", "encoding": "base64"}),
}
# All places where a page can keep something, and the state of the form in its script.
KEPT = """() => JSON.stringify([document.documentElement.outerHTML, location.href, history.state, {...localStorage}, {...sessionStorage}, document.cookie, name, window.name, writing,
  [...document.querySelectorAll("input, textarea, select")].map(one => one.value), performance.getEntriesByType("resource").map(one => one.name)])"""


def fill(page, members):  # noqa: F811
    for name, value in members.items():
        field = page.locator(f"#credential-{name}")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def check_nothing_kept(page, secrets):  # noqa: F811
    kept = page.evaluate(KEPT)
    for secret in secrets.values():
        # Of a key in PEM, a line that no other key has.
        assert max(secret.splitlines(), key=len) not in kept


def store(page, name, type, members):  # noqa: F811
    """Stores one with the form, and gives what was sent."""
    page.get_by_role("link", name="Store a credential").click()
    expect(page.locator("#credential-name")).to_be_focused()
    fill(page, {"name": name, "type": type, "origins": "https://a.example.com https://b.example.com", "description": "of the shop"})
    # The way that a client says who it is decides which fields there are.
    fill(page, {one: members[one] for one in members if one == "clientAuthentication"})
    fill(page, members)
    with page.expect_request(lambda request: request.method == "PUT") as sent:
        page.get_by_role("button", name="Store", exact=True).click()
    expect(page.locator("#credential-said")).to_have_text(f"{name} is stored.")
    return sent.value.post_data_json


def test_each_type_is_stored_replaced_and_removed_and_no_secret_is_left(page, redial, tmp_path):  # noqa: F811
    with open(ROOT / "api/openapi.yaml") as file:
        types = yaml.safe_load(file)["components"]["schemas"]["CredentialType"]["enum"]
    key = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key], check=True, capture_output=True)
    assertion = ({"privateKey": key.read_text()}, {"tokenURL": "https://login.example.com/token", "clientID": "shop", "clientAuthentication": "privateKeyJWT", "keyID": "k1", "algorithm": "ES256"})
    service = redial()
    page.tolerated += ["422"]
    page.goto(service.url + "/#credentials")
    expect(page.locator("#credential-table")).to_contain_text("No credential is stored.")
    page.get_by_role("link", name="Store a credential").click()
    assert page.locator("#credential-type option").all_text_contents() == types == [*TYPES]
    page.get_by_role("link", name="Cancel").click()
    expect(page.locator("#credential-form")).to_be_hidden()
    for name, type, (secrets, rest) in [(f"my-{type}", type, parts) for type, parts in TYPES.items()] + [("my-assertion", "oauth2", assertion)]:
        others = {"type": type, **rest, "origins": ["https://a.example.com", "https://b.example.com"], "description": "of the shop"}
        assert store(page, name, type, secrets | rest) == others | secrets
        check_nothing_kept(page, secrets)
        shown = service("GET", f"/v1/credentials/{name}").json
        assert {member: shown[member] for member in others} == others and shown["name"] == name
        row = page.locator("#credential-table tbody tr").filter(has=page.get_by_role("link", name=name, exact=True))
        expect(row).to_contain_text("https://a.example.com, https://b.example.com")
        for value in rest.values():
            expect(page.locator("#credential-facts")).to_contain_text(value)
        page.get_by_role("link", name="Replace…").click()
        # What is not secret is filled in. The rest is typed again, in fields that no browser fills.
        for member, value in rest.items():
            expect(page.locator(f"#credential-{member}")).to_have_value(value)
        for member in secrets:
            expect(page.locator(f"#credential-{member}")).to_have_value("")
            expect(page.locator(f"#credential-{member}")).to_have_attribute("autocomplete", "off")
            assert member == "privateKey" or page.locator(f"#credential-{member}").get_attribute("type") == "password"
        needed = next(iter(secrets))
        with page.expect_response(lambda response: response.status == 422):
            page.get_by_role("button", name="Replace", exact=True).click()
        expect(page.locator(f"#credential-{needed}-note")).to_contain_text("It is required for the ")
        expect(page.locator(f"#credential-{needed}")).to_be_focused()
        fill(page, secrets | {"description": "of the new shop"})
        page.get_by_role("button", name="Replace", exact=True).click()
        expect(page.locator("#credential-said")).to_have_text(f"{name} is replaced.")
        expect(row).to_contain_text("of the new shop")
        check_nothing_kept(page, secrets)
        # Nor does the form have it that the way back leads to.
        page.go_back()
        expect(page.locator(f"#credential-{needed}")).to_have_value("")
        page.get_by_role("link", name="Cancel").click()
        page.get_by_role("button", name="Remove…").click()
        expect(page.locator("#credential-acts")).to_contain_text(f"Remove {name}? Calls that name it wait")
        page.get_by_role("button", name="Not now").click()
        page.get_by_role("button", name="Remove…").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(page.locator("#credential-said")).to_have_text(f"{name} is removed.")
        assert service("GET", f"/v1/credentials/{name}").status == 404
    assert SECRET not in service.log.read_text()


def test_a_secret_of_the_page_proves_who_sends_a_call(page, redial, receiver):  # noqa: F811
    target, service = receiver(), redial()
    page.goto(service.url + "/#credentials?new")
    fill(page, {"name": "token", "token": SECRET, "origins": target.url})
    page.locator("#credential-token").press("Enter")
    expect(page.locator("#credential-said")).to_have_text("token is stored.")
    service.ended(service.submit(url=target.url, credential="token"))
    assert target.next().headers["authorization"] == f"Bearer {SECRET}"
    # Its changes, and from there to it again.
    page.get_by_role("link", name="Its changes").click()
    expect(page.locator("#audit-table tbody tr")).to_contain_text("credential.put")
    page.locator("#audit-table").get_by_role("link", name="token").click()
    expect(page.locator("#credential-title")).to_have_text("token")


def test_what_is_refused_is_said_beside_its_field(page, redial):  # noqa: F811
    service = redial()
    page.tolerated += ["404", "422"]
    page.goto(service.url + "/#credentials?new")
    send, fault = page.get_by_role("button", name="Store", exact=True), lambda name: page.locator(f"#credential-{name}-note")
    send.click()
    expect(fault("name")).to_have_text("It is required.")
    fill(page, {"name": "a b"})
    send.click()
    expect(fault("name")).to_contain_text("letters, digits, dots")
    fill(page, {"name": "mine", "type": "basic", "username": "a:b", "origins": "https://a.example.com/path"})
    send.click()
    expect(fault("username")).to_have_text("It must not have a colon in it (RFC 7617).")
    expect(fault("password")).to_have_text('It is required for the type "basic".')
    expect(fault("origins")).to_contain_text("must be an origin")
    expect(page.locator("#credential-username")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#credential-username")).to_be_focused()
    expect(page.locator("#credential-note")).to_be_empty()
    fill(page, {"username": "ada", "password": SECRET, "origins": "https://a.example.com"})
    # Meanwhile somebody else has stored one of this name.
    assert service("PUT", "/v1/credentials/mine", {"type": "bearer", "token": "x", "origins": ["https://a.example.com"]}).status == 201
    send.click()
    expect(fault("name")).to_contain_text("It is stored already")
    assert service("GET", "/v1/credentials/mine").json["type"] == "bearer"
    # What was typed is still there, and gone with the form.
    expect(page.locator("#credential-password")).to_have_value(SECRET)
    page.get_by_role("link", name="Audit").click()
    expect(page.locator("#view-audit")).to_be_visible()
    check_nothing_kept(page, {"password": SECRET})


def test_a_database_without_a_key_takes_none(page, instances):  # noqa: F811
    _, (service,) = instances(1)
    page.tolerated += ["409"]
    page.goto(service.url + "/#credentials?new")
    fill(page, {"name": "token", "token": SECRET, "origins": "https://a.example.com"})
    page.get_by_role("button", name="Store", exact=True).click()
    expect(page.locator("#credential-note")).to_contain_text("Set encryptionKeyFile (REDIAL_ENCRYPTION_KEY_FILE)")


def test_who_is_no_admin_sees_them_and_changes_none(page, redial, receiver):  # noqa: F811
    target, service = receiver(), redial()
    put(service, "token", **bearer(target))
    admin = service("POST", "/v1/keys", {"name": "me", "scopes": ["admin"]}).json["key"]
    service.credentials = {"authorization": f"Bearer {admin}"}
    reader = service("POST", "/v1/keys", {"name": "reader", "scopes": ["read"]}).json["key"]
    page.tolerated += ["401", "403"]
    for key, mayChange in ((reader, False), (admin, True)):
        page.goto(service.url + "/#sign")
        page.get_by_label("API key").fill(key)
        page.locator("#sign-form").get_by_role("button", name="Sign in").click()
        expect(page.locator("#view-overview")).to_be_visible()
        page.evaluate("location.hash = '#credentials/token'")
        expect(page.locator("#credential-facts")).to_contain_text(target.url)
        for link in (page.get_by_role("link", name="Store a credential"), page.get_by_role("link", name="Replace…"), page.get_by_role("button", name="Remove…"), page.get_by_role("link", name="Its changes")):
            expect(link).to_be_visible(visible=mayChange)
        page.evaluate("location.hash = '#credentials/token?replace'")
        expect(page.locator("#credential-form")).to_be_visible(visible=mayChange)


def test_it_says_how_the_token_of_a_client_stands(page, redial, receiver):  # noqa: F811
    target, works = receiver(), []
    endpoint, service = TokenEndpoint(receiver, lambda request: None if works else (503, {}, b"")), redial()
    put(service, "shop", **oauth(target, endpoint))
    page.goto(service.url + "/#credentials/shop")
    facts = page.locator("#credential-facts")
    expect(facts).to_contain_text("none yet")
    call = service.submit(url=target.url, credential="shop")
    expect(facts).to_contain_text(re.compile("failing: .*503.* The next try is at "))
    works.append(True)
    service.ended(call)
    expect(facts).to_contain_text("valid until ")
    assert json.dumps(service("GET", "/v1/credentials/shop").json["accessToken"]["state"]) == '"valid"'
