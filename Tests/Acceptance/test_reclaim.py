"""A call that the store shows in memory, and that no instance has, goes on without a restart."""

import sqlite3

from processes import BOUND, Constants
from test_replicas import LASTING

TEN_MINUTES = 600 * 1_000_000


def goes_on(services, receiver, strand):
    """Submits a call for later, makes it look as if an instance had it in memory, and waits until it has ended."""
    call = services[0].submit(url=receiver.url, delay="1h")
    strand()
    ended = services[-1].ended(call)
    assert (ended["state"], ended["attemptCount"]) == ("succeeded", 1)
    reclaimed = [service for service in services if "callReclaimed" in service.log.read_text()]
    assert len(reclaimed) == 1 and call in reclaimed[0].log.read_text()
    assert [service.metrics()["redial_calls_reclaimed_total"] for service in services].count(1) == 1


def test_on_sqlite(redial, receiver):
    service = redial(Constants(storeWatchInterval="500ms"))

    def strand():
        with sqlite3.connect(service.store, timeout=BOUND) as file:
            assert file.execute(f"UPDATE calls SET state = 2, due = created_at - {TEN_MINUTES}, sum = NULL").rowcount == 1
            # The service has run for long enough to have found it.
            file.execute("UPDATE settings SET value = '1' || substr(value, instr(value, ' ')) WHERE name = 'serviceTime'")
        file.close()
    goes_on([service], receiver(), strand)


def test_on_several_instances(instances, receiver):
    database, services = instances(2, *LASTING, Constants(storeWatchInterval="500ms"))

    def strand():
        database.query(f"UPDATE redial.live SET state = 2, at = created_at - {TEN_MINUTES}", "redial")
    goes_on(services, receiver(), strand)
