"""Two roles on PostgreSQL: one owns the tables, and the instances' one can only work with them."""

import os
import re
import subprocess

import pytest

import databases
from processes import BOUND, ROOT, Constants, Redial, run, wait_until
from test_replicas import LASTING

PASSWORDS = {"redial_owner": "own er/1", "redial_service": "serv:ice@2"}


class Roles:
    """A cluster with both roles, whose passwords travel by SCRAM."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        for role, password in PASSWORDS.items():
            cluster.query(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'")
            (folder / role).write_text(password + "\n")
        cluster.query("GRANT CREATE ON DATABASE redial TO redial_owner")
        (cluster.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
        cluster.run("pg_ctl", "-D", cluster.data, "reload")

    def url(self, role):
        return f"postgresql://{role}@/redial?host={self.cluster.folder}"

    def psql(self, role, **more):
        return dict(
            args=[f"{databases.PROGRAMS[0]}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", self.url(role)],
            env=os.environ | {"PGPASSWORD": PASSWORDS[role], "PGOPTIONS": "-c search_path=redial"}, text=True, **more)

    def sql(self, role, text):
        return subprocess.run(**self.psql(role, input=text, capture_output=True, timeout=BOUND))

    def make_tables(self, *flags, role="redial_owner"):
        return run("make-tables", "--store", self.url(role), *flags, env={"PGPASSWORD": PASSWORDS[role]})

    def service(self, number, *flags):
        folder = self.folder / f"instance{number}"
        folder.mkdir(exist_ok=True)
        return Redial(
            folder, "--store-password-file", str(self.folder / "redial_service"), *flags,
            location=self.url("redial_service"))


@pytest.fixture
def roles(database, tmp_path):
    return Roles(database(), tmp_path)


def test_without_tables_a_service_that_must_not_make_them_says_how_they_are_made(roles):
    refused = run("serve", "--store", roles.url("redial_service"), env={"PGPASSWORD": PASSWORDS["redial_service"]})
    assert refused.returncode == 3 and "redial make-tables --store" in refused.stderr, refused
    refused = roles.make_tables(role="redial_service")
    assert refused.returncode == 1 and "this role must not make them" in refused.stderr, refused
    assert roles.cluster.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'redial'", "redial") == [["0"]]
    wrong = run("make-tables", "--store", "sqlite:a.db")
    assert wrong.returncode == 1 and "postgresql://" in wrong.stderr, wrong


def test_the_page_says_how_two_roles_are_made(roles):
    page = (ROOT / "docs/replicas.md").read_text()
    sql, command = re.search(r"```sql\n(.*?)```", page, re.S)[1], re.search(r"^redial make-tables .*$", page, re.M)[0]
    for role in ("redial_owner", "redial_service"):
        assert f"CREATE ROLE {role} LOGIN" in sql
    assert "GRANT CREATE ON DATABASE redial TO redial_owner" in sql
    store = re.search(r"--store '([^']+)'", command)[1]
    assert store == "postgresql://redial_owner@db.example.com/redial"
    made = roles.make_tables(*command.split("' ")[1].split())
    assert made.returncode == 0 and "made the tables" in made.stdout and "redial_service may use" in made.stdout, made
    again = roles.make_tables(*command.split("' ")[1].split())
    assert again.returncode == 0 and "the tables exist already" in again.stdout, again


@pytest.mark.usefixtures("encrypted")
def test_the_services_role_can_do_all_that_a_service_does_and_change_no_table(roles, receiver, made):
    assert roles.make_tables("--grant", "redial_service").returncode == 0
    target, hook = receiver(lambda request: (503 if "fail" in request.path else 200, {}, b"ok")), receiver()


    def two_services(*flags):
        services = [roles.service(number, Constants(maxPolicyVersions=2), *LASTING, *flags) for number in range(2)]
        for service in services:
            made.append(service)
            service.start()
            wait_until(lambda: service("GET", "/readyz").status == 200, "it has joined")
        return services

    services = one, two = two_services()

    # Calls of all kinds, with all that belongs to them.
    endpoint = one("POST", "/v1/webhook-endpoints", {"url": hook.url, "events": ["call.succeeded", "call.failed"]})
    assert endpoint.status == 201, endpoint.body
    key = {"idempotency-key": "order-1"}
    calls = [
        (one if number % 2 else two).submit(
            url=target.url + ("/fail" if number % 4 == 0 else "/"), target=f"target{number}", method="POST",
            body="x" * 5000, labels={"team": "a"}, policy={"maxAttempts": 2, "backoff": {"initial": "5ms"}},
            **({"orderingKey": "o"} if number % 3 else {})) for number in range(12)]
    same = [s("POST", "/v1/calls", {"url": target.url}, key).json["id"] for s in (one, two)]
    assert same[0] == same[1]
    for number, identity in enumerate(calls):
        call = two.ended(identity)
        assert (call["state"], len(call["attempts"])) == (("failed", 2) if number % 4 == 0 else ("succeeded", 1)), call
    assert hook.next()
    listed = two("GET", "/v1/calls?label=team=a&limit=250")
    assert {c["id"] for c in listed.json["data"]} == set(calls)
    waiting = [one.submit(url=target.url, target=f"target{number}", delay="1h") for number in range(8)]
    assert two("POST", f"/v1/calls/{waiting[0]}/retry").status == 200
    assert two.ended(waiting[0])["state"] == "succeeded"
    assert one("DELETE", f"/v1/calls/{waiting[0]}/content").status in (200, 204)
    assert two("POST", "/v1/targets/target1/pause").json["paused"]
    assert one("PUT", "/v1/targets/target1", {"maxInFlight": 3}).status == 200
    for version in range(4):
        assert two("PUT", "/v1/policies/patient", {"maxAttempts": 2 + version}).status in (200, 201)
    operation = two("POST", "/v1/operations", {"action": "cancel", "filter": {"state": "scheduled"}})
    assert operation.status == 202, operation.body
    wait_until(
        lambda: one("GET", f"/v1/operations/{operation.json['id']}").json["state"] == "completed", "the operation ends")
    made_key = one("POST", "/v1/keys", {"name": "ops", "scopes": ["admin"]})
    assert made_key.status == 201, made_key.body
    wait_until(lambda: two("GET", "/v1/calls").status == 401, "both need the key")
    assert [service.terminate() for service in services] == [0, 0]
    # Retention, and what is swept beside it.
    services = one, two = two_services("--retention-time", "1s", "--idempotency-time", "1s")
    for service in services:
        service.credentials = {"authorization": f"Bearer {made_key.json['key']}"}
    wait_until(lambda: all(one("GET", f"/v1/calls/{identity}").status == 404 for identity in calls), "old calls are gone")
    assert one("GET", "/readyz").status == two("GET", "/readyz").status == 200
    for service in services:
        assert "permission denied" not in service.log.read_text(), service.log.read_text()

    checked = run(
        "doctor", "--store", roles.url("redial_service"), env={"PGPASSWORD": PASSWORDS["redial_service"]}, seconds=BOUND)
    assert checked.returncode == 0, checked
    for statement in ("DROP TABLE live", "ALTER TABLE live ADD COLUMN x int", "CREATE TABLE x (id int)", "TRUNCATE live",
                      "CREATE INDEX x ON live (at)", "DROP SCHEMA redial CASCADE", "CREATE VIEW x AS SELECT 1",
                      "ALTER TABLE live OWNER TO redial_service", "DROP INDEX live_due"):
        refused = roles.sql("redial_service", statement)
        assert refused.returncode != 0 and re.search("permission denied|must be owner", refused.stderr), refused
    owners = roles.cluster.query(
        "SELECT DISTINCT r.rolname FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner"
        " WHERE c.relnamespace = 'redial'::regnamespace", "redial")
    assert owners == [["redial_owner"]]


def test_the_services_role_ends_the_server_process_of_an_instance_that_stands_still(roles, receiver, made):
    assert roles.make_tables("--grant", "redial_service").returncode == 0
    services = [roles.service(number) for number in range(2)]
    for service in services:
        made.append(service)
        service.start()
    query = lambda text: roles.cluster.query(text, "redial")
    wait_until(lambda: query("SELECT count(DISTINCT owner), count(owner) FROM redial.leases") == [["2", "64"]], "shares")
    session = query(f"SELECT id FROM redial.sessions WHERE address = '{services[1].url}'")[0][0]
    # As after a commit of which only a half was sent: a transaction holds the session's row.
    half = subprocess.Popen(
        **roles.psql("redial_service", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    half.stdin.write(f"BEGIN; SELECT pg_backend_pid() FROM sessions WHERE id = {session} FOR SHARE;\n")
    half.stdin.flush()
    process = int(half.stdout.readline())
    services[1].kill()
    query(f"UPDATE redial.beats SET backend = pid, backend_start = a.backend_start FROM pg_stat_activity a"
          f" WHERE a.pid = {process} AND session = {session}")
    wait_until(lambda: query("SELECT count(DISTINCT owner), count(owner) FROM redial.leases") == [["1", "64"]],
               "the other has all shards")
    _, errors = half.communicate("SELECT 1;\n", timeout=BOUND)
    assert half.returncode != 0 and "terminating connection" in errors, errors
    for number in range(8):
        identity = services[0].submit(url=receiver().url, target=f"target{number}")
        assert services[0].ended(identity)["state"] == "succeeded"
