"""The swarm of Tests/Swarm: all that it draws can be played, and beliefs are broken when they should be."""

import sys

import pytest

from processes import ROOT, Answer

sys.path.insert(0, str(ROOT / "Tests/Swarm"))
import beliefs  # noqa: E402
import drawing  # noqa: E402
import frames  # noqa: E402
import playing  # noqa: E402
import targets  # noqa: E402

WORLDS = [drawing.Drawing(f"test.{number}").world() for number in range(200)]


def test_a_seed_gives_the_same_world_and_its_file_too():
    for number, world in enumerate(WORLDS):
        assert drawing.Drawing(f"test.{number}").world() == world
        assert drawing.World.of_json(world.to_json()) == world
    assert len({world.to_json() for world in WORLDS}) == len(WORLDS)
    world = WORLDS[0]
    assert world.without({0, 2}).steps == [world.steps[1], *world.steps[3:]]


def test_all_that_is_drawn_can_be_played():
    for step in [step for world in WORLDS for step in world.steps]:
        player = playing.Actor if "/" in step.actor else playing.Disturber
        assert callable(getattr(player, step.do.replace(" ", "_"))), step
    drawn = {step.do for world in WORLDS for step in world.steps}
    assert drawn >= {*drawing.Drawing.USES, "kill", "stop", "still", "silence", "flip", "damage", "lose key", "disk", "power", "slow start", "database", "sessions", "way",
                      "failover", "hang key"}


@pytest.mark.parametrize("module", [targets, frames], ids=["HTTP/1.1", "HTTP/2"])
def test_each_path_answers_the_same_each_time(module):
    for kind in {*drawing.HEALTHY, *drawing.DELIVERING, *drawing.SICK}:
        hit = targets.Hit(0, 0, kind.replace(" ", "-"), "mark-acme-0-1x", b"GET / HTTP/1.1\r\n")
        for nth in range(3):
            assert module.answer("seed", hit, nth) == module.answer("seed", hit, nth), kind
        # What delivers in the end has delivered by the third request, unless it is drawn anew for each.
        if kind in drawing.DELIVERING and kind != "flaky":
            assert module.answer("seed", hit, 2), kind


@pytest.fixture
def player(tmp_path):
    player = playing.Player(WORLDS[0], tmp_path)
    player.canaries, player.sealed = {"acme": "canary-acme-1"}, {"beta": "sealed-beta-1"}
    return player


@pytest.mark.parametrize("text, belief", [
    (b"this is mark-acme-0-1x", None),
    (b"this is mark-beta-0-1x", "nobody sees what is another tenant's"),
    (b"Bearer canary-acme-1", "no secret is shown"),
    (b"c2VhbGVkLWJldGEtMQ==", "no secret is shown"),
])
def test_what_an_answer_may_not_have_breaks_a_belief(player, text, belief):
    player.judge.text("acme", text, "an answer")
    assert [found for found, _ in player.broken] == ([belief] if belief else [])


def test_an_answer_that_is_late_or_against_the_contract_breaks_a_belief(player):
    problem = Answer(503, {"content-type": "application/problem+json"}, b"{}")
    player.judge.answer("acme", "GET", "/v1/calls", problem, 0, 20, 15)
    assert {found for found, _ in player.broken} == {
        "each answer comes", "a refusal for a while says for how long", "each answer is as the contract says"}


def test_what_the_targets_saw_breaks_beliefs(player):
    def saw(mark, attempt, tenant="acme", fields=b""):
        head = b"GET /ok/%s HTTP/1.1\r\nIdempotency-Key: call_1\r\nRedial-Attempt: %d\r\n%s" % (mark.encode(), attempt, fields)
        hit = targets.Hit(1, 0, "ok", mark, head, ended=2)
        hit.connection = 1
        return hit
    hits = [saw("mark-acme-0-1x", 1), saw("mark-acme-0-1x", 1), saw("mark-beta-0-1x", 2, fields=b"Authorization: Bearer canary-acme-1")]
    player.targets = type("Targets", (), {"hits": hits, "strange": [b"GET /x"], "ports": [1, 2], "ignored": [9]})
    player.healed = 10
    player.judge.by_call = {"call_1": hits}
    player.judge.pauses.append(["beta", 0, -1, 5])
    player.judge.targets_saw()
    assert {found for found, _ in player.broken} >= {
        "one attempt is one request", "each request has its own mark", "a secret goes to its own targets", "a connection is of one tenant",
        "what is paused gets nothing", "targets get what was submitted", "a connection that says nothing is left"}
