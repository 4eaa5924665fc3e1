"""Documents of the service that instances share: what one has changed reaches all, and nobody undoes it."""

import json
import threading

import pytest

from networks import Network
from processes import BOUND, run, wait_until
from test_replica_forwarding import owners
from test_replica_operations import leader
from test_replicas import LASTING

ENDPOINTS = "/v1/webhook-endpoints"


pytestmark = pytest.mark.usefixtures("encrypted")


def document(cluster, identity):
    """A document as it is in the store; nothing if there is none."""
    exported = run("export", "--decrypt", "--store", cluster.url)
    assert exported.returncode == 0, exported
    entries = map(json.loads, exported.stdout.splitlines())
    return next((entry["content"] for entry in entries if entry.get("document") and entry["id"] == identity), None)


def change(cluster, identity, **members):
    """Changes an endpoint as another instance does of whose change no instance has heard."""
    text = json.dumps(document(cluster, identity) | members, separators=(",", ":"))
    cluster.query(f"UPDATE redial.documents SET content = convert_to('{text}', 'UTF8'), sum = NULL WHERE id = '{identity}'", "redial")


def test_a_revoked_key_is_refused_also_if_the_news_of_it_could_not_be_read_at_first(instances):
    cluster, (service,) = instances(1, *LASTING)
    admin = service("POST", "/v1/keys", {"name": "admin", "scopes": ["admin"]}).json
    admin = {"authorization": f"Bearer {admin['key']}"}
    revoked = service("POST", "/v1/keys", {"name": "revoked", "scopes": ["read"]}, admin).json
    bearer = {"authorization": f"Bearer {revoked['key']}"}
    assert service("GET", "/v1/calls", None, bearer).status == 200
    # Another instance changes the keys, and this one fails to read them.
    cluster.query("ALTER TABLE redial.documents RENAME TO hidden", "redial")
    assert cluster.query("UPDATE redial.versions SET n = n + 1 WHERE kind = 'apiKey' RETURNING kind", "redial")
    wait_until(lambda: "documentsNotRead" in service.log.read_text(), "it could not read the keys")
    # No further news comes of this.
    cluster.query(f"DELETE FROM redial.hidden WHERE id = '{revoked['id']}'", "redial")
    cluster.query("ALTER TABLE redial.hidden RENAME TO documents", "redial")
    wait_until(lambda: service("GET", "/v1/calls", None, bearer).status == 401, "the key is refused")
    assert service("GET", "/v1/keys", None, admin).status == 200
    # It says so once, not each second.
    service.says("documentsNotRead")
    assert service.log.read_text().count("documentsNotRead") == 1


def test_a_delivery_neither_undoes_a_change_of_its_endpoint_nor_brings_it_back(instances, receiver):
    cluster, (service,) = instances(1, *LASTING)
    hook, target = receiver(lambda request: (500, {}, b"")), receiver()
    endpoint = service("POST", ENDPOINTS, {"url": hook.url, "description": "old"}).json["id"]
    # As another instance does of whose change this one has not heard.
    change(cluster, endpoint, description="new")
    service.submit(url=target.url)
    stored = wait_until(
        lambda: (document(cluster, endpoint) or {}).get("failingSince") and document(cluster, endpoint), "it is noted")
    assert stored["description"] == "new"
    assert service("GET", f"{ENDPOINTS}/{endpoint}").json["description"] == "new"
    # What changes the endpoint knows the change, too.
    change(cluster, endpoint, description="newer")
    assert service("POST", f"{ENDPOINTS}/{endpoint}/rotate-secret", {}).json["description"] == "newer"

    cluster.query(f"DELETE FROM redial.documents WHERE id = '{endpoint}'", "redial")
    hook.answer = lambda request: (200, {}, b"")
    seen = len(hook.requests)
    service.submit(url=target.url)

    def succeeded():
        deliveries = service("GET", f"/v1/calls?kind=webhook&target=webhook:{endpoint}&state=succeeded").json["data"]
        return len(hook.requests) > seen and deliveries
    # If it has just read all endpoints again, it knows of the removal, and delivers nothing.
    wait_until(lambda: succeeded() or service("GET", f"{ENDPOINTS}/{endpoint}").status == 404, "a delivery succeeds")
    # The store makes this change after those that came before.
    assert service("PUT", "/v1/policies/last", {"maxAttempts": 2}).status == 201
    assert document(cluster, endpoint) is None
    assert service("PUT", f"{ENDPOINTS}/{endpoint}", {"url": hook.url}).status == 404
    assert service("POST", f"{ENDPOINTS}/{endpoint}/rotate-secret", {}).status == 404


