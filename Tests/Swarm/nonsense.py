"""Requests that no client should make."""

import json

PATHS = ["/v1/calls", "/v1/calls/batch", "/v1/policies/n", "/v1/credentials/n", "/v1/alerts/n", "/v1/webhook-endpoints", "/v1/keys", "/v1/operations",
         "/v1/targets/n", "/v1/targets/n/pause", "/v1/policies/preview", "/v1/calls/call_0000000000000", "/v1/calls/x/cancel",
         "/v1/issues/x", "/v1/events?after=x", "/v1/calls?cursor=x", "/v1/calls?limit=0", "/v1/calls?state=none", "/v1/forward/http:/x",
         "/v1/forward/ftp://x", "/v1/nothing", "//", "/v1/policies/%00", "/v1/policies/..", "/v1/policies/" + "n" * 300, "/v1/statistics?window=1s"]
VALUES = [None, True, 0, -1, 1.5, 1e308, 1 << 70, "", "x", "\0", "\ud83d\ude00", "x" * 5000, [], {}, [[]], "1h", "-1s", "1e9h", "https://x y/", "..", ["a"] * 300]
MEMBERS = ["url", "method", "headers", "body", "json", "bodyBase64", "policy", "delay", "startAt", "target", "idempotent", "credential", "sign", "labels",
           "callback", "redirects", "orderingKey", "priority", "capture", "redact", "sensitive", "name", "scopes", "to", "origins", "token", "type", "events",
           "action", "filter", "maxAttempts", "deadline", "backoff", "breaker", "rate", "maxInFlight", "nothing"]
# Members with which no call can be made.
FALSE = [{"target": ".."}, {"target": "%2e"}, {"url": "http://a..b/"}, {"url": f"http://{'x' * 64}/"}, {"url": "ftp://a/"}, {"headers": {"Host": ""}},
         {"headers": {"Content-Type": ["a/b", "c/d"]}}, {"method": "CONNECT"}, {"method": "G T"}, {"priority": 10}, {"delay": "-1s"}, {"nothing": 1},
         {"headers": {"Content-Length": "5"}}, {"policy": {"maxAttempts": 0}}, {"labels": {"a=b": "c"}}, {"body": "a", "json": 1}, {"bodyBase64": "?"}]
TEXTS = [b"", b"{", b"[", b"null", b"\xff\xfe", b'{"url": "http://127.0.0.1:9/", "url": "http://127.0.0.1:9/"}', b"[" * 600, b'{"a":' * 300, b'"' + b"x" * 100_000 + b'"',
         b'{"url": "http://127.0.0.1:9/", "delay": "1h"} {}', b"\xef\xbb\xbf{}"]


def request(chance, actor):
    """A method, a path, a body and fields."""
    method = chance.choice(["GET", "POST", "PUT", "PATCH", "DELETE", "PURGE"])
    path = chance.choice(PATHS)
    headers = {"content-type": chance.choice(["application/json", "application/json", "application/x-ndjson", "text/plain", ""])}
    if chance.random() < 0.2:
        headers |= chance.choice([{"content-encoding": "gzip"}, {"prefer": "wait=x"}, {"idempotency-key": ""}, {"idempotency-key": "x" * 300},
                                  {"traceparent": "00-x"}, {"redial-hops": "99"}, {"redial-namespace": "acme"}, {"accept": "nothing/*"}])
    if method in ("GET", "DELETE"):
        return method, path, None, headers
    if chance.random() < 0.3:
        return method, path, chance.choice(TEXTS), headers
    # It is never due, and on a port where nobody listens.
    made = {"url": "http://127.0.0.1:9/", "delay": "300h", "labels": {"mark": f"mark-{actor.tenant}-nonsense-0x"}} if chance.random() < 0.5 else {}
    for _ in range(chance.choice([1, 1, 2, 5])):
        made[chance.choice(MEMBERS)] = chance.choice(VALUES)
    if made.get("delay") in (None, "", 0) or "startAt" in made:
        made["delay"] = "-1h"
    return method, path, json.dumps(made), headers
