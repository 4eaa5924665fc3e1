"""The outbox of the clients: a call is made if the transaction that submits it commits, and only then, whatever crashes."""

import contextlib
import json
import os
import random
import re
import sqlite3
import sys
import time

import pytest

import needs
from client_packages import ADAPTERS, checked, here
from crashes import rounds_wanted
from outboxes import APPLICATIONS, NODE_PACKAGES, RELAYS, Process, is_empty, node_package, orders, rows, shop
from processes import NO_BREAKER, ROOT, free_port, wait_until

PAGE = ROOT / "docs/outbox.md"
KEY = "0123456789abcdef"


@pytest.fixture(scope="session")
def client(packages):
    """The Python client, in this process."""
    sys.path.append(str(packages.python / "site"))
    import redial_client
    import redial_client.outbox
    return redial_client


@pytest.fixture
def outbox(client, made, tmp_path):
    """Makes a database with an outbox: `outbox("postgresql")`."""
    def start(kind):
        made.append(database := shop(kind, tmp_path, client.outbox.TABLES))
        return database
    return start


@pytest.fixture
def process(packages, made, tmp_path):
    """Starts or runs an application or a relay."""
    def of(kind, place, what, target="", **env):
        made.append(one := Process(packages, tmp_path, kind, getattr(place, "place", place), what, target, **env))
        return one
    return of


def names(receiver):
    """The orders that a target has seen, each with the ids of the calls that it came with."""
    seen = {}
    for request in list(receiver.requests):
        seen.setdefault(request.path[1:], set()).add(request.headers["idempotency-key"])
    return seen


@pytest.mark.parametrize("kind", APPLICATIONS)
def test_a_call_is_made_if_its_transaction_commits(kind, outbox, process, redial, receiver):
    database, service, target = outbox(kind), redial(), receiver()
    applications = [process(one, database, "some", target.url).start() for one in APPLICATIONS[kind]]
    for one in applications:
        assert one.process.wait(60) == 0, one.log.read_text()
    found = rows(database)
    printed = {one.log.name: one.log.read_text().split() for one in applications}
    committed = {f"{one}-{name}" for one in APPLICATIONS[kind] for name in ("first", "fourth")}
    assert orders(database) == committed
    assert {key for key, _ in found} == {keys[n] for keys in printed.values() for n in (0, 3)}
    assert {key for key, _ in found} > {f"{one}-fourth" for one in APPLICATIONS[kind]}
    for _, text in found:
        call = json.loads(text)
        assert text.isascii() and call["json"]["note"] == 'é € 🙂 \\ " %s ?' and call["onRepeat"] == "answer"
    # Several relays share the work.
    relays = [process(one, database, "relay", REDIAL_SERVER=service.url).start() for one in RELAYS[kind]]
    wait_until(lambda: all("relays" in one.log.read_text() for one in relays), "all relays run")
    wait_until(lambda: is_empty(database), "all rows are relayed")
    wait_until(lambda: set(names(target)) == committed, "all calls are made")
    calls = {call["id"] for call in service("GET", "/v1/calls?limit=250").json["data"]}
    assert len(calls) == len(committed) and set().union(*names(target).values()) == calls
    keyed = service("GET", f"/v1/calls?idempotencyKey={APPLICATIONS[kind][0]}-fourth").json["data"]
    assert [call["url"] for call in keyed] == [f"{target.url}/{APPLICATIONS[kind][0]}-fourth"]
    for one in relays:
        assert one.terminate() == 0, one.log.read_text()
    assert [tuple(map(int, row)) for row in database.query("SELECT held_until FROM redial_outbox_relay")] == [(0,)]


def problem(status, code):
    body = {"type": f"urn:redial:problem:{code}", "title": "A title", "status": status, "code": code,
            # Longer than is stored, and with what some databases cannot store.
            "detail": f"/{code} is wrong." + " é\0" * 10_000}
    return status, {"content-type": "application/problem+json"}, json.dumps(body).encode()


ACCEPTED = 202, {"content-type": "application/json"}, b'{"id": "call_1M7YBERJP0000"}'


