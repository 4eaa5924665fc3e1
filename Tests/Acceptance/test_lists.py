"""Every list is read in pages in the same way."""

import yaml

from processes import ROOT, Constants, wait_until

CONTRACT = yaml.safe_load((ROOT / "api/openapi.yaml").read_text())
# Windows of time are no list, and have no pages.
NO_LISTS = {"/v1/statistics"}


def lists():
    """The paths of the contract that answer with a list."""
    for path, operations in CONTRACT["paths"].items():
        content = operations.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        if "$ref" in schema:
            schema = CONTRACT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        if "data" in schema.get("properties", {}) and path not in NO_LISTS:
            yield path, schema


def parameters(path):
    for parameter in CONTRACT["paths"][path]["get"].get("parameters", []):
        yield CONTRACT["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]] if "$ref" in parameter else parameter


def test_the_contract_says_of_every_list_how_it_is_paged():
    found = dict(lists())
    assert len(found) == 13
    for path, schema in found.items():
        assert schema["required"][:2] == ["data", "nextCursor"], path
        names = {parameter["name"]: parameter for parameter in parameters(path) if parameter["in"] == "query"}
        assert {"limit", "cursor"} <= set(names), path
        assert names["limit"]["schema"]["minimum"] == 1 and names["limit"]["schema"]["default"], path


def test_pages_of_one_element_are_the_whole_list(redial, receiver):
    target = receiver(lambda request: (500 if "bad" in request.path else 200, {}, b""))
    service = redial(Constants(alertInterval="20ms"))
    once = {"maxAttempts": 1}
    for name in ("a", "b", "c"):
        assert service("PUT", f"/v1/policies/{name}", {"maxAttempts": 2}).status == 201
        credential = {"type": "bearer", "token": "x", "origins": [target.url]}
        assert service("PUT", f"/v1/credentials/{name}", credential).status == 201
        endpoint = service("POST", "/v1/webhook-endpoints", {"url": f"{target.url}/{name}", "events": ["call.succeeded"]}).json["id"]
        assert service("PUT", f"/v1/alerts/{name}", {"to": {"endpoint": endpoint}, "kinds": ["failed"], "after": "0s"}).status == 201
    calls = [service.submit(url=f"{target.url}/bad{n}", target=f"t{n}", policy=once) for n in range(3)]
    tried = service.submit(url=f"{target.url}/bad", target="tried", policy={"maxAttempts": 3, "backoff": {"initial": "1ms"}})
    for call in (*calls, tried):
        assert service.ended(call)["state"] == "failed"
    good = service.submit(url=target.url)
    service.ended(good)
    for call in calls:
        assert service("POST", "/v1/operations", {"action": "cancel", "filter": {"target": call}}).status == 202
    # The lists of these do not change any more then.
    delivered = "/v1/calls?kind=webhook&state=succeeded"
    wait_until(lambda: len(service("GET", delivered).json["data"]) == 15, "all of it and the good call is delivered")
    admin = service("POST", "/v1/keys", {"scopes": ["admin"], "name": "first"}).json["key"]
    fields = {"authorization": f"Bearer {admin}"}
    for name in ("second", "third"):
        assert service("POST", "/v1/keys", {"scopes": ["read"], "name": name}, fields).status == 201
    ids = {"/v1/calls/{id}/attempts": tried, "/v1/webhook-endpoints/{id}/deliveries": endpoint}

    def ask(path, query=""):
        return service("GET", path + query, headers=fields)

    def keys(elements):
        return [next(element[name] for name in ("id", "name", "key", "number") if name in element) for element in elements]

    for path, _ in lists():
        path = path.replace("{id}", ids.get(path, ""))
        # What is listed may still change, such as an operation that goes on.
        whole = ask(path).json
        assert whole["nextCursor"] is None and len(whole["data"]) >= (1 if path.endswith(("deliveries", "instances")) else 3), path
        shown, query = [], "?limit=1"
        while query:
            page = ask(path, query)
            assert page.status == 200 and len(page.json["data"]) == 1, (path, query, page.body)
            shown += page.json["data"]
            cursor = page.json["nextCursor"]
            query = cursor and f"?limit=1&cursor={cursor}"
        assert keys(shown) == keys(whole["data"]), path
        most = next(p for p in parameters(next(p for p, _ in lists() if path == p.replace("{id}", ids.get(p, "")))) if p["name"] == "limit")
        for wrong in (0, most["schema"]["maximum"] + 1, "x"):
            answer = ask(path, f"?limit={wrong}")
            assert (answer.status, answer.json["code"]) == (400, "invalidParameter"), (path, wrong)
        assert ask(path, f"?limit={most['schema']['maximum']}").status == 200, path
        if path not in ("/v1/targets", "/v1/policies", "/v1/alerts", "/v1/credentials"):
            # A name may be that of something that is gone: the list goes on behind it.
            assert ask(path, "?cursor=nobody").status == 400, path


def test_webhook_endpoints_are_listed_oldest_first(redial, receiver):
    service, target = redial(), receiver()
    made = [service("POST", "/v1/webhook-endpoints", {"url": f"{target.url}/{n}", "events": ["call.failed"]}).json["id"] for n in range(8)]
    listed = [endpoint["id"] for endpoint in service("GET", "/v1/webhook-endpoints").json["data"]]
    assert listed == made


def test_what_is_removed_meanwhile_ends_no_list(redial, receiver):
    service, target = redial(), receiver()
    for n in range(6):
        assert service("PUT", f"/v1/policies/p{n}", {"maxAttempts": 2}).status == 201
        endpoint = service("POST", "/v1/webhook-endpoints", {"url": f"{target.url}/{n}", "events": ["call.failed"]}).json["id"]
        alert = {"to": {"endpoint": endpoint}, "kinds": ["failed"]}
        assert service("PUT", f"/v1/alerts/a{n}", alert).status == 201
    for path, name in (("/v1/alerts", "name"), ("/v1/policies", "name"), ("/v1/webhook-endpoints", "id")):
        removed, query = 0, "?limit=2"
        while query:
            page = service("GET", path + query)
            assert page.status == 200, page.body
            for element in page.json["data"]:
                assert service("DELETE", f"{path}/{element[name]}").status == 204
                removed += 1
            cursor = page.json["nextCursor"]
            query = cursor and f"?limit=2&cursor={cursor}"
        assert removed == 6 and not service("GET", path).json["data"], path
