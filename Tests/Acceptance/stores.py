"""Stores that earlier builds have made, in Tests/Stores, and how a build makes one of today."""

import contextlib
import json
import pathlib
import re
import sqlite3
import tarfile

from processes import ROOT, wait_until

FOLDER = ROOT / "Tests/Stores"
# Of each of them, and of the services that make them.
ADMIN_KEY = "admin-key-0123456789"
HEADERS = {"authorization": f"Bearer {ADMIN_KEY}"}
# Nobody listens there.
NOWHERE = "http://127.0.0.1:1"


def all_of_them():
    """Their folders, the oldest first, as the README lists them."""
    return re.findall(r"^\| `(\w+)` \|", (FOLDER / "README.md").read_text(), re.M)


def unpack(name, folder):
    """The files of the store on SQLite."""
    with tarfile.open(FOLDER / name / "sqlite.tar.xz") as archive:
        # Python 3.11.2, which Debian 12 has, knows no filters and ignores this.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
    return folder / "redial.db"


def made_at(name):
    """When it was made, in seconds since 1970."""
    with tarfile.open(FOLDER / name / "sqlite.tar.xz") as archive:
        return archive.getmember("redial.db").mtime


def restore(name, cluster):
    """Puts the store on PostgreSQL into the empty database of a cluster."""
    dump = pathlib.Path(cluster.folder) / "dump.sql"
    dump.write_bytes((FOLDER / name / "postgres.sql").read_bytes())
    dump.chmod(0o644)
    if not cluster.query("SELECT 1 FROM pg_database WHERE datname = 'redial'"):
        cluster.query("CREATE DATABASE redial")
    cluster.run(
        "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", cluster.folder, "-U", "postgres", "-d", "redial", "-f", dump)


def fill(service):
    """What each store has that is made from now on, in the order of the README. A new form belongs here, too."""
    def made(method, path, body=None, *, status, **headers):
        answer = service(method, path, body, HEADERS | headers)
        assert answer.status == status, (path, answer.body)
        return answer.json
    made("PUT", "/v1/policies/p", {"maxAttempts": 5, "minAttemptTime": "100ms"}, status=201)
    made("PUT", "/v1/targets/billing", {"maxInFlight": 4, "breaker": {"minCalls": 30}}, status=200)
    made("PUT", "/v1/targets/oldset", {"rate": {"perSecond": None}}, status=200)
    made("POST", "/v1/targets/oldset/pause", status=200)
    made("POST", "/v1/keys", {"name": "k", "scopes": ["submit", "read"], "quota": 6000}, status=201)
    endpoint = made("POST", "/v1/webhook-endpoints", {"url": f"{NOWHERE}/hook", "events": ["call.failed"]}, status=201)
    for number in range(1, 6):
        made("POST", "/v1/calls", {
            "url": f"{NOWHERE}/w{number}", "target": "billing", "json": {"n": number}, "delay": "30d",
            "policy": {"deadline": "900h", "minAttemptTime": "50ms"}}, status=202)
    made("POST", "/v1/calls", {"url": f"{NOWHERE}/s", "json": {}, "policy": "p", "delay": "30d"}, status=202)
    short = {"maxAttempts": 2, "backoff": {"strategy": "constant", "initial": "50ms"}}
    failed = made("POST", "/v1/calls", {"url": f"{NOWHERE}/f", "json": {}, "policy": short}, status=202,
                  **{"idempotency-key": "old-1"})
    assert service.ended(failed["id"])["state"] == "failed"
    wait_until(lambda: made("GET", "/v1/calls?kind=webhook", status=200)["data"], "its webhook is stored")
    made("PUT", "/v1/alerts/a", {"kinds": ["down"], "after": "5m", "to": {"endpoint": endpoint["id"]}}, status=201)
    operation = made("POST", "/v1/operations", {"action": "cancel", "filter": {"target": "nothing"}, "by": "me", "reason": "r"}, status=202)
    wait_until(lambda: made("GET", f"/v1/operations/{operation['id']}", status=200)["finishedAt"], "the operation has ended")
    made("POST", "/v1/calls", {
        "url": f"{NOWHERE}/all", "method": "PUT", "headers": {"x-a": ["1", "2"]}, "body": "b", "delay": "30d", "target": "all",
        "idempotent": False, "onRepeat": "answer", "description": "d", "labels": {"a": "b"}, "priority": 7, "orderingKey": "k",
        "callback": {"url": f"{NOWHERE}/callback", "events": ["call.failed"]}, "redirects": {"max": 2}, "redact": ["/a"],
        "capture": {"maxBytes": 9, "redactHeaders": ["x-a"]}, "policy": {
            "maxAttempts": 9, "deadline": "900h", "lastAttempt": "pullForward", "attemptTimeout": "9s", "onTrip": "fail",
            "backoff": {"strategy": "schedule", "schedule": ["1s"], "then": "stop", "cap": "afterJitter"},
            "retryOn": {"network": "never", "statuses": ["500"], "statusesWithRetryAfter": ["409"]},
            "stopOn": {"statuses": ["410"]},
            "retryAfter": {"mode": "respect", "max": "1m", "beyond": "clamp", "spread": 0.5, "statuses": ["503"]}}}, status=202)
    made("PUT", "/v1/targets/all", {
        "breaker": {"consecutiveFailures": 3, "significance": 0.5, "failureTime": "1s", "failureRate": 0.5, "window": "9s",
                    "minCalls": 3, "openInterval": "1s", "maxOpenInterval": "9s", "probes": 2},
        "rate": {"perSecond": 2, "burst": 3}, "retryBudget": {"share": 0.5, "minPerSecond": 3}, "pace": "fixed",
        "newCallShare": 0.5, "slowStart": "9s", "attemptTimeout": "9s", "sensitive": False, "redact": ["/a"]}, status=200)


def shape(store):
    """The forms of all that a store has in clear text: its tables, and the paths of the members of each kind of JSON."""
    forms = set()
    with contextlib.closing(sqlite3.connect(store)) as database:
        for table, text in database.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"):
            forms.add(" ".join(text.split()) if table != "sqlite_sequence" else table)
        texts = [("spec", spec) for (spec,) in database.execute("SELECT spec FROM requests")]
        texts += [("target", record) for (record,) in database.execute("SELECT record FROM targets WHERE record IS NOT NULL")]
        texts += list(database.execute("SELECT kind, content FROM documents WHERE kind <> 'audit'"))
    for kind, text in texts:
        if not text.startswith(b"{"):
            forms.add(f"{kind}: sealed")
            continue
        forms |= {f"{kind}: {path}" for path in paths(json.loads(text))}
    return forms


def paths(value, at=""):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, f"{at}/{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}/*")
    else:
        yield at