class Front:
    """A service of which the test says what it answers, by the last part of the call's URL."""

    def __init__(self, receiver):
        self.answers, self.always = {}, None
        self.asked, self.accept = [], lambda call: None
        self.server = receiver(self.answer)

    def answer(self, request):
        name = json.loads(request.body)["url"].rsplit("/", 1)[1] if request.body.startswith(b"{") else request.body.decode()
        self.asked.append((name, request.headers["idempotency-key"]))
        self.accept(request.body)
        answers = self.answers.get(name, [])
        return self.always or (answers.pop(0) if len(answers) > 1 else answers[0] if answers else ACCEPTED)

    def times(self, name):
        return sum(asked == name for asked, _ in self.asked)


@pytest.mark.parametrize("kind, relay", [("sqlite", "sqlite3"), ("postgresql", "pg"), ("sqlite", "go-sqlite3")])
def test_a_relay_keeps_what_is_not_accepted(kind, relay, outbox, process, receiver):
    database, front = outbox(kind), Front(receiver)
    front.answers = {
        "invalid": [problem(422, "invalidDescriptor")], "trouble": [problem(500, "unknown")],
        "a1": [problem(503, "storageUnavailable"), ACCEPTED], "no JSON": [problem(400, "invalidJSON")]}

    def insert(key, text):
        database.query(f"INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES ('{key}', '{text}')")

    for name in ("invalid", "trouble", "a1", "a2", "a3", "good"):
        more = {"orderingKey": "a"} if name[0] == "a" else {}
        insert(name, json.dumps({"url": f"http://a.example/{name}"} | more))
    insert("text", "no JSON")
    insert("not a key €", json.dumps({"url": "http://a.example/never"}))
    one = process(relay, database, "relay", REDIAL_SERVER=front.server.url).start()
    state = "idempotency_key, coalesce(problem_code, 'none')"
    wait_until(lambda: rows(database, state) == [
        ("invalid", "invalidDescriptor"), ("trouble", "none"), ("text", "invalidJSON"), ("not a key €", "invalidIdempotencyKey")],
        "all others are accepted")
    assert [name for name, _ in front.asked if name[0] == "a"] == ["a1", "a1", "a2", "a3"]
    assert all(name == key or name == "no JSON" for name, key in front.asked)
    assert rows(database, "problem_detail")[0][0].startswith("/invalidDescriptor is wrong. ?? ??")
    assert front.times("invalid") == 1 and front.times("never") == 0
    # Somebody mends two, and deletes one.
    database.query("DELETE FROM redial_outbox WHERE idempotency_key LIKE 'not a key%'")
    mended = json.dumps({"url": "http://a.example/mended"})
    database.query(f"UPDATE redial_outbox SET descriptor = '{mended}', problem_code = NULL WHERE problem_code IS NOT NULL")
    wait_until(lambda: rows(database, state) == [("trouble", "none")], "the mended rows are accepted")
    front.answers.clear()
    wait_until(lambda: is_empty(database), "the service has no trouble any more")
    # A service that takes no calls, or something else in its place, changes no row.
    insert("later", json.dumps({"url": "http://a.example/later"}))
    for answer, logged in (
            (problem(401, "invalidAPIKey"), "invalidAPIKey (401)"), ((200, {"content-type": "text/html"}, b"<p>Welcome"), "<p>Welcome"),
            ((200, {}, b"[]"), "[]"), (problem(400, ""), " (400)"), (problem(503, "backlogFull"), "backlogFull (503)")):
        front.always = answer
        wait_until(lambda: re.search(f"rows of the outbox wait: .*{re.escape(logged)}", one.log.read_text()), f"{logged} is logged")
        assert ("later", "none") in rows(database, state)
    front.server.end()
    insert("last", json.dumps({"url": "http://a.example/last"}))
    front.server = receiver(front.answer, front.server.port)
    front.always = None
    wait_until(lambda: is_empty(database), "all rows are accepted")
    assert one.terminate() == 0, one.log.read_text()
    log = one.log.read_text()
    assert "was refused: invalidDescriptor: /invalidDescriptor is wrong." in log and "Correct its descriptor" in log
    assert "the outbox is relayed again" in log


