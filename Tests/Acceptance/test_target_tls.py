"""TLS settings of a single target, with certificates made for the test."""

import base64
import hashlib
import json
import os
import shutil
import sqlite3
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest

from processes import wait_until

ORIGINS = ["https://api.example.com"]


def openssl(folder, *arguments, stdin=None):
    run = subprocess.run(["openssl", *arguments], cwd=folder, input=stdin, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout


def issuer(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", "-addext",
            "subjectAltName=IP:127.0.0.1")


class SecureTarget:
    """Answers with the name on its client's certificate."""

    def __init__(self, folder, keeps=True, version=None):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                certificate = self.connection.getpeercert() or {"subject": [[("commonName", "nobody")]]}
                name = dict(pair[0] for pair in certificate["subject"])["commonName"].encode()
                self.send_response_only(200)
                self.send_header("content-length", str(len(name)))
                if not keeps:
                    self.send_header("connection", "close")
                    self.close_connection = True
                self.end_headers()
                self.wfile.write(name)

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                # The handshake runs on the connection's own thread.
                connection, address = self.socket.accept()
                return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

            def handle_error(self, *_):
                pass

        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=folder / "client.pem")
        context.load_verify_locations(folder / "other.pem")
        if version:
            context.maximum_version = version
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def secure(made, tmp_path):
    for name in ("server", "client", "other"):
        issuer(tmp_path, name)
    target = SecureTarget(tmp_path)
    made.append(target)
    return target


def test_a_target_has_its_own_certificate_issuers_pins_and_version(redial, secure, tmp_path):
    service = redial(f"--tls-directory={tmp_path}")

    def put(tls):
        return service("PUT", f"/v1/targets/{quote(secure.url, safe='')}", {"tls": tls})

    def call(**more):
        return service.ended(service.submit(url=secure.url, policy={"maxAttempts": 1}, **more))

    def code(ended):
        return ended["attempts"][0]["error"]["code"]

    def path(name):
        return str(tmp_path / name)

    assert code(call()) == "certificateSelfSigned"
    tls = {"caFile": path("server.pem"), "certificate": path("client.pem"), "key": path("client.key")}
    assert put(tls).status == 200
    ended = call()
    assert (ended["state"], ended["response"]["body"]) == ("succeeded", "client"), ended
    # The settings survive the process, and no answer nor the store has the files' content.
    service.kill()
    service.start()
    assert service.target(secure.url)["settings"]["tls"] == tls
    assert call()["response"]["body"] == "client"
    secret = b"".join((tmp_path / "client.key").read_bytes().splitlines()[1:-1])[:40]
    shown = service("GET", "/v1/targets").body
    stored = b"".join(f.read_bytes() for f in tmp_path.glob("redial.db*"))
    assert b"client.key" in shown and b"client.key" in stored
    assert secret not in shown and secret not in stored
    # The settings belong to the origin, whatever the name of the call's target.
    assert call(target="other")["response"]["body"] == "client"

    key = openssl(tmp_path, "x509", "-in", "server.pem", "-noout", "-pubkey")
    digest = hashlib.sha256(openssl(tmp_path, "pkey", "-pubin", "-outform", "der", stdin=key)).digest()
    right, wrong = base64.b64encode(digest).decode(), base64.b64encode(b"x" * 32).decode()
    assert put({"caFile": path("server.pem"), "pins": [wrong]}).status == 200
    ended = call()
    assert (ended["failureReason"], code(ended)) == ("notRetryable", "certificateNotPinned")
    assert put({"caFile": path("server.pem"), "pins": [wrong, right], "minVersion": "1.3"}).status == 200
    assert call()["response"]["body"] == "nobody"
    assert put({"caFile": path("other.pem")}).status == 200
    assert code(call()) == "certificateSelfSigned"
    assert put({"caFile": path("server.pem"), "certificate": path("missing.pem")}).status == 200
    assert code(call()) == "clientCertificateUnusable"

    for tls, pointer in [({"caFile": "server.pem"}, "/tls/caFile"), ({"key": "/k"}, "/tls/key"),
                         ({"pins": ["x"]}, "/tls/pins/0"), ({"minVersion": "1.0"}, "/tls/minVersion")]:
        answer = put(tls)
        assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, pointer)


