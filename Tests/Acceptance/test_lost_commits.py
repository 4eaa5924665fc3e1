"""A failover of PostgreSQL loses commits: every instance says so, in all ways."""

import re

from processes import run, wait_until
from test_replica_doctor import doctor


def told(service):
    """The losses that the log tells, each as what had been made, what was found, and who has noticed it."""
    lines = re.findall(r"commitsLost.*?made=(\d+) found=(\d+) noticedBy=(\w+)", service.log.read_text())
    return [(int(made), int(found), by) for made, found, by in lines]


def assert_told(services, pair):
    """Each instance tells what it has noticed, in all ways."""
    for service in services:
        wait_until(lambda: told(service), "the loss is told")
        wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again by itself")
    at = None
    for service in services:
        ((made, found, _),) = told(service)
        assert made > found >= 0
        assert service.metrics()["redial_store_commits_lost_total"] == made - found
        shown = wait_until(lambda: service("GET", "/v1/instances").json.get("lostCommits"), "the overview has it")
        assert at in (None, shown["at"]), "all show the same"
        at = shown["at"]
        answer = run("status", "--server", service.url)
        # It may still begin its new session, and so be not ready for a moment.
        assert answer.returncode in (0, 1), answer
        assert f"✗ The database has lost {shown['made'] - shown['found']:,} commit" in answer.stdout, answer.stdout
    (warning,) = [w["text"] for w in doctor(pair)["warnings"] if w["subject"] == "lostCommits"]
    assert at in warning and f"{shown['made']} were made, and it had {shown['found']}" in warning
    noticed = [(made, found) for service in services for made, found, by in told(service) if by == "this"]
    audit = wait_until(
        lambda: len(all := services[0]("GET", "/v1/audit?action=commits.lost").json.get("data", [])) >= len(noticed) and all,
        "the records are there")
    assert sorted((a["before"]["commits"], a["after"]["commits"]) for a in audit) == sorted(noticed)
    assert {(a["actorKind"], a["actor"], a["object"]) for a in audit} == {("instance", None, "store")}
    return noticed


def test_each_instance_tells_of_a_loss_also_one_that_had_nothing_to_lose(servers, instances, receiver):
    target, pair = receiver(), servers(synchronous=False)
    _, services = instances(3, on=pair)
    for service in services:
        service.says("noStandby")
    assert services[0].ended(services[0].submit(url=target.url))["state"] == "succeeded"
    pair.catch_up()
    pair.standby.cut()
    lost = [services[0].submit(url=target.url, target="t") for _ in range(20)]
    assert [services[0].ended(identity)["state"] for identity in lost] == 20 * ["succeeded"]
    pair.fail_over()
    assert assert_told(services, pair)
    # One that is started soon after it says the same.
    before = told(services[2])
    services[2].terminate()
    services[2].start()
    wait_until(lambda: len(told(services[2])) == 2, "the loss is told again")
    assert told(services[2])[-1][2] == "another" and told(services[2])[:1] == before
    wait_until(lambda: "lostCommits" in services[2]("GET", "/v1/instances").json, "the overview has it")
    assert [len(told(service)) for service in services[:2]] == [1, 1]


def test_a_single_instance_whose_lease_has_ended_meanwhile_tells_what_is_lost(servers, instances, receiver):
    target, pair = receiver(), servers(synchronous=False)
    _, (service,) = instances(1, "--lease-duration", "1s", on=pair)
    kept = service.submit(url=target.url)
    assert service.ended(kept)["state"] == "succeeded"
    pair.catch_up()
    pair.standby.cut()
    lost = service.submit(url=target.url)
    assert service.ended(lost)["state"] == "succeeded"
    pair.primary.stop("immediate")
    # The instance gives up its session before there is a server.
    service.says("leaseLost")
    pair.primary = pair.standby.promote()
    assert assert_told([service], pair)
    wait_until(lambda: [service("GET", f"/v1/calls/{identity}").status for identity in (kept, lost)] == [200, 404],
               "the database has what the standby had")


def test_what_an_instance_has_lost_that_is_gone_is_told_by_the_others(servers, instances, receiver):
    target, pair = receiver(), servers(synchronous=False)
    _, services = instances(3, on=pair)
    pair.catch_up()
    pair.standby.cut()
    ledgers = "SELECT max(c.seq) FROM redial.sessions s JOIN redial.commits c ON c.session = s.id GROUP BY s.id ORDER BY s.id"
    before = pair.query(ledgers, "redial")
    lost = [services[0].submit(url=target.url, target=f"t{number}", delay="1h") for number in range(40)]
    assert len(lost) == 40 and pair.query(ledgers, "redial") != before
    seen = pair.query("SELECT min(expires_at) FROM redial.beats", "redial")
    wait_until(lambda: pair.query("SELECT min(expires_at) FROM redial.beats", "redial") > seen, "all have looked again")
    services[0].kill()
    pair.fail_over()
    assert assert_told(services[1:], pair)


def test_a_change_of_a_policy_alone_that_a_failover_takes_back_is_told(servers, instances):
    pair = servers(synchronous=False)
    _, services = instances(2, on=pair)
    assert services[0]("PUT", "/v1/policies/p", {"maxAttempts": 2}).status in (200, 201)
    pair.catch_up()
    pair.standby.cut()
    assert services[0]("DELETE", "/v1/policies/p").status in (200, 204)
    pair.fail_over()
    # The other has nothing to do with it, and learns of it from the database.
    assert assert_told(services, pair)
    wait_until(lambda: services[1]("GET", "/v1/policies/p").status == 200, "the policy is there again")