def test_a_row_that_is_submitted_again_does_not_run_its_call_again(client, outbox, redial, receiver):
    database, service = outbox("sqlite"), redial()
    target, store = receiver(lambda request: (503, {}, b"")), sqlite3.connect(database.place)
    outgoing = client.outbox.Outbox(sqlite3.paramstyle)
    with client.Redial(service.url) as remote, store:
        relay = outgoing.relay(remote, lambda: sqlite3.connect(database.place))
        # As with a driver that `submit` does not know.
        statement, values = outgoing.insertion({"url": target.url})
        store.execute(statement, values)
        store.commit()
        ((key, text),) = rows(database)
        assert key == values[0]
        assert relay.run_once() == 1 and is_empty(database)
        (call,) = remote.list(idempotency_key=key)
        remote.cancel(call["id"])
        # As if the relay had ended before it deleted the row.
        store.execute("INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES (?, ?)", (key, text))
        store.commit()
        assert relay.run_once() == 1 and is_empty(database)
        assert [one["state"] for one in remote.list()] == ["cancelled"]
        # Another call under the key is refused, and can be seen.
        outgoing.submit(store, {"url": target.url, "method": "PUT"}, idempotency_key=key)
        store.commit()
        assert relay.run_once() == 0
        assert rows(database, "idempotency_key, problem_code") == [(key, "idempotencyKeyReused")]
    store.close()


def test_one_relay_works_and_another_takes_over(outbox, process, receiver):
    database, front = outbox("sqlite"), Front(receiver)

    def holder():
        found = database.query("SELECT holder, held_until FROM redial_outbox_relay")
        return found and found[0]

    def relayed(name):
        database.query("INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES "
                       f"('{name}', '{json.dumps({'url': f'http://a.example/{name}'})}')")
        wait_until(lambda: is_empty(database), f"{name} is relayed")

    first = process("sqlite3", database, "relay", REDIAL_SERVER=front.server.url).start()
    wait_until(holder, "the first one works")
    second = process("go-sqlite3", database, "relay", REDIAL_SERVER=front.server.url).start()
    relayed("a")
    before = holder()[0]
    wait_until(lambda: holder()[1] > time.time() + 8, "it goes on to hold")
    assert holder()[0] == before
    first.kill()
    # It holds for ten seconds at most; a later end is one of a wrong clock.
    for until in (0, int(time.time()) + 86_400):
        database.query(f"UPDATE redial_outbox_relay SET holder = 'nobody', held_until = {until}")
        relayed(f"b{until}")
        wait_until(lambda: holder()[0] not in (before, "nobody"), "it holds")
    assert second.terminate() == 0
    assert [name for name, _ in front.asked] == ["a", "b0", front.asked[-1][0]]


@pytest.mark.parametrize("kind, relay", [("sqlite", "sqlite3"), ("postgresql", "pg"), ("sqlite", "go-sqlite3")])
def test_a_relay_that_does_not_reach_the_service_lets_another_work(kind, relay, outbox, process, receiver):
    database, front = outbox(kind), Front(receiver)
    nobody = f"http://127.0.0.1:{free_port()}"
    for name in ("a", "b"):
        database.query("INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES "
                       f"('{name}', '{json.dumps({'url': f'http://a.example/{name}'})}')")
    one = process(relay, database, "relay", REDIAL_SERVER=nobody).start()
    wait_until(lambda: "rows of the outbox wait: no answer" in one.log.read_text(), "it does not reach the service")
    log = one.log.rename(one.log.with_suffix(".first"))
    process(relay, database, "relay", REDIAL_SERVER=front.server.url).start()
    wait_until(lambda: is_empty(database), "the other one relays the rows")
    assert len(front.asked) == 2 and one.process.poll() is None, log.read_text()


def test_a_relay_that_was_killed_submits_its_rows_again_under_their_keys(outbox, process, receiver):
    database, front = outbox("sqlite"), Front(receiver)
    one = process("sqlite3", database, "relay", REDIAL_SERVER=front.server.url)

    def killed(call):
        """The call is accepted, and the relay does not learn it."""
        if b"/b" in call:
            one.kill()
    front.accept = killed
    for name in ("a", "b", "c"):
        database.query("INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES "
                       f"('{name}', '{json.dumps({'url': f'http://a.example/{name}'})}')")
    one.start()
    wait_until(lambda: one.process.poll() is not None, "it is killed")
    assert len(rows(database)) == 3 and ("b", "b") in front.asked
    front.accept = lambda call: None
    database.query("UPDATE redial_outbox_relay SET held_until = 0")
    assert process("sqlite3", database, "relay", REDIAL_SERVER=front.server.url).start()
    wait_until(lambda: is_empty(database), "the rows are relayed")
    # A request that the kill has cut off has no body.
    assert front.times("b") == 2 and all(name == key for name, key in front.asked if name), front.asked


