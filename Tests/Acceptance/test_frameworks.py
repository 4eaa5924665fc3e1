"""The pages about frameworks: their code, as it is written there, runs in the framework and with a real service."""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest

from client_packages import checked
from processes import BOUND, ROOT, Client, free_port, wait_until

pytestmark = pytest.mark.part("clients")

PAGES = ROOT / "docs/frameworks"
KEY = "0123456789abcdef"
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="


def write_files(page, folder, language="python"):
    """Writes the blocks of a page into the files that their first lines name; what a page shows in parts is joined."""
    texts = {}
    for block in re.findall(rf"```{language}\n(.*?)```", (PAGES / page).read_text(), re.S):
        head, _, text = block.partition("\n")
        texts.setdefault(re.fullmatch(r"(?:#|//) (\S+)", head)[1], []).append(text)
    for name, parts in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n\n".join(parts))
    return texts


class Background:
    """A process of the application."""

    def __init__(self, folder, command, env):
        self.log = folder / f"{pathlib.PurePath(command[-1]).name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([str(part) for part in command], cwd=folder, env=env, stdout=log, stderr=log)

    def end(self):
        self.process.terminate()
        self.process.wait(BOUND)


class Application(Background):
    """Its server."""

    def __init__(self, folder, command, env, port):
        super().__init__(folder, command, env)
        self.port = port
        wait_until(self.answers, "the application listens")

    def answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self("GET", "/").status
        except OSError:
            return False

    def __call__(self, *request, **more):
        return Client(self.port)(*request, **more)


def busy_once():
    """A target that is not available at first."""
    answers = iter([(503, {}, b"later")])
    return lambda request: next(answers, (200, {}, b"done"))


@pytest.fixture
def shop(redial, receiver, packages, tmp_path, made):
    """A service, a payment service, and the environment of an application that uses them."""
    service = redial(env={"REDIAL_WEBHOOK_SECRET": SECRET})
    target, port = receiver(busy_once()), free_port()
    env = packages.environment(
        REDIAL_SERVER=service.url, REDIAL_WEBHOOK_SECRET=SECRET, PAYMENT_URL=target.url + "/charges",
        MAIL_URL=target.url + "/mails", WEBHOOK_URL=f"http://127.0.0.1:{port}/webhooks/redial")
    env["PYTHONPATH"] += os.pathsep + str(tmp_path)
    return service, target, port, env


def forged(application):
    """The status of a webhook that nobody has signed."""
    return application("POST", "/webhooks/redial", {"type": "call.succeeded"}, {
        "webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"}).status


def test_django(shop, tmp_path, made):
    service, target, port, env = shop
    write_files("django.md", tmp_path)
    settings = tmp_path / "settings.py"
    settings.write_text("import os\n" + settings.read_text() + f'''
SECRET_KEY = "a"
INSTALLED_APPS = ["shop"]
ROOT_URLCONF = "shop.urls"
ALLOWED_HOSTS = ["127.0.0.1"]
USE_TZ = True
DATABASES = {{"default": {{
    "ENGINE": "django.db.backends.sqlite3", "NAME": "{tmp_path}/shop.sqlite3", "OPTIONS": {{"transaction_mode": "IMMEDIATE"}}}}}}
''')
    env = env | {"DJANGO_SETTINGS_MODULE": "settings"}
    (tmp_path / "shop/migrations/__init__.py").touch()

    def manage(*command):
        return checked(sys.executable, "-m", "django", *command, cwd=tmp_path, env=env)

    manage("makemigrations", "shop")
    manage("migrate")
    manage("shell", "-c", "from shop.models import Order; "
           "[Order.objects.create(amount=100, state=state) for state in ('new', 'paid', 'paid')]")
    made.append(application := Application(
        tmp_path, [sys.executable, "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"], env, port))
    made.append(Background(tmp_path, [sys.executable, "-m", "django", "relay_outbox"], env))

    def rows(query):
        with sqlite3.connect(tmp_path / "shop.sqlite3") as database:
            return database.execute(query).fetchall()

    def reaches(order, state):
        wait_until(lambda: rows(f"SELECT state FROM shop_order WHERE id = {order}") == [(state,)], f"{order} is {state}")

    # Whoever asks twice is charged once.
    for _ in range(2):
        assert application("POST", "/orders/1/charge").status == 202
    reaches(1, "paid")
    assert application("POST", "/orders/1/charge").json == {"state": "paid"}
    assert [request.headers["idempotency-key"] for request in target.requests] == ["charge-1"] * 2
    assert target.requests[-1].body == b'{"kind":"charge","order":1,"amount":100}'
    assert application("POST", "/orders/9/charge").status == 404
    assert application("POST", "/orders/2/refund").status == 202
    reaches(2, "refunded")
    assert rows("SELECT count(*) FROM redial_outbox") == [(0,)]
    # Without Redial, the request succeeds, and the outbox keeps the call.
    service.kill()
    assert application("POST", "/orders/3/refund").status == 202
    assert rows("SELECT idempotency_key FROM redial_outbox") == [("refund-3",)]
    service.start()
    reaches(3, "refunded")
    assert rows("SELECT count(*) FROM redial_outbox") == [(0,)]
    assert forged(application) == 401
    assert len(target.requests) == 4 and len(rows("SELECT id FROM shop_receivedwebhook")) == 3


