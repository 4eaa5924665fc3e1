"""docs/security.md is right: its settings exist, and its statements about access and keys are tested."""

import re
import stat
import subprocess

from processes import BINARY, ROOT, Client, environment

PAGE = (ROOT / "docs/security.md").read_text()
README = (ROOT / "README.md").read_text()
SETTINGS = (ROOT / "docs/settings.md").read_text()
ADMIN = "the-admin-key-of-this-test"
# Names in code style that are not settings: members of requests, scopes, words of answers and others.
OTHERS = {
    "submit", "read", "operate", "metrics", "admin", "default", "failed", "blocked", "anyone", "operators", "nobody", "callback",
    "target", "public", "private", "listed", "attemptTimeout", "pins", "payloads"}


def test_the_readme_leads_to_it_and_it_is_short():
    assert "](docs/security.md)" in README
    assert len(PAGE.encode()) < 15_000


def test_every_setting_that_it_names_is_one():
    known = set(re.findall(r"^\| `(\w+)` \| .* \| .* \|", SETTINGS, re.M))
    named = {n for n in re.findall(r"`([a-z][A-Za-z]+)(?:=[^`]*)?`", PAGE)} - OTHERS
    assert {"egress", "targetNaming", "tlsDirectory", "adminKey", "allowUnauthenticated"} <= named
    assert named <= known, named - known
    for setting, value in re.findall(r"`([a-z][A-Za-z]+)=([a-z]+)`", PAGE):
        flag = "--" + re.sub(r"[A-Z]", lambda c: "-" + c[0].lower(), setting)
        shown = subprocess.run([BINARY, "serve", "--print-config", flag, value], capture_output=True, text=True, env=environment())
        assert shown.returncode == 0, (setting, value, shown.stderr)


def test_each_answer_of_the_review_names_a_test_or_a_setting_that_exists():
    page = (ROOT / "docs/security-review.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (.+\?) \| (.+) \| (.*) \|$", page, re.M)
    assert [int(number) for number, *_ in rows] == list(range(1, 41))
    known = set(re.findall(r"^\| `(\w+)` \| .* \| .* \|", SETTINGS, re.M))
    for number, _, _, shown in rows:
        # The last one is about people.
        names = re.findall(r"`([^`]+)`", shown)
        assert names or number == "40", number
        for name in names:
            places = [ROOT / f"Tests/Acceptance/test_{name}.py", ROOT / f"Tests/{name}", ROOT / name]
            assert name in known or any(place.exists() for place in places), (number, name)


def test_what_it_says_of_doors_and_files_is_so(redial, flaky):
    service, target = redial(env={"REDIAL_ADMIN_KEY": ADMIN}), flaky()
    nobody, admin = Client(service.port), {"authorization": f"Bearer {ADMIN}"}
    assert [nobody("GET", path).status for path in ("/healthz", "/", "/v1/calls", "/metrics", "/openapi.yaml")] == [
        200, 200, 401, 401, 200]
    key = nobody("POST", "/v1/keys", {"name": "k", "scopes": ["submit"]}, admin).json["key"]
    submitter = {"authorization": f"Bearer {key}"}
    answer = nobody("POST", "/v1/calls", {"url": target.url}, submitter | {"prefer": "wait=50"})
    assert answer.status == 200 and answer.json["state"] == "succeeded", "it sees what it submits"
    assert nobody("GET", f"/v1/calls/{answer.json['id']}", headers=submitter).status == 403
    tenant = nobody("POST", "/v1/keys", {"name": "t", "scopes": ["admin"], "namespace": "acme"}, admin).json["key"]
    theirs = {"authorization": f"Bearer {tenant}"}
    assert nobody("GET", f"/v1/calls/{answer.json['id']}", headers=theirs).status == 404
    assert nobody("GET", "/metrics", headers=theirs).status == 403
    for file in service.store.parent.glob("redial.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    for url in ("http://169.254.169.254/", "http://0/", "http://[::ffff:169.254.169.254]/", service.url):
        refused = nobody("POST", "/v1/calls", {"url": url}, admin)
        assert refused.status == 422, url