@pytest.mark.parametrize("member", ["caFile", "certificate", "key"])
@pytest.mark.parametrize("kind", ["pipe", "large"])
def test_what_is_no_file_or_a_very_large_one_stops_no_other(redial, secure, receiver, tmp_path, member, kind):
    (tmp_path / "files").mkdir()
    strange, service, other = tmp_path / "files/strange", redial(f"--tls-directory={tmp_path}"), receiver()
    if kind == "pipe":
        os.mkfifo(strange)
    else:
        strange.write_bytes((tmp_path / "server.pem").read_bytes() * 2000)
        assert strange.stat().st_size > 1 << 20
    tls = {"caFile": str(tmp_path / "server.pem"), "certificate": str(tmp_path / "client.pem"), "key": str(tmp_path / "client.key")}
    answer = service("PUT", f"/v1/targets/{quote(secure.url, safe='')}", {"tls": tls | {member: str(strange)}})
    assert answer.status == 200, answer.body
    refused = service.submit(url=secure.url, policy={"backoff": {"initial": "50ms", "max": "100ms"}})
    wait_until(lambda: service.get(refused)["attemptCount"], "it was tried")
    for _ in range(3):
        assert service.ended(service.submit(url=other.url))["state"] == "succeeded"
    attempt = service.get(refused)["attempts"][0]
    assert (attempt["outcome"], attempt["error"]["code"]) == (
        "localFault", "issuersUnreadable" if member == "caFile" else "clientCertificateUnusable")
    assert "1 MiB" in attempt["error"]["message"]
    # It is read when the next connection is made.
    strange.unlink()
    strange.write_bytes((tmp_path / {"caFile": "server.pem", "certificate": "client.pem", "key": "client.key"}[member]).read_bytes())
    assert service.ended(refused)["state"] == "succeeded"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("age", [0, 2.1], ids=["at once", "later"])
def test_files_that_are_replaced_are_read_when_the_next_connection_is_made(redial, made, tmp_path, version, age):
    # What is read of issuers is kept as long as their file is the same, and has not changed for two seconds.
    for name in ("server", "client", "other"):
        issuer(tmp_path, name)
    target = SecureTarget(tmp_path, keeps=False, version=version)
    made.append(target)

    def place(name, *ends):
        for end in ends:
            shutil.copy(tmp_path / f"{name}.{end[1]}", tmp_path / f"used{end[0]}.{end[1]}")
        time.sleep(age)

    place("other", ("-ca", "pem"))
    place("client", ("", "pem"), ("", "key"))
    # For a single target, and for all.
    service = redial(f"--tls-directory={tmp_path}", f"--ca-file={tmp_path}/used-ca.pem")

    def call(**more):
        return service.ended(service.submit(url=target.url, policy={"maxAttempts": 1}, **more))

    for tls, names in [({}, ("nobody", "nobody")), (
            {"caFile": f"{tmp_path}/used-ca.pem", "certificate": f"{tmp_path}/used.pem", "key": f"{tmp_path}/used.key"}, ("client", "other"))]:
        assert service("PUT", f"/v1/targets/{quote(target.url, safe='')}", {"tls": tls}).status == 200
        assert call()["attempts"][0]["error"]["code"] == "certificateSelfSigned"
        place("server", ("-ca", "pem"))
        for _ in range(2):
            assert call()["response"]["body"] == names[0]
        place("other", ("", "pem"), ("", "key"))
        assert call()["response"]["body"] == names[1]
        place("other", ("-ca", "pem"))
        assert call()["attempts"][0]["error"]["code"] == "certificateSelfSigned"
        place("client", ("", "pem"), ("", "key"))


def test_no_file_outside_the_directory_can_be_asked_for(redial, tmp_path):
    """Whether the file exists, can be read or is a certificate: the answer is the same."""
    folder = tmp_path / "tls"
    (folder / "more").mkdir(parents=True)
    (tmp_path / "tls2").mkdir()
    for name in ["inside.pem", "more/inside.pem", "../tls2/outside.pem"]:
        (folder / name).write_text("x")
    service = redial(f"--tls-directory={folder}/")

    def put(path, member="caFile"):
        answer = service("PUT", "/v1/targets/t", {"tls": {member: str(path), "origins": ORIGINS}})
        return answer.status, answer.json.get("errors")

    for path in ["inside.pem", "more/inside.pem", "missing.pem", "/more//inside.pem"]:
        assert put(f"{folder}/{path}")[0] == 200, path
    outside = [f"{tmp_path}/tls2/outside.pem", f"{tmp_path}/tls2/missing.pem", "/etc/passwd", "/etc/shadow", "/", "/no/such",
               f"{folder}", f"{folder}/", f"{folder}/../tls2/outside.pem", f"{folder}/more/../inside.pem", f"{folder}/./x",
               f"{folder}2/outside.pem"]
    answers = {str(put(path)) for path in outside}
    assert len(answers) == 1 and "422" in answers.pop()
    for member in ["certificate", "key"]:
        assert put("/etc/passwd", member)[1][0]["pointer"] == f"/tls/{member}"


