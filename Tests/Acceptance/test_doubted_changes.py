"""Changes whose answer is lost, from the database or from another instance."""

import pytest

from networks import Network, PeerNetwork
from processes import wait_until
from test_replicas import LASTING, spread

OPERATION = {"action": "cancel", "filter": {"labels": {"batch": "1"}}}
ENDPOINT = {"url": "http://127.0.0.1:9/hook", "events": ["call.failed"]}
KEY = {"name": "first", "scopes": ["admin"]}


def served_through(made, instances, cluster, *flags):
    """An instance, and its way to the database."""
    way = Network(cluster)
    made.append(way)
    _, (service,) = instances(1, *flags, on=cluster, each=lambda _: {"location": way.url})
    return service, way


@pytest.mark.usefixtures("encrypted")
def test_a_change_whose_answer_is_lost_is_made_and_answered(made, instances, database, receiver):
    target, cluster = receiver(), database()
    service, way = served_through(made, instances, cluster, *LASTING)
    for _ in range(5):
        service.ended(service.submit(url=target.url))
    counts = lambda: service("GET", "/v1/statistics").json["data"][0]["calls"]["succeeded"]
    way.tell("lose", "add_tally")
    stored = "SELECT count(*) FROM redial.statistics"
    wait_until(lambda: cluster.query(stored, "redial") != [["0"]], "the counts are stored")

    way.tell("lose", "insert_document")
    begun = service("POST", "/v1/operations", OPERATION)
    assert begun.status == 202, begun.body
    # The change came after the counts.
    assert counts() == 5
    listed = wait_until(lambda: service("GET", "/v1/operations").json.get("data"), "it is listed")
    assert [operation["id"] for operation in listed] == [begun.json["id"]]

    way.tell("lose", "insert_document")
    endpoint = service("POST", "/v1/webhook-endpoints", ENDPOINT)
    assert endpoint.status == 201 and endpoint.json["secret"], endpoint.body
    way.tell("lose", "insert_document")
    key = service("POST", "/v1/keys", KEY)
    assert key.status == 201, key.body
    assert service("GET", "/v1/keys", headers={"authorization": f"Bearer {key.json['key']}"}).status == 200


@pytest.mark.usefixtures("encrypted")
def test_a_change_in_doubt_is_said_to_be_and_leaves_no_key_that_nobody_has(made, instances, database, receiver):
    target, cluster = receiver(), database()
    service, way = served_through(made, instances, cluster)
    for path, body, text in (("/v1/keys", KEY, "insert_document"),
                             ("/v1/webhook-endpoints", ENDPOINT, "insert_document"),
                             ("/v1/operations", OPERATION, "insert_document")):
        way.tell("last", text)
        answer = service("POST", path, body)
        assert (answer.status, answer.json["code"]) == (503, "outcomeUnknown"), answer.body
        assert int(answer.headers["retry-after"]) >= 1
        way.tell("heal")
        wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again")
        if path == "/v1/operations":
            break
        rows = "SELECT count(*) FROM redial.documents WHERE kind NOT IN ('dataKey', 'audit')"
        wait_until(lambda: cluster.query(rows, "redial") == [["0"]], "what nobody knows is removed")
        # Documents are shown as soon as the lease is renewed.
        wait_until(lambda: service("GET", path).json.get("data") == [], "nothing is listed")
    assert cluster.query("SELECT count(*) FROM redial.documents WHERE kind = 'operation'", "redial") == [["1"]]
    wait_until(lambda: len(service("GET", "/v1/operations").json.get("data", [])) == 1, "the operation can be seen")
    ended = lambda: service("GET", "/v1/operations").json["data"][0]["state"]
    wait_until(lambda: ended() == "completed", "it runs, and not only after a restart")
    later = service.submit(url=target.url, delay="1h", labels={"batch": "1"})
    service.terminate()
    service.start()
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again")
    assert service.get(later)["state"] == "scheduled"


def test_a_command_in_doubt_has_its_record_if_it_was_done(made, instances, database):
    cluster = database()
    service, way = served_through(made, instances, cluster)
    way.tell("last", "upsert_document")
    answer = service("POST", "/v1/targets/orders/pause")
    assert (answer.status, answer.json["code"]) == (503, "outcomeUnknown"), answer.body
    way.tell("heal")
    wait_until(lambda: service("GET", "/readyz").status == 200, "it is ready again")
    wait_until(lambda: (service.target("orders") or {}).get("paused"), "it is paused")
    recorded = [(one["action"], one["object"]) for one in service("GET", "/v1/audit").json["data"]]
    assert recorded == [("target.paused", "orders")]


def test_a_command_whose_answer_from_the_owner_is_lost_may_have_been_done(made, instances):
    ways = [PeerNetwork() for _ in range(2)]
    made += ways
    _, services = instances(2, *LASTING, each=lambda number: {"env": {"REDIAL_PEER_URL": ways[number].url}})
    for way, service in zip(ways, services):
        way.tell("lead", service.port)
    ways[1].tell("lose", "/cancel")
    for call in spread("http://127.0.0.1:9"):
        identity = services[0].submit(**call, delay="1h")
        answer = services[0]("POST", f"/v1/calls/{identity}/cancel")
        if answer.status == 503:
            break
    assert answer.json["code"] == "outcomeUnknown" and "Look whether" in answer.json["detail"], answer.body
    assert services[0].get(identity)["state"] == "cancelled"
