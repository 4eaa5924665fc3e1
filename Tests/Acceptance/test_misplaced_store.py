"""Calls that would be lost at a restart are not accepted: the store's files are removed or replaced while it is open.
"""

import shutil

import pytest
from processes import wait_until

CALL = {"url": "http://127.0.0.1:1/", "delay": "1h"}


def ready(service):
    return service("GET", "/readyz").status


@pytest.mark.parametrize("names", [["redial.db", "redial.db-wal", "redial.db-shm"], ["redial.db-wal"], ["redial.db"]])
def test_no_call_is_accepted_into_files_that_were_removed(redial, tmp_path, names):
    service = redial()
    accepted = [service.submit(**CALL) for _ in range(3)]
    for name in names:
        (tmp_path / name).unlink()
    # From the first one on, and not only after the next check.
    for _ in range(5):
        refused = service("POST", "/v1/calls", CALL)
        assert refused.status == 503 and refused.headers["retry-after"], refused.body
        assert refused.json["code"] == "storageUnavailable"
    assert ready(service) == 503
    # Only this process has the accepted calls: they can still be read.
    assert {call["id"] for call in service("GET", "/v1/calls").json["data"]} == set(accepted)
    text = service.log.read_text()
    assert text.count("storeMisplaced") == 1 and "was removed while Redial had it open" in text and names[0] in text, text


def test_an_idle_service_finds_out_and_goes_on_when_the_files_are_back(redial, tmp_path):
    service = redial()
    before = service.submit(**CALL)
    away = tmp_path / "away"
    away.mkdir()
    names = ["redial.db", "redial.db-wal", "redial.db-shm"]
    for name in names:
        (tmp_path / name).rename(away / name)
    wait_until(lambda: ready(service) == 503, "it is not ready")
    for name in names:
        (away / name).rename(tmp_path / name)
    wait_until(lambda: ready(service) == 200, "it is ready again")
    after = service.submit(**CALL)
    service.says("storeInPlace")
    assert service.terminate() == 0
    service.start()
    assert {call["id"] for call in service("GET", "/v1/calls").json["data"]} == {before, after}


def test_a_file_that_was_replaced_gets_no_calls_either(redial, tmp_path):
    service = redial()
    service.submit(**CALL)
    shutil.copy(tmp_path / "redial.db", tmp_path / "other.db")
    (tmp_path / "other.db").rename(tmp_path / "redial.db")
    assert service("POST", "/v1/calls", CALL).status == 503
    service.says("was replaced while Redial had it open")
    assert ready(service) == 503