def test_without_a_directory_no_file_can_be_named(redial, tmp_path):
    (tmp_path / "ca.pem").write_text("x")
    service = redial()
    answers = [service("PUT", "/v1/targets/t", {"tls": {"caFile": str(path), "origins": ORIGINS}}) for path in [tmp_path / "ca.pem", "/no/such"]]
    assert [answer.status for answer in answers] == [422, 422]
    assert answers[0].json["errors"] == answers[1].json["errors"] and "tlsDirectory" in answers[0].json["detail"]
    assert service("PUT", "/v1/targets/t", {"tls": {"minVersion": "1.3", "origins": ORIGINS}}).status == 200


def test_a_namespace_names_files_of_its_own_directory_only(redial, tmp_path):
    folder = tmp_path / "tls"
    service = redial(f"--tls-directory={folder}")

    def put(namespace, path):
        return service("PUT", "/v1/targets/t", {"tls": {"certificate": f"{folder}/{path}", "origins": ORIGINS}}, {
            "content-type": "application/json", "redial-namespace": namespace}).status

    assert put("acme", "acme/client.pem") == 200 and put("acme", "acme/more/client.pem") == 200
    for path in ["client.pem", "other/client.pem", "acme2/client.pem", "acme", "acme/../client.pem"]:
        assert put("acme", path) == 422, path
    assert put("other", "acme/client.pem") == 422 and put("other", "other/client.pem") == 200
    assert put("default", "client.pem") == 200


def test_files_that_were_set_before_there_was_a_directory_are_not_applied(redial, tmp_path):
    service = redial(f"--tls-directory={tmp_path}/old")
    tls = {"caFile": f"{tmp_path}/old/ca.pem", "minVersion": "1.3", "origins": ORIGINS}
    assert service("PUT", "/v1/targets/t", {"tls": tls}).status == 200
    service.terminate()
    flag = service.arguments.index(f"--tls-directory={tmp_path}/old")
    service.arguments[flag] = f"--tls-directory={tmp_path}/new"
    service.start()
    assert service.target("t")["settings"]["tls"] == {"minVersion": "1.3", "origins": ORIGINS}
    service.says("warning tlsFilesNotApplied")
    service.terminate()
    service.arguments[flag] = f"--tls-directory={tmp_path}/old"
    service.start()
    assert service.target("t")["settings"]["tls"] == tls


def pin(folder, name):
    key = openssl(folder, "x509", "-in", f"{name}.pem", "-noout", "-pubkey")
    return base64.b64encode(hashlib.sha256(openssl(folder, "pkey", "-pubin", "-outform", "der", stdin=key)).digest()).decode()


class Calls:
    """One attempt each, by a service that trusts the tests' servers only if it is configured to."""

    def __init__(self, service):
        self.service = service

    def put(self, key, tls):
        return self.service("PUT", f"/v1/targets/{quote(key, safe='')}", {"tls": tls})

    def __call__(self, url, **more):
        """The name on the certificate that was used, or what went wrong."""
        call = self.service.ended(self.service.submit(url=url, policy={"maxAttempts": 1}, **more))
        return call["response"]["body"] if call["state"] == "succeeded" else call["attempts"][0]["error"]["code"]


@pytest.fixture
def two(secure, made, tmp_path):
    """Two origins with one certificate, and settings with Redial's certificate and their issuer."""
    other = SecureTarget(tmp_path)
    made.append(other)
    tls = {"certificate": str(tmp_path / "client.pem"), "key": str(tmp_path / "client.key")}
    return secure, other, tls


