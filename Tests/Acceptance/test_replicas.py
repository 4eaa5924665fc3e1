"""Several instances on one PostgreSQL database: any of them answers anything."""

import concurrent.futures
import json
import os
import pathlib
import pwd
import re
import socket
import subprocess
import threading
import time

import pytest
import yaml

import databases
import needs
from processes import BINARY, BOUND, ROOT, Client, environment, free_port, run, wait_until
from test_targets import patch_at_once

WAIT = {"prefer": "wait=50"}
# A lease that outlasts every pause of a busy machine, for instances none of which dies.
LASTING = ("--lease-duration", "1m")


def spread(url, count=12):
    """Descriptors for targets that belong to different shards."""
    return [{"url": url, "target": f"target{number}"} for number in range(count)]


def test_a_call_that_is_submitted_anywhere_is_executed_once_and_shown_everywhere(instances, receiver):
    target = receiver()
    _, services = instances(3, *LASTING)
    calls = [(service.submit(**call), call) for service in services for call in spread(target.url)]
    for identity, _ in calls:
        for service in services:
            call = service.ended(identity)
            assert (call["state"], len(call["attempts"])) == ("succeeded", 1)
    assert len(target.requests) == len(calls)
    listed = {c["id"] for c in services[2]("GET", "/v1/calls?limit=250").json["data"]}
    assert listed == {identity for identity, _ in calls}


def test_a_client_waits_at_any_instance_for_the_end_of_a_call_that_another_runs(instances, receiver):
    target = receiver()
    _, services = instances(2, *LASTING)
    for call in spread(target.url):
        for service in services:
            answer = service("POST", "/v1/calls", call, WAIT)
            assert (answer.status, answer.json["state"]) == (200, "succeeded")


def test_the_owner_of_a_call_tells_when_it_ends_so_that_the_store_is_seldom_asked(instances, receiver, database):
    hold = threading.Event()
    target = receiver(lambda request: hold.wait(BOUND) and (200, {}, b""))
    cluster, services = instances(2, *LASTING, on=database(log_statement="all"))
    log = cluster.folder / "log"
    looks = lambda: log.read_text(errors="replace").count("execute find_ended")
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        waits = [pool.submit(services[0], "POST", "/v1/calls", call, WAIT) for call in spread(target.url)]
        wait_until(lambda: len(target.requests) == len(waits), "all attempts are in flight")

        def is_seldom():
            begun, before = time.monotonic(), looks()
            wait_until(lambda: looks() >= before + 3, "the store is asked all the same")
            return time.monotonic() - begun > 1
        # Until the owners have said that they will tell, it is asked ten times a second, and then once.
        wait_until(is_seldom, "the store is seldom asked")
        hold.set()
        assert {(wait.result().status, wait.result().json["state"]) for wait in waits} == {(200, "succeeded")}


def test_the_owner_of_a_target_is_told_of_calls_that_another_instance_has_stored(instances, receiver):
    target = receiver()
    # The instances cannot reach each other, and forward nothing.
    cluster, services = instances(2, *LASTING, "--peer-url", "http://127.0.0.1:1")
    first, second = (id for (id,) in cluster.query("SELECT id FROM redial.sessions ORDER BY instance", "redial"))
    calls, news = [], []

    def is_told():
        for call in spread(target.url, 40):
            calls.append(services[0].submit(**call))
            assert services[0].ended(calls[-1])["state"] == "succeeded"
        news.extend(re.findall(r'"redial_(\d+)" with payload "calls"', "\n".join(run("SELECT 1"))))
        return news
    with cluster.session("redial") as run:
        for session in (first, second):
            run(f"LISTEN redial_{session}")
        # Without a message the owner would find the calls at some time, as it does until the instance has learned who it is.
        wait_until(is_told, "the other gets a message")
    assert set(news) == {second} and len(target.requests) == len(calls)


def test_commands_about_calls_and_targets_reach_the_owner(instances, receiver):
    down = receiver(lambda request: (503, {}, b""))
    _, services = instances(2, *LASTING)
    for number, call in enumerate(spread(down.url)):
        identity = services[0].submit(**call, delay="1h")
        service = services[number % 2]
        assert service("POST", f"/v1/targets/{call['target']}/pause").json["paused"]
        changed = service("PUT", f"/v1/targets/{call['target']}", {"maxInFlight": 3})
        assert changed.json["settings"]["maxInFlight"] == 3, changed.body
        assert all(s("GET", f"/v1/targets/{call['target']}").json["paused"] for s in services)
        cancelled = service("POST", f"/v1/calls/{identity}/cancel")
        assert (cancelled.status, cancelled.json["state"]) == (200, "cancelled"), cancelled.body
        assert service("POST", f"/v1/calls/{identity}/retry").status == 200
    assert services[0]("POST", "/v1/calls/call_01ARZ3NDEKTSV/cancel").status == 404