def test_an_answer_of_an_earlier_url_does_not_disable_an_endpoint_that_another_instance_has_changed(instances, receiver):
    cluster, (service,) = instances(1, *LASTING)
    held = threading.Event()
    def hang(request):
        held.wait(BOUND)
        return 410, {}, b""
    hook, target = receiver(hang), receiver()
    endpoint = service("POST", ENDPOINTS, {"url": hook.url + "/old"}).json["id"]
    service.submit(url=target.url)
    assert hook.next().path == "/old"
    # As another instance does of whose change this one has not heard.
    change(cluster, endpoint, url=hook.url + "/new")
    held.set()
    # The answer brings the news of it.
    wait_until(lambda: service("GET", f"{ENDPOINTS}/{endpoint}").json["url"].endswith("/new"), "it knows the change")
    assert service("PUT", "/v1/policies/last", {"maxAttempts": 2}).status == 201
    assert service("GET", f"{ENDPOINTS}/{endpoint}").json["enabled"]
    hook.answer = lambda request: (200, {}, b"")
    service.submit(url=target.url)
    assert hook.next().path == "/new"


def test_the_webhooks_of_an_endpoint_wait_at_the_instance_that_has_its_target_until_it_is_enabled(instances, receiver):
    _, services = instances(2, *LASTING)
    hook, target = receiver(lambda request: (503, {}, b"")), receiver()
    made = [services[0]("POST", ENDPOINTS, {"url": f"{hook.url}/{n}"}).json["id"] for n in range(12)]
    targets = [f"/v1/targets/webhook%3A{identity}" for identity in made]

    def told():
        # The instance that runs the call may not have read all endpoints yet.
        services[0].ended(services[0].submit(url=target.url))
        return {r.path for r in hook.requests} == {f"/{n}" for n in range(12)}
    wait_until(told, "each gets a webhook")
    for enabled in (False, True):
        for number, identity in enumerate(made):
            answer = services[number % 2](
                "PUT", f"{ENDPOINTS}/{identity}", {"url": f"{hook.url}/{number}", "enabled": enabled})
            assert answer.status == 200 and answer.json["enabled"] == enabled
        wait_until(
            lambda: {services[1]("GET", path).json["paused"] for path in targets} == {not enabled}, f"enabled: {enabled}")
    hook.answer = lambda request: (200, {}, b"")

    def delivered():
        for path in targets:
            services[0]("POST", f"{path}/release")
        return all(services[1]("GET", f"{ENDPOINTS}/{identity}/deliveries?state=succeeded").json["data"] for identity in made)
    wait_until(delivered, "what waited is delivered")


@pytest.fixture
def ways(made, instances, database):
    """Two instances, each with a way of its own to the database: the leader first."""
    cluster = database()
    networks = [Network(cluster) for _ in range(2)]
    made += networks
    _, services = instances(2, *LASTING, on=cluster, each=lambda number: {"location": networks[number].url})
    url = leader(services[0])
    pairs = sorted(zip(services, networks), key=lambda pair: pair[0].url != url)
    return cluster, [service for service, _ in pairs], [network for _, network in pairs]


def test_an_instance_that_the_database_does_not_answer_shows_nothing_old(ways, receiver):
    _, (leading, other), (_, way) = ways
    assert leading("PUT", "/v1/policies/p", {"maxAttempts": 2}).status == 201
    endpoint = leading("POST", ENDPOINTS, {"url": receiver().url}).json["id"]
    paths = ["/v1/policies", "/v1/policies/p", "/v1/keys", ENDPOINTS, f"{ENDPOINTS}/{endpoint}"]
    wait_until(lambda: {other("GET", path).status for path in paths} == {200}, "the other instance knows all")
    way.tell("cut")
    assert leading("PUT", "/v1/policies/p", {"maxAttempts": 3}).status == 200
    for path in paths:
        refused = wait_until(lambda: (answer := other("GET", path)).status != 200 and answer, f"{path} is not shown")
        assert (refused.status, refused.json["code"]) == (503, "storageUnavailable"), refused.body
        assert leading("GET", path).status == 200
    way.tell("heal")
    # It is shown again at once, and read anew a moment later.
    wait_until(lambda: other("GET", "/v1/policies/p").json.get("version") == 2, "the new version is shown")


def test_the_owner_of_a_target_takes_no_call_by_a_key_of_which_only_it_knows_that_it_is_revoked(ways, receiver):
    target, (cluster, services, (_, way)) = receiver(), ways
    name = owners(cluster, services, target.url)[0][0]
    make = lambda *scopes, by=None: services[0]("POST", "/v1/keys", {"name": "a key", "scopes": scopes}, by).json
    admin = {"authorization": f"Bearer {make('admin')['key']}"}
    key = make("submit", "operate", by=admin)
    bearer = {"authorization": f"Bearer {key['key']}"}
    submit = lambda: services[1]("POST", "/v1/calls", {"url": target.url, "target": name}, bearer)
    pause = lambda: services[1]("POST", f"/v1/targets/{name}/pause", None, bearer)
    wait_until(lambda: services[1]("GET", "/v1/calls").status == 401, "the other instance asks for a key")
    wait_until(lambda: submit().status == 202 and pause().status == 200, "it knows the key")
    way.tell("cut")
    assert services[0]("DELETE", f"/v1/keys/{key['id']}", None, admin).status == 200
    for answer in (submit(), pause()):
        assert (answer.status, answer.json.get("code")) == (401, "invalidAPIKey"), answer.body
        assert "invalid_token" in answer.headers["www-authenticate"]