def test_a_certificate_is_shown_to_the_origins_only_that_it_was_set_for(redial, two, tmp_path):
    one, other, tls = two
    calls = Calls(redial(f"--tls-directory={tmp_path}", f"--ca-file={tmp_path}/server.pem"))
    refused = calls.put("billing", tls)
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/tls/origins")
    assert calls.put("billing", tls | {"origins": [one.url + "/"]}).status == 200
    assert calls.service.target("billing")["settings"]["tls"]["origins"] == [one.url]
    assert calls(one.url, target="billing") == "client"
    # A call to another origin under this target name does not use it; nor does a call to the origin without the name.
    assert calls(other.url, target="billing") == "nobody"
    assert calls(one.url) == "nobody"
    # A target that is an origin has its settings for that origin.
    assert calls.put(other.url, tls).status == 200
    assert calls(one.url, target=other.url) == "nobody"
    assert calls(other.url) == "client"
    for wrong in (["x"], ["ftp://x"], [one.url + "/path"], [one.url + "?q"], [""], "x", [1], [one.url] * 65):
        refused = calls.put("billing", tls | {"origins": wrong})
        assert refused.status == 422 and refused.json["errors"][0]["pointer"].startswith("/tls/origins"), wrong


def test_pins_and_issuers_of_an_origin_hold_whatever_target_a_call_names(redial, two, tmp_path):
    one, other, _ = two
    calls = Calls(redial(f"--tls-directory={tmp_path}", f"--ca-file={tmp_path}/server.pem"))
    wrong = [pin(tmp_path, "other")]
    assert calls.put(one.url, {"pins": wrong}).status == 200
    for more in ({}, {"target": "billing"}, {"target": other.url}):
        assert calls(one.url, **more) == "certificateNotPinned", more
        assert calls(other.url, **more) == "nobody", more
    # Nor do the settings of the name weaken them.
    assert calls.put("billing", {"origins": [one.url], "pins": [pin(tmp_path, "server")]}).status == 200
    assert calls(one.url, target="billing") == "certificateNotPinned"
    assert calls.put(one.url, {"caFile": str(tmp_path / "other.pem")}).status == 200
    assert calls(one.url, target="billing") == "certificateSelfSigned"
    # And pins that were set under a name apply to calls without the name.
    assert calls.put("billing", {"origins": [one.url], "pins": wrong}).status == 200
    assert calls.put(one.url, {"minVersion": "1.2"}).status == 200
    assert calls(one.url) == "certificateNotPinned"


def test_a_rules_certificate_is_shown_to_the_targets_own_origin_only(redial, two, tmp_path):
    one, other, tls = two
    rules = [{"match": "bill*", "settings": {"tls": tls | {"origins": [one.url]}}}, {"match": one.url, "settings": {}},
             {"match": "*", "settings": {"tls": tls}}]
    calls = Calls(redial(f"--ca-file={tmp_path}/server.pem", f"--target-rules={json.dumps(rules)}"))
    assert calls(other.url) == "client"
    assert calls(other.url, target="any") == "client", "it is the origin's"
    assert calls(one.url) == "nobody" and calls(one.url, target="any") == "nobody"
    assert calls(one.url, target="billing") == "client"
    assert calls(one.url, target=other.url) == "nobody"


def test_a_redirect_carries_no_certificate_and_meets_the_pins_of_where_it_leads(redial, two, receiver, tmp_path):
    one, other, tls = two
    calls = Calls(redial(f"--tls-directory={tmp_path}", f"--ca-file={tmp_path}/server.pem"))
    leads = receiver(lambda request: (302, {"location": one.url}, b""))
    assert calls.put(one.url, tls).status == 200
    # The server that redirects must not make Redial call another one with its certificate.
    assert calls(one.url) == "client"
    assert calls(leads.url, redirects={"max": 1}) == "nobody"
    assert calls.put(one.url, tls | {"pins": [pin(tmp_path, "other")]}).status == 200
    assert calls(leads.url, redirects={"max": 1}) == "certificateNotPinned"


def test_tls_that_was_set_before_for_a_name_holds_nowhere_until_it_names_origins(redial, two, tmp_path):
    one, _, tls = two
    service = redial(f"--tls-directory={tmp_path}", f"--ca-file={tmp_path}/server.pem")
    calls = Calls(service)
    assert calls.put("billing", tls | {"origins": [one.url]}).status == 200
    service.terminate()
    # In the form of earlier versions.
    with sqlite3.connect(service.store) as store:
        record = json.dumps({"controls": {"overrides": {"tls": tls}}}).encode()
        store.execute("UPDATE targets SET record = ? WHERE key = 'billing'", (record,))
    store.close()
    service.start()
    service.says("warning tlsNotApplied")
    service.says("billing")
    assert calls(one.url, target="billing") == "nobody"
    assert calls.put("billing", tls | {"origins": [one.url]}).status == 200
    assert calls(one.url, target="billing") == "client"
