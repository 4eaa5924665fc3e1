"""Documents of the service that instances share: what one has changed reaches all, and nobody undoes it."""

from processes import wait_until


def test_a_revoked_key_is_refused_also_if_the_news_of_it_could_not_be_read_at_first(instances):
    cluster, (service,) = instances(1)
    admin = service("POST", "/v1/keys", {"name": "admin", "scopes": ["admin"]}).json
    admin = {"authorization": f"Bearer {admin['key']}"}
    revoked = service("POST", "/v1/keys", {"name": "revoked", "scopes": ["read"]}, admin).json
    bearer = {"authorization": f"Bearer {revoked['key']}"}
    assert service("GET", "/v1/calls", None, bearer).status == 200
    # Another instance changes the keys, and this one fails to read them.
    cluster.query(
        "INSERT INTO redial.documents (kind, id, content) VALUES ('apiKey', 'damaged', '{');"
        "UPDATE redial.versions SET n = n + 1 WHERE kind = 'apiKeys'", "redial")
    wait_until(lambda: "documentsNotRead" in service.log.read_text(), "it could not read the keys")
    # No further news comes of this.
    cluster.query(f"DELETE FROM redial.documents WHERE id IN ('damaged', '{revoked['id']}')", "redial")
    wait_until(lambda: service("GET", "/v1/calls", None, bearer).status == 401, "the key is refused")
    assert service("GET", "/v1/keys", None, admin).status == 200
    # It says so once, not each second.
    assert service.log.read_text().count("documentsNotRead") == 1