def test_fastapi(shop, tmp_path, made):
    service, target, port, env = shop
    write_files("fastapi.md", tmp_path)
    env = env | {"DATABASE_URL": f"sqlite:///{tmp_path}/shop.sqlite3"}
    command = [sys.executable, "-m", "uvicorn", "main:app", "--host", "127.0.0.1", "--port", str(port)]
    made.append(application := Application(tmp_path, command, env, port))

    def rows(query):
        with sqlite3.connect(tmp_path / "shop.sqlite3") as database:
            return database.execute(query).fetchall()

    rows("INSERT INTO orders (id, amount, state) VALUES (1, 100, 'new'), (2, 5, 'new')")

    def reaches(order, state):
        wait_until(lambda: rows(f"SELECT state FROM orders WHERE id = {order}") == [(state,)], f"{order} is {state}")

    mails = [application("POST", "/mails/7") for _ in range(2)]
    assert mails[0].status == 202 and mails[0].json == mails[1].json
    assert service.ended(mails[0].json["call"])["attemptCount"] == 2
    for _ in range(2):
        assert application("POST", "/orders/1/charge").status == 202
    reaches(1, "paid")
    # A request that comes later charges nothing and leaves the order as it is.
    assert application("POST", "/orders/1/charge").status == 202
    assert rows("SELECT state FROM orders WHERE id = 1") == [("paid",)]
    assert application("POST", "/orders/9/charge").status == 404
    assert [(request.path, request.headers["idempotency-key"]) for request in target.requests[2:]] == [("/charges", "charge-1")]
    assert forged(application) == 401
    # A process that starts sends what another has left.
    service.kill()
    assert application("POST", "/orders/2/charge").status == 202
    application.end()
    assert rows("SELECT idempotency_key FROM redial_outbox") == [("charge-2",)]
    service.start()
    made.append(Application(tmp_path, command, env, port))
    reaches(2, "paid")
    assert rows("SELECT count(*) FROM redial_outbox") == [(0,)]
    assert len(target.requests) == 4 and len(rows("SELECT id FROM received_webhooks")) == 2


def test_celery(shop, tmp_path):
    """The task and the call that replaces it make the same requests."""
    service, target, _, env = shop
    write_files("celery.md", tmp_path)
    # Work that Celery does at once, without a broker, but with its own retries.
    env = env | {"BROKER_URL": "memory://"}
    checked(sys.executable, "-c", "import before; before.app.conf.task_always_eager = True; before.charge_later(7, 100)", env=env)
    before = [(r.method, r.path, r.headers["idempotency-key"], json.loads(r.body)) for r in target.requests]
    assert len(before) == 2
    target.requests.clear()
    target.answer = busy_once()
    checked(sys.executable, "-c", "import after; after.charge_later(7, 100); after.charge_later(7, 100)", env=env)
    (call,) = service("GET", "/v1/calls").json["data"]
    assert service.ended(call["id"])["state"] == "succeeded"
    assert [(r.method, r.path, r.headers["idempotency-key"], json.loads(r.body)) for r in target.requests] == before
    assert call["maxAttempts"] == 9


