"""TLS as it is set for a single target, with certificates made for the occasion."""

import base64
import hashlib
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest


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

    def __init__(self, folder):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                certificate = self.connection.getpeercert() or {"subject": [[("commonName", "nobody")]]}
                name = dict(pair[0] for pair in certificate["subject"])["commonName"].encode()
                self.send_response_only(200)
                self.send_header("content-length", str(len(name)))
                self.end_headers()
                self.wfile.write(name)

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                # The handshake belongs to the connection's own thread.
                connection, address = self.socket.accept()
                return context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

            def handle_error(self, *_):
                pass

        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=folder / "client.pem")
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
    # It outlives the process, and what is in the files is in no answer and not in the store.
    service.kill()
    service.start()
    assert service.target(secure.url)["settings"]["tls"] == tls
    assert call()["response"]["body"] == "client"
    secret = b"".join((tmp_path / "client.key").read_bytes().splitlines()[1:-1])[:40]
    shown = service("GET", "/v1/targets").body
    stored = b"".join(f.read_bytes() for f in tmp_path.glob("redial.db*"))
    assert b"client.key" in shown and b"client.key" in stored
    assert secret not in shown and secret not in stored
    # Another target with the same address has none of it.
    assert code(call(target="other")) == "certificateSelfSigned"

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


def test_no_file_outside_the_directory_can_be_asked_for(redial, tmp_path):
    """Whether it exists, whether it can be read and whether it is a certificate: the answer is the same."""
    folder = tmp_path / "tls"
    (folder / "more").mkdir(parents=True)
    (tmp_path / "tls2").mkdir()
    for name in ["inside.pem", "more/inside.pem", "../tls2/outside.pem"]:
        (folder / name).write_text("x")
    service = redial(f"--tls-directory={folder}/")

    def put(path, member="caFile"):
        answer = service("PUT", "/v1/targets/t", {"tls": {member: str(path)}})
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
    answers = [service("PUT", "/v1/targets/t", {"tls": {"caFile": str(path)}}) for path in [tmp_path / "ca.pem", "/no/such"]]
    assert [answer.status for answer in answers] == [422, 422]
    assert answers[0].json["errors"] == answers[1].json["errors"] and "tlsDirectory" in answers[0].json["detail"]
    assert service("PUT", "/v1/targets/t", {"tls": {"minVersion": "1.3"}}).status == 200


def test_a_namespace_names_files_of_its_own_directory_only(redial, tmp_path):
    folder = tmp_path / "tls"
    service = redial(f"--tls-directory={folder}")

    def put(namespace, path):
        return service("PUT", "/v1/targets/t", {"tls": {"certificate": f"{folder}/{path}"}}, {
            "content-type": "application/json", "redial-namespace": namespace}).status

    assert put("acme", "acme/client.pem") == 200 and put("acme", "acme/more/client.pem") == 200
    for path in ["client.pem", "other/client.pem", "acme2/client.pem", "acme", "acme/../client.pem"]:
        assert put("acme", path) == 422, path
    assert put("other", "acme/client.pem") == 422 and put("other", "other/client.pem") == 200
    assert put("default", "client.pem") == 200


def test_files_that_were_set_before_there_was_a_directory_are_not_applied(redial, tmp_path):
    service = redial(f"--tls-directory={tmp_path}/old")
    tls = {"caFile": f"{tmp_path}/old/ca.pem", "minVersion": "1.3"}
    assert service("PUT", "/v1/targets/t", {"tls": tls}).status == 200
    service.terminate()
    flag = service.arguments.index(f"--tls-directory={tmp_path}/old")
    service.arguments[flag] = f"--tls-directory={tmp_path}/new"
    service.start()
    assert service.target("t")["settings"]["tls"] == {"minVersion": "1.3"}
    assert "warning tlsFilesNotApplied" in service.log.read_text()
    service.terminate()
    service.arguments[flag] = f"--tls-directory={tmp_path}/old"
    service.start()
    assert service.target("t")["settings"]["tls"] == tls