def test_mistakes_are_refused_when_they_are_made(client, outbox, packages):
    from redial_client.outbox import Outbox
    database = outbox("sqlite")
    with pytest.raises(ValueError, match="qmark, format, pyformat, numeric, numeric_dollar, unlike 'named'"):
        Outbox("named")
    assert Outbox("numeric_dollar").insertion({"url": "http://a.example"})[0].endswith("VALUES ($1, $2)")
    with contextlib.closing(sqlite3.connect(database.place)) as store:
        for key in ("", "a b", "é", "a" * 256):
            with pytest.raises(ValueError, match="1 to 255"):
                Outbox("qmark").submit(store, {"url": "http://a.example"}, idempotency_key=key)
        with pytest.raises(ValueError):
            Outbox("qmark").submit(store, {"url": "http://a.example", "json": float("nan")})
    done = checked(sys.executable, "-c", f'''
import sys
sys.path += [{str(ADAPTERS)!r}, *{sys.path!r}]
from outbox_application import kind_of
django = kind_of("django-sqlite", {str(database.place)!r})
try:
    django.outbox.submit(django.connection, {{"url": "http://a.example"}})
except RuntimeError as error:
    print(error)
''')
    assert done.startswith("outside of transaction.atomic() Django commits"), done
    assert is_empty(database)
    script = """
import { createRequire } from "node:module";
import { Outbox } from "redial-client";
const pg = createRequire(process.env.HERE)("pg");
const call = { url: "http://a.example" }, outbox = new Outbox({ placeholders: "$1" });
for (const wrong of [
  () => new Outbox({ placeholders: "%s" }), () => outbox.submit(new pg.Pool(), call),
  () => outbox.submit({}, call, { idempotencyKey: "a b" }), () => outbox.submit({}, call, { idempotencyKey: "" })]) {
  try { await wrong(); console.log("nothing is wrong"); } catch (error) { console.log(error.message); }
}
"""
    done = checked(needs.program("node"), "--input-type=module", "-e", script, cwd=packages.typescript, env=packages.environment(
        NODE_PATH=NODE_PACKAGES, HERE=str(packages.typescript) + "/"))
    assert [line.split(",")[0] for line in done.splitlines()] == [
        'the placeholders of a driver are "$1" or "?"', "a pool has no transaction; submit with the client that has begun it",
        "an idempotency key in an outbox has 1 to 255 visible ASCII characters",
        "an idempotency key has 1 to 255 printable ASCII characters"]


def test_the_command_relays_once_and_prints_the_tables(client, outbox, packages, process, receiver):
    database, front = outbox("sqlite"), Front(receiver)
    command = [sys.executable, "-m", "redial_client.outbox"]
    env = process("sqlite3", database, "relay", REDIAL_SERVER=front.server.url).env
    assert checked(*command, "outbox_application:relay", "--once", env=env) == "0 calls submitted\n"
    database.query("INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES ('a', '{\"url\": \"http://a.example\"}')")
    front.always = problem(503, "draining")
    with pytest.raises(AssertionError, match="rows are left in the outbox: draining"):
        checked(*command, "outbox_application:relay", "--once", env=env)
    front.always = None
    assert checked(*command, "outbox_application:relay", "--once", env=env) == "1 calls submitted\n"
    with pytest.raises(AssertionError, match="nowhere:relay: No module named 'nowhere'"):
        checked(*command, "nowhere:relay", env=env)
    assert checked(*command, "--tables", "mysql", env=env) == "".join(f"{one};\n" for one in client.outbox.TABLES["mysql"])


def test_a_relay_in_go_relays_once_and_when_it_is_woken(outbox, process, receiver):
    database, front = outbox("sqlite"), Front(receiver)
    once = process("go-sqlite3", database, "once", REDIAL_SERVER=front.server.url)
    assert once.output() == "0 <nil>\n"
    for name in ("a1", "b", "c"):
        database.query("INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES "
                       f"('{name}', '{json.dumps({'url': f'http://a.example/{name}'})}')")
    front.answers = {"b": [problem(503, "draining")]}
    assert re.match(r"2 draining \(503\)", once.output()) and rows(database, "idempotency_key") == [("b",)]
    front.answers = {}
    assert once.output() == "1 <nil>\n" and is_empty(database)
    process("go-sqlite3", database, "woken", "http://a.example", REDIAL_SERVER=front.server.url).output()
    assert is_empty(database) and orders(database) == {"a", "b", "c"} and front.times("c") == 2
    # It does not hold any more.
    assert database.query("SELECT held_until FROM redial_outbox_relay") == [(0,)]