def test_patches_of_a_target_at_several_instances_at_once_all_hold(instances):
    _, services = instances(3, *LASTING)
    patch_at_once(services, "billing")


def test_all_targets_are_listed_by_any_instance(instances, receiver):
    target = receiver()
    _, services = instances(2, *LASTING)
    calls = spread(target.url)
    for call in calls:
        services[0].ended(services[0].submit(**call))
    names = sorted(call["target"] for call in calls)
    for service in services:
        found, cursor = [], ""
        while cursor is not None:
            page = service("GET", "/v1/targets?limit=5" + (f"&cursor={cursor}" if cursor else "")).json
            found += [t["key"] for t in page["data"]]
            cursor = page["nextCursor"]
        assert found == names


def test_equal_submissions_to_five_instances_at_once_are_one_call(instances, receiver):
    target = receiver()
    _, services = instances(5, *LASTING)
    call = {"url": target.url}

    def submit(number):
        return Client(services[number % 5].port)("POST", "/v1/calls", call, {"idempotency-key": "order-7"})

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(submit, range(200)))
    assert {answer.status for answer in answers} <= {200, 202}, {a.status: a.body for a in answers}
    assert len({answer.json["id"] for answer in answers}) == 1
    services[0].ended(answers[0].json["id"])
    assert len(target.requests) == 1


@pytest.mark.usefixtures("encrypted")
def test_policies_keys_and_endpoints_that_one_instance_gets_are_known_to_all(instances, receiver):
    target = receiver()
    _, services = instances(3, *LASTING)
    for number, service in enumerate(services):
        assert service("PUT", f"/v1/policies/p{number}", {"maxAttempts": 2}).status == 201
        # The instance that was asked knows it at once, the others soon.
        assert service("POST", "/v1/calls", {"url": target.url, "policy": f"p{number}"}).status == 202
        for other in services:
            wait_until(lambda: other("GET", f"/v1/policies/p{number}").status == 200, "another knows the policy")
    endpoint = services[1]("POST", "/v1/webhook-endpoints", {"url": target.url, "events": ["call.succeeded"]})
    assert endpoint.status == 201, endpoint.body
    wait_until(lambda: all(
        [e["id"] for e in s("GET", "/v1/webhook-endpoints").json["data"]] == [endpoint.json["id"]] for s in services),
        "all know the endpoint")
    made = services[2]("POST", "/v1/keys", {"name": "ops", "scopes": ["admin"]})
    assert made.status == 201, made.body
    wait_until(lambda: all(s("GET", "/v1/keys").status == 401 for s in services), "all need a key")
    bearer = {"authorization": f"Bearer {made.json['key']}"}
    assert all(s("GET", "/v1/keys", None, bearer).status == 200 for s in services)
    # What is forwarded to the leader is still done for the client with that key.
    assert all(s("PUT", "/v1/policies/last", {"maxAttempts": 4}, bearer).status in (200, 201) for s in services)


def test_each_instance_lists_all_with_their_shards(instances):
    _, services = instances(2, *LASTING)
    for number, service in enumerate(services):
        def both():
            listed = service("GET", "/v1/instances").json["data"]
            return len(listed) == 2 and all(i["shards"] == 32 for i in listed) and listed
        listed = wait_until(both, "it knows both")
        assert sorted(i["url"] for i in listed) == sorted(s.url for s in services)
        assert [i["url"] for i in listed if i["self"]] == [services[number].url]
        assert sum(i["leads"] for i in listed) == 1
    shown = run("instances", "--url", services[0].url)
    assert shown.returncode == 0 and len(re.findall(r"^\d +32 ", shown.stdout, re.MULTILINE)) == 2 and "leads" in shown.stdout, shown


def test_a_bulk_operation_reaches_the_calls_of_all_instances(instances, receiver):
    target = receiver()
    _, services = instances(2, *LASTING)
    for call in spread(target.url):
        services[0].submit(**call, delay="1h")
    begun = services[1]("POST", "/v1/operations", {"action": "cancel", "filter": {"state": "scheduled"}})
    assert begun.status == 202, begun.body

    def done():
        operation = services[0]("GET", f"/v1/operations/{begun.json['id']}").json
        return operation["state"] == "completed" and operation

    operation = wait_until(done, "the operation ends")
    assert (operation["done"], operation["skipped"]) == (12, 0)


