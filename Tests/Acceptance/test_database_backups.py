"""Backups of a PostgreSQL store: what instances do on one that was restored to an earlier moment, or from a dump."""

import re
import shutil
import threading

import pytest

from databases import Database
from processes import BOUND, ROOT, Redial, wait_until

pytestmark = pytest.mark.part("database")

HOUR = {"delay": "1h"}
# A busy machine lets it not end, and that of an instance that is killed ends soon.
LEASE = ("--lease-duration", "10s")
PAGE = (ROOT / "docs/replicas.md").read_text().split("## Backups")[1]


def settings(number, cluster):
    """One of the page's examples of settings of the server, with a folder for the archive."""
    text = re.findall(r"```ini\n(.*?)```", PAGE, re.S)[number]
    assert "/backup/wal" in text
    return text.replace("/backup/wal", f"{cluster.folder}/archive")


class Restored(Database):
    """A cluster from a base backup and the log that another one has archived."""

    def __init__(self, source, moment):
        # The same folder for its socket, so the same URL: the new server takes the place of the old one.
        self.folder, self.user, self.settings = source.folder, source.user, {}
        self.moment = moment

    @property
    def data(self):
        return self.folder / "backup"

    def start(self):
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.write(re.sub("recovery_target_time = '.*?'", f"recovery_target_time = '{self.moment}'", settings(1, self)))
        (self.data / "recovery.signal").touch()
        super().start()
        wait_until(lambda: self.query("SELECT pg_is_in_recovery()") == [["f"]], "it has recovered")
        return self


@pytest.fixture
def archived(made):
    """A cluster that archives its log."""
    cluster = Database()
    (cluster.folder / "archive").mkdir()
    if cluster.user:
        shutil.chown(cluster.folder / "archive", "postgres")
    cluster.settings.update(line.split(" = ", 1) for line in settings(0, cluster).splitlines())
    made.append(cluster)
    return cluster.start()


def submit(service, key=None, **call):
    answer = service("POST", "/v1/calls", call, {"idempotency-key": key} if key else {})
    assert answer.status in (200, 202), answer.body
    return answer.json["id"]


@pytest.mark.usefixtures("encrypted")
def test_instances_go_on_with_what_a_restored_server_has(instances, receiver, archived, made, tmp_path):
    release, order = threading.Event(), []

    def answer(request):
        order.append(request.path)
        if request.path == "/slow":
            release.wait(BOUND)
        return 200, {}, b""

    target, hook = receiver(answer), receiver()
    _, (first, second) = instances(2, *LEASE, on=archived)
    assert first("POST", "/v1/webhook-endpoints", {"url": hook.url, "events": ["call.succeeded"]}).status == 201
    archived.run("pg_basebackup", "-h", archived.folder, "-U", "postgres", "-D", archived.folder / "backup", "-c", "fast")

    kept = submit(first, "kept", url=f"{target.url}/kept", target="kept")
    assert first.ended(kept)["state"] == "succeeded"
    waiting = submit(first, url=f"{target.url}/waiting", target="waiting", **HOUR)
    slow = submit(first, url=f"{target.url}/slow", target="slow", policy={"attemptTimeout": "10m"})
    wait_until(lambda: "/slow" in order, "the target has the slow call")
    # Between two commits.
    moment = archived.query("SELECT clock_timestamp()")[0][0]
    lost = submit(second, "lost", url=f"{target.url}/lost", target="lost")
    assert second.ended(lost)["state"] == "succeeded"
    release.set()
    assert first.ended(slow)["state"] == "succeeded"
    # So many targets that each instance has some of them, and has committed what the restored server will lack.
    more = [submit(second, url=f"{target.url}/more", target=f"more{number}") for number in range(16)]
    assert {first.ended(call)["state"] for call in more} == {"succeeded"}
    wait_until(lambda: len(hook.requests) >= 3 + len(more), "the endpoint was told of all")
    segment = archived.query("SELECT pg_walfile_name(pg_switch_wal())")[0][0]
    wait_until((archived.folder / "archive" / segment).exists, "the log is archived")
    second.kill()
    archived.stop()

    restored = Restored(archived, moment)
    made.append(restored)
    restored.start()
    third = Redial(second.log.parent, *LEASE, location=restored.url)
    made.append(third)
    third.start()
    # An instance that went on meanwhile finds that the server lacks what it has committed.
    wait_until(lambda: "leaseLost" in first.log.read_text(), "the first instance starts over")
    for service in (first, third):
        wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready")
        wait_until(lambda: service("GET", f"/v1/calls/{slow}").json.get("finishedAt"), "the slow call was repeated")
        assert [a["outcome"] for a in service.get(slow)["attempts"]] == ["interrupted", "answered"]
        assert service.get(kept)["state"] == "succeeded"
        assert service.get(waiting)["state"] == "scheduled"
        assert service("GET", f"/v1/calls/{lost}").status == 404
    assert order.count("/kept") == 1 and order.count("/slow") == 2
    # Keys are those of the moment: one is known, and the other makes a new call.
    assert submit(third, "kept", url=f"{target.url}/kept", target="kept") == kept
    again = submit(first, "lost", url=f"{target.url}/lost", target="lost")
    assert again != lost and third.ended(again)["state"] == "succeeded"
    assert order.count("/lost") == 2
    # A shard that changes hands has no owner for a moment.
    owned = "SELECT count(*), count(DISTINCT owner) FROM redial.leases WHERE owner IS NOT NULL"
    wait_until(lambda: restored.query(owned, "redial") == [["64", "2"]], "both have shards")