def test_the_tables_are_the_same_everywhere(client, packages):
    script = "import { outboxTables } from 'redial-client'; console.log(JSON.stringify(outboxTables));"
    typescript = json.loads(checked(needs.program("node"), "--input-type=module", "-e", script, cwd=packages.typescript))
    assert typescript == {kind: list(statements) for kind, statements in client.outbox.TABLES.items()}
    application = packages.outbox_application
    assert [*typescript.values()] == [json.loads(checked(application, kind, "", "", "tables")) for kind in ("go-pq", "go-mysql", "go-sqlite3")]
    found = re.findall(r"```sql\n(CREATE.*?)```", PAGE.read_text(), re.S)
    assert [[one.strip() for one in block.split(";\n") if one.strip()] for block in found] == [*typescript.values()]


def blocks(language):
    """The programs of the page, by the names in their first lines."""
    found = re.findall(rf"```{language}\n(?:#|//) (\S+)\n(.*?)```", PAGE.read_text(), re.S)
    assert len(found) == len(re.findall(rf"^```{language}$", PAGE.read_text(), re.M))
    return dict(found)


def test_the_programs_of_the_page_run(packages, process, database, redial, receiver, tmp_path):
    service, target = redial(), receiver()
    folder = tmp_path / "programs"
    for name, text in (blocks("python") | blocks("js") | blocks("go")).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(here(text, service, target))
    cluster = database()
    cluster.query("CREATE TABLE orders (id integer PRIMARY KEY, state text); INSERT INTO orders VALUES (1, 'new'), (2, 'new'), (4, 'new')", "redial")
    env = process("pg", cluster.folder, "relay", REDIAL_SERVER=service.url).env
    env |= {"DATABASE_URL": f"postgresql+psycopg://postgres@/redial?host={cluster.folder}"}
    checked(sys.executable, "-c", "import shop; shop.make_tables(); shop.charge(1, 100)", cwd=folder, env=env)
    done = checked(sys.executable, "-m", "redial_client.outbox", "shop:relay", "--once", cwd=folder, env=env)
    assert done == "1 calls submitted\n"
    # The same tables from Node.js, where an order that is not there is charged, too.
    modules = folder / "node_modules"
    modules.mkdir()
    (modules / "redial-client").symlink_to(packages.typescript / "node_modules/redial-client")
    (modules / "pg").symlink_to(node_package("pg"))
    cluster.query("DROP TABLE redial_outbox, redial_outbox_relay", "redial")
    program = (
        "import { charge, makeTables, relay } from './shop.mjs'; await makeTables(); await charge(2, 5);"
        "console.log(await relay.runOnce()); process.exit(0);")
    done = checked(needs.program("node"), "--input-type=module", "-e", program, cwd=folder, env=env | {
        "DATABASE_URL": f"postgresql://postgres@localhost/redial?host={cluster.folder}"})
    assert done == "1\n"
    # In Go, with a relay that is stopped like any server.
    cluster.query("DROP TABLE redial_outbox, redial_outbox_relay", "redial")
    (program,) = packages.programs("outbox", [[(folder / "shop.go").read_text()]], ["github.com/lib/pq"])
    one = process("psycopg", cluster.folder, "relay")
    one.command = [program]
    one.env = env | {"DATABASE_URL": f"user=postgres dbname=redial host={cluster.folder}"}
    one.start()
    wait_until(lambda: len(target.requests) == 3, "the order is charged")
    assert one.terminate() == 0, one.log.read_text()
    assert cluster.query("SELECT DISTINCT state FROM orders", "redial") == [["charging"]]
    # Django, with a relay that is stopped like any server.
    (folder / "shop/__init__.py").touch()
    (folder / "shop/migrations/__init__.py").touch()
    (folder / "settings.py").write_text(
        f'SECRET_KEY = "a"\nINSTALLED_APPS = ["shop"]\nUSE_TZ = True\n'
        f'DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": "{folder}/shop.sqlite3"}}}}\n')
    (folder / "shop.py").unlink()
    django = [sys.executable, "-m", "django"]
    env |= {"DJANGO_SETTINGS_MODULE": "settings"}
    env["PYTHONPATH"] += os.pathsep + str(folder)
    checked(*django, "migrate", cwd=folder, env=env)
    checked(*django, "shell", "-c", "from shop.calls import charge; charge(3, 7)", cwd=folder, env=env)
    relay = process("django-sqlite", folder, "relay")
    relay.command, relay.env = [*django, "relay_outbox"], env
    relay.start()
    wait_until(lambda: len(target.requests) == 4, "four orders are charged")
    charged = sorted((json.loads(request.body) for request in target.requests), key=lambda order: order["order"])
    assert charged == [{"order": order, "amount": amount} for order, amount in ((1, 100), (2, 5), (3, 7), (4, 9))]