def test_a_request_that_only_claims_to_be_of_an_instance_is_refused(instances):
    _, services = instances(1)
    forged = {
        "redial-forwarded": "1", "redial-forwarded-caller": "default admin 1 1",
        "redial-forwarded-signature": f"t={int(time.time())},v1,AAAA"}
    answer = services[0]("GET", "/v1/calls", None, forged)
    assert (answer.status, answer.json["code"]) == (403, "notAPeer")


@pytest.mark.parametrize("signal", ["kill", "terminate"])
def test_what_an_instance_leaves_is_taken_over(instances, receiver, signal):
    target = receiver()
    cluster, services = instances(2, *(LASTING if signal == "terminate" else []))
    query = lambda text: cluster.query(text, "redial")
    calls = [services[0].submit(**call, delay="2s") for call in spread(target.url)]
    ends = query("SELECT b.expires_at FROM redial.beats b JOIN redial.sessions s ON s.id = b.session "
                 f"WHERE s.address = '{services[1].url}'")[0][0]
    getattr(services[1], signal)()
    if signal == "terminate":
        # Nobody waits for a lease that was given back.
        assert query("SELECT address FROM redial.sessions") == [[services[0].url]]
    shares = "SELECT count(DISTINCT owner), count(*) FROM redial.leases WHERE owner IS NOT NULL"
    wait_until(lambda: query(shares) == [["1", "64"]], "the other has all shards")
    if signal == "kill":
        # The lease was renewed after this moment, or ended with it.
        assert query(f"SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8 >= {ends}") == [["t"]]
    for identity in calls:
        call = services[0].ended(identity)
        *interrupted, last = [attempt["outcome"] for attempt in call["attempts"]]
        assert (call["state"], last) == ("succeeded", "answered") and set(interrupted) <= {"interrupted"}, call
        # An attempt that was in flight when the instance died may have reached the target.
        hits = [request for request in target.requests if request.headers["idempotency-key"] == identity]
        assert 1 <= len(hits) <= 1 + len(interrupted) and (signal == "kill" or not interrupted), call


@pytest.mark.part("ratios")
@pytest.mark.parametrize("signal, bound", [("kill", 3.5), ("terminate", 1.5)])
def test_what_an_instance_leaves_is_taken_over_in_the_time_that_the_readme_names(instances, signal, bound):
    cluster, services = instances(2)
    began = time.monotonic()
    getattr(services[1], signal)()
    wait_until(lambda: cluster.query(
        "SELECT count(DISTINCT owner), count(*) FROM redial.leases WHERE owner IS NOT NULL", "redial") == [["1", "64"]],
        "the other has all shards")
    # The README promises the time, so here it is measured, in the campaign alone. The lease is 3 s, and half a second more is
    # allowed; after SIGTERM nobody waits for it. Half a second is for looking.
    assert time.monotonic() - began < bound + 0.5


