"""`redial doctor` on a store that several instances share."""

import json
import threading
import time

from processes import BOUND, Constants, run, wait_until


def on(cluster):
    return ("--store", cluster.url)


def doctor(cluster, *flags):
    answer = run("doctor", *on(cluster), "--json", *flags, seconds=BOUND)
    assert answer.returncode in (0, 1), answer
    report = json.loads(answer.stdout)
    assert report["clean"] == (answer.returncode == 0)
    return report


def wrong(report):
    """What is not 0, and why."""
    return [f for f in report["findings"] if f["count"]]


class Load:
    """Clients that use all that a store keeps, at instances that may end."""

    def __init__(self, services, target, hook):
        self.services, self.target, self.hook = services, target, hook
        self.accepted = 0
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(4)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *failure):
        self.stopped.set()
        for thread in self.threads:
            thread.join(BOUND)

    def work(self, me):
        number = 0
        while not self.stopped.is_set():
            number += 1
            service = self.services[(me + number) % len(self.services)]
            call = dict(
                url=self.target.url + "/?fail-rate=0.3&delay=5ms", target=f"target{number % 20}", idempotent=True,
                labels={"n": str(number % 7)}, policy={"backoff": {"initial": "5ms"}, "maxAttempts": 3})
            if number % 3 == 0:
                call["orderingKey"] = f"o{number % 2}"
            if number % 4 == 0:
                call["callback"] = {"url": self.hook.url}
            if number % 5 == 0:
                call["delay"] = "300ms"
            try:
                answer = service("POST", "/v1/calls", call, {"idempotency-key": f"k{me}-{number // 2}"} if me % 2 else None)
                if answer.status == 202:
                    self.accepted += 1
                    identity = answer.json["id"]
                    if number % 6 == 0:
                        service("POST", f"/v1/calls/{identity}/cancel")
                    if number % 10 == 0:
                        service("POST", f"/v1/calls/{identity}/retry")
                if number % 50 == 0:
                    service("POST", "/v1/operations", {"action": "cancel", "filter": {"state": "scheduled"}})
            except OSError:
                time.sleep(0.01)
            except Exception as error:
                if type(error).__module__ != "http.client":
                    raise
                time.sleep(0.01)


def test_doctor_finds_nothing_wrong_while_instances_work_die_and_come_back(instances, flaky, receiver):
    target, hook = flaky(), receiver()
    cluster, services = instances(3, "--retention-time", "2s", "--idempotency-time", "1s")
    with Load(services, target, hook) as load:
        for step in range(8):
            if step == 2:
                services[2].kill()
            if step == 4:
                assert services[1].terminate() == 0
            if step == 5:
                services[1].start()
                services[2].start()
            before = load.accepted
            report = doctor(cluster, *(["--quick"] if step % 2 else []))
            assert report["live"] and report["clean"], wrong(report)
            wait_until(lambda: load.accepted > before + 20, "the load goes on")
    for service in services:
        service.kill()
    wait_until(lambda: not doctor(cluster)["live"], "the leases are over")
    report = doctor(cluster)
    assert report["clean"], wrong(report)
    services[0].start()
    text = run("doctor", *on(cluster))
    assert text.returncode == 0 and "Nothing is wrong" in text.stdout, text
    assert "PostgreSQL database redial on" in text.stdout and "warning noStandby: " in text.stdout
    assert "synchronous_standby_names" in text.stdout


def test_doctor_names_what_is_wrong_and_metrics_show_what_is_late(instances, receiver):
    target = receiver()
    cluster, (service,) = instances(1, Constants(storeWatchInterval="100ms"))
    identity = service.submit(url=target.url)
    service.ended(identity)
    waiting = service.submit(url=target.url, delay="1h")
    # An instance that renews its lease and does nothing else.
    far = 1 << 60
    cluster.query(
        "INSERT INTO redial.sessions (id, instance, conn, version) VALUES (4711, 9, 0, '');"
        f"INSERT INTO redial.beats (session, expires_at) VALUES (4711, {far});"
        "INSERT INTO redial.commits VALUES (4711, 0); UPDATE redial.leases SET owner = 4711, epoch = epoch + 1", "redial")
    cluster.query("UPDATE redial.live SET due = 1 WHERE state = 0", "redial")
    findings = {f["check"]: f for f in doctor(cluster)["findings"]}
    assert findings["overdue"]["count"] == 1 and waiting in findings["overdue"]["examples"][0], findings
    wait_until(lambda: service.metrics()['redial_store_findings{check="overdue"}'] == 1, "the finding in the metrics")
    service.terminate()
    cluster.query("UPDATE redial.beats SET expires_at = 1", "redial")
    cluster.query("UPDATE redial.done SET attempts = 7", "redial")
    cluster.query("UPDATE redial.live SET due = at", "redial")
    answer = run("doctor", *on(cluster))
    assert answer.returncode == 1 and f"{identity} has ended with 7 attempts" in answer.stdout, answer
    assert "Something is wrong" in answer.stdout and "at rest" in answer.stdout
    assert {w["subject"] for w in doctor(cluster)["warnings"]} == {"noStandby"}


def test_doctor_says_that_pages_have_no_checksums(instances):
    cluster, (service,) = instances(1)
    assert {w["subject"] for w in doctor(cluster)["warnings"]} == {"noStandby"}
    service.terminate()
    cluster.stop()
    cluster.run("pg_checksums", "--disable", "--no-sync", "-D", cluster.data)
    cluster.start()
    warnings = {w["subject"]: w["text"] for w in doctor(cluster)["warnings"]}
    assert set(warnings) == {"noStandby", "noPageChecksums"} and "pg_checksums --enable" in warnings["noPageChecksums"], warnings


def test_doctor_says_when_it_cannot_check(database):
    cluster = database()
    answer = run("doctor", *on(cluster))
    assert answer.returncode == 2 and "no tables of Redial" in answer.stderr, answer
    assert cluster.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'redial'", "redial") == [["0"]]
    cluster.stop()
    answer = run("doctor", *on(cluster))
    assert answer.returncode == 2 and "Could not connect to PostgreSQL database redial" in answer.stderr, answer