def test_cron(redial, receiver, tmp_path):
    service, target = redial(env={"REDIAL_ADMIN_KEY": KEY}), receiver(busy_once())
    service.credentials = {"authorization": f"Bearer {KEY}"}
    write_files("cron.md", tmp_path, "sh")
    write_files("cron.md", tmp_path, "ini")
    script = tmp_path / "submit-nightly"
    script.write_text(script.read_text().replace("https://reports.example.com", target.url))
    assert script.read_text().startswith("#!/bin/sh\n")
    # Cron runs it on two machines.
    for _ in range(2):
        checked("sh", script, env=os.environ | {"REDIAL_SERVER": service.url, "REDIAL_API_KEY": KEY})
    (call,) = service("GET", "/v1/calls?label=job=nightly").json["data"]
    ended = service.ended(call["id"])
    assert (ended["state"], ended["method"], ended["attemptCount"]) == ("succeeded", "POST", 2)
    assert [request.path for request in target.requests] == ["/nightly"] * 2
    # A service without keys needs none.
    (tmp_path / "other").mkdir()
    other = redial(folder=tmp_path / "other")
    checked("sh", script, env=os.environ | {"REDIAL_SERVER": other.url})
    assert other("GET", "/v1/calls?label=job=nightly").json["data"]


def test_express(shop, packages, tmp_path, made):
    service, target, port, env = shop
    write_files("express.md", tmp_path, "js")
    modules = tmp_path / "node_modules"
    modules.mkdir()
    (modules / "redial-client").symlink_to(packages.typescript / "node_modules/redial-client")
    # Where Debian's packages are.
    (modules / "express").symlink_to("/usr/share/nodejs/express")
    env = env | {"PORT": str(port), "NODE_PATH": "/usr/share/nodejs"}
    made.append(application := Application(tmp_path, ["node", "app.mjs"], env, port))

    def charged():
        answer = application("POST", "/orders/1/charge", {"amount": 100})
        assert answer.status == 202
        return answer.json["call"]

    call = charged()
    assert charged() == call
    wait_until(lambda: application("GET", "/orders/1").json == {"state": "paid"}, "the order is paid")
    assert [request.headers["idempotency-key"] for request in target.requests] == ["charge-1"] * 2
    assert target.requests[0].body == b'{"order":"1","amount":100}'
    assert forged(application) == 401
    service.kill()
    assert application("POST", "/orders/2/charge", {"amount": 1}).status == 500


def test_sidekiq(shop, receiver, tmp_path):
    service, target, _, env = shop
    write_files("sidekiq.md", tmp_path, "ruby")
    # Sidekiq itself is not here: without it, the job does at once what it would do later.
    (tmp_path / "sidekiq.rb").write_text('''
module Sidekiq
  module Job
    def self.included(job)
      job.define_singleton_method(:sidekiq_options) { |**| }
      job.define_singleton_method(:perform_in) { |_, *arguments| new.perform(*arguments) }
    end
  end
end
''')
    target.answer = lambda request: (200, {}, b"done")
    checked("ruby", "-I", tmp_path, "-e", 'require "before"; charge_later(7, 100)', env=env)
    (before,) = [(r.method, r.path, r.headers["idempotency-key"], json.loads(r.body)) for r in target.requests]
    target.requests.clear()
    checked("ruby", "-I", tmp_path, "-e", 'require "after"; 2.times { charge_later(7, 100) }', env=env)
    (call,) = service("GET", "/v1/calls").json["data"]
    assert service.ended(call["id"])["state"] == "succeeded"
    assert [(r.method, r.path, r.headers["idempotency-key"], json.loads(r.body)) for r in target.requests] == [before]
    # Refusals are waited for, and faults are not.
    answers = iter([(503, {"retry-after": "1"}, b"{}"), (202, {}, b'{"id": "call_1"}'), (422, {}, b"wrong")])
    busy = receiver(lambda request: next(answers))
    submits = 'require "after"; 2.times { puts Redial.submit({url: "http://a.example"}, key: "k")["id"] rescue puts $!.class }'
    keyed = env | {"REDIAL_SERVER": busy.url, "REDIAL_API_KEY": KEY}
    assert checked("ruby", "-I", tmp_path, "-e", submits, env=keyed) == "call_1\nArgumentError\n"
    assert {request.headers["authorization"] for request in busy.requests} == {f"Bearer {KEY}"}
    assert busy.requests[1].at - busy.requests[0].at >= 1
    hook = receiver()
    service.submit(url=target.url, callback={"url": hook.url})
    request = hook.next()
    verify = 'require "webhook"; body = $stdin.read; p verified(*ARGV[0..0], body, *ARGV[1..3])&.fetch("type")'
    fields = [request.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")]
    for body, result in ((request.body, '"call.succeeded"\n'), (request.body + b" ", "nil\n")):
        assert checked("ruby", "-I", tmp_path, "-e", verify, SECRET, *fields, input=body.decode()) == result