def test_the_readmes_instances_answer_as_it_says(database, made):
    cluster, target = database(), free_port()
    section = (ROOT / "README.md").read_text().split("## More than one machine")[1].split("\n## ")[0]
    script = re.search(r"```bash\n(.*?)```", section, re.S)[1]
    first, second = free_port(), free_port()
    for old, new in {
            "sudo -u postgres ": f"{databases.PROGRAMS[0]}/", "/run/postgresql": str(cluster.folder), ":9090": f":{target}",
            "wait=10": "wait=50", ":8081": f":{first}", ":8082": f":{second}", "redial serve": f"{BINARY} serve",
            "redial flaky": f"{BINARY} flaky --listen 127.0.0.1:{target}"}.items():
        assert old in script, f"{old} is not in the README any more; so must this test change"
        script = script.replace(old, new)
    cluster.query("DROP DATABASE redial")
    # As a user of the machine, whose name is also that of a role. The test's own server trusts everybody.
    user = pwd.getpwuid(os.getuid()).pw_name
    env = environment({"PGHOST": str(cluster.folder), "USER": user})
    made_by, instances = script.split("export ")
    subprocess.run(["bash", "-ec", made_by], env=env | {"PGUSER": "postgres"}, capture_output=True, timeout=BOUND, check=True)
    start, call = f"export {instances}".split("curl ")
    shell = subprocess.Popen(
        ["bash", "-c", start + "trap 'kill $(jobs -p); wait' TERM\nwait\n"], env=env, cwd=cluster.folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for port in (first, second):
            wait_until(lambda: is_ready(port), "an instance is ready")
        shown = json.loads(subprocess.run(
            ["bash", "-c", "curl " + call], capture_output=True, text=True, timeout=BOUND, check=True).stdout)
        assert shown["state"] == "succeeded", shown
        assert Client(second)("GET", f"/v1/calls/{shown['id']}").json["state"] == "succeeded"
    finally:
        shell.terminate()
        shell.wait(BOUND)


def test_the_first_commands_of_the_page_start_an_instance_that_asks_for_the_key(database, made):
    cluster, port = database(), free_port()
    cluster.query("DROP DATABASE redial")
    cluster.query("DROP ROLE IF EXISTS redial")
    cluster.query("CREATE ROLE redial LOGIN CREATEDB")
    section = (ROOT / "docs/replicas.md").read_text().split("## Start")[1].split("\n## ")[0]
    script = re.search(r"```bash\n(.*?)```", section, re.S)[1]
    for old, new in {
            "createdb -h db.example.com": f"{databases.PROGRAMS[0]}/createdb -h {cluster.folder}",
            "redial@db.example.com/redial": f"redial@/redial?host={cluster.folder}", ":8080": f":{port}",
            "redial keys": f"{BINARY} keys", "redial serve": f"exec {BINARY} serve"}.items():
        assert old in script, f"{old} is not in the page any more; so must this test change"
        script = script.replace(old, new)
    # The commands before the last, which goes on.
    prepare, serve = script.strip().rsplit("\n", 1)
    key = subprocess.run(
        ["bash", "-ec", prepare], env=environment(), capture_output=True, text=True, timeout=BOUND, check=True).stdout.strip()
    assert key.startswith("rdl_") and "--listen 0.0.0.0:" in serve
    service = subprocess.Popen(["bash", "-c", serve], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: is_ready(port), "the instance is ready")
        client = Client(port)
        assert client("GET", "/v1/calls").status == 401
        assert client("GET", "/v1/calls", headers={"authorization": f"Bearer {key}"}).status == 200
        # While an instance works, keys are made in the database too, and it knows them soon.
        more = run("keys", "create", "--scope", "admin", "--name", "more", "--store", f"postgresql://redial@/redial?host={cluster.folder}")
        assert more.returncode == 0, more
        fresh = {"authorization": f"Bearer {more.stdout.strip()}"}
        wait_until(lambda: client("GET", "/v1/calls", headers=fresh).status == 200, "the instance knows the new key")
    finally:
        service.terminate()
        service.wait(BOUND)


def is_ready(port):
    try:
        return Client(port)("GET", "/readyz").status == 200
    except OSError:
        return False


def test_the_compose_file_names_what_exists_and_nginx_takes_its_configuration(tmp_path):
    compose = yaml.safe_load((ROOT / "docker/compose.postgres.yaml").read_text())
    instances = [name for name in compose["services"] if re.fullmatch(r"redial\d", name)]
    assert [compose["services"][name]["hostname"] for name in instances] == instances == ["redial1", "redial2", "redial3"]
    text = (ROOT / "docker/nginx.conf").read_text()
    assert re.findall(r"server (\w+):8080", text) == instances
    # The names are the containers' and resolve only there.
    for name in instances:
        text = text.replace(f"{name}:8080", "127.0.0.1:8080")
    # Its own folders are root's.
    own = "".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")) + "access_log off;"
    (tmp_path / "nginx.conf").write_text(text.replace("http {", "http {" + own))
    checked = subprocess.run(
        [needs.program("nginx"), "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-g", "pid nginx.pid; error_log stderr;"],
        capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("flags, secrets", [
    (["--admin-key", "admin-key-of-16-characters"], ["admin-key-of-16-characters"]),
    (["--admin-key=admin-key-of-16-characters"], ["admin-key-of-16-characters"]),
    (["--store", "postgresql://ada:s3cret@127.0.0.1:PORT/x?password=0ther&sslmode=disable"], ["s3cret", "0ther"]),
])
def test_secrets_on_the_command_line_are_not_in_the_list_of_processes_nor_in_messages(tmp_path, flags, secrets):
    with socket.socket() as silent:
        # A database that does not answer, so that the service still starts while this looks.
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        store = [] if "--store" in flags else ["--store", f"sqlite:{tmp_path}/a.db"]
        flags = [flag.replace("PORT", str(silent.getsockname()[1])) for flag in flags]
        process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", *store, *flags], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=environment(), text=True)
        shown = pathlib.Path(f"/proc/{process.pid}/cmdline")
        try:
            wait_until(lambda: "xxxx" in shown.read_text(), "the secrets are hidden")
            assert not any(secret in shown.read_text() for secret in secrets), shown.read_text()
        finally:
            process.terminate()
            output, _ = process.communicate(timeout=BOUND)
    assert not any(secret in output for secret in secrets), output