class CrashLoop:
    """Applications, relays, the database and the service, of which one after the other is killed and started again."""

    def __init__(self, database, service, applications, relays, seed):
        self.database, self.service, self.chance = database, service, random.Random(seed)
        self.applications, self.relays = applications, relays
        self.kills = {}

    def round(self):
        time.sleep(self.chance.uniform(0.02, 0.5))
        victims = {"application": self.applications, "relay": self.relays, "service": [self.service]}
        if hasattr(self.database, "kill"):
            victims["database"] = [self.database]
        what = self.chance.choice([*victims])
        victim = self.chance.choice(victims[what])
        victim.kill()
        if what == "relay":
            # Mostly without the ten seconds after which it holds no more.
            if self.chance.random() < 0.9:
                self.database.query("UPDATE redial_outbox_relay SET held_until = 0")
        victim.start()
        self.kills[what] = self.kills.get(what, 0) + 1


def kinds_of(names):
    """The kinds of applications that have made these orders, each `KIND-PROCESS-NUMBER`."""
    return {name.rsplit("-", 2)[0] for name in names}


def crash_loop(kind, kinds, relays, rounds, outbox, process, redial, receiver):
    """Kills at random moments; then compares the orders with the requests of the target."""
    database, service, target = outbox(kind), redial(*NO_BREAKER, "--log-level", "error"), receiver()
    applications = [process(one, database, "many", target.url) for one in kinds]
    relays = [process(one, database, "relay", REDIAL_SERVER=service.url) for one in relays]
    for one in [*applications, *relays]:
        one.start()
    wait_until(lambda: kinds_of(names(target)) == set(kinds), "all applications make calls")
    loop = CrashLoop(database, service, applications, relays, int(os.environ.get("REDIAL_CRASH_SEED", 1)))
    for _ in range(rounds):
        loop.round()
    for one in applications:
        one.kill()
    database.query("UPDATE redial_outbox_relay SET held_until = 0")
    wait_until(lambda: is_empty(database), "all rows are relayed", 120)
    wait_until(lambda: service.metrics()["redial_backlog_calls"] == 0, "all calls end", 120)
    committed, seen = orders(database), names(target)
    figures = {"kills": loop.kills, "committed": len(committed), "requests": len(target.requests)}
    print(json.dumps({"database": kind, **figures}))
    assert not committed - set(seen), "calls are lost"
    assert not set(seen) - committed, "calls were made without a commit"
    assert not [name for name, calls in seen.items() if len(calls) > 1], "calls were made twice"
    assert not [name for name in seen if name.endswith("undone")]
    for one in {name.rsplit("-", 1)[0] for name in seen}:
        numbers = [int(name.rsplit("-", 1)[1]) for name in seen if name.startswith(one + "-")]
        ordered = [number for number in numbers if number % 4 == 0]
        assert ordered == sorted(ordered), f"calls of {one} were made in another order"
    assert len(committed) > 50 and kinds_of(committed) == set(kinds)
    assert database.query("SELECT count(*) FROM redial_outbox WHERE problem_code IS NOT NULL")[0][0] in (0, "0")


def test_commit_and_call_do_not_part_over_a_few_kills(outbox, process, redial, receiver):
    crash_loop("postgresql", ["psycopg", "pg", "go-pq"], ["psycopg", "pg", "go-pq"], 6, outbox, process, redial, receiver)


@pytest.mark.part("crashes")
@pytest.mark.parametrize("kind", APPLICATIONS)
def test_commit_and_call_do_not_part_over_kills_at_random_moments(kind, outbox, process, redial, receiver):
    crash_loop(kind, APPLICATIONS[kind], RELAYS[kind], 5 * rounds_wanted(20), outbox, process, redial, receiver)
