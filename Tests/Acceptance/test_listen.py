"""Where the service listens: Unix domain sockets, IPv6, and sockets that another process passes on."""

import fcntl
import http.client
import json
import os
import select
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

from processes import BINARY, BOUND, environment, free_port, is_starting, run, wait_until


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=BOUND)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(BOUND)
        self.sock.connect(self.path)


class Service:
    """The service, with any listen address, on a store that a later one takes over."""

    def __init__(self, folder, *flags, inherited=(), env=None):
        self.log = folder / "redial.log"
        self.offset = self.log.stat().st_size if self.log.exists() else 0
        command = [BINARY, "serve", "--store", f"sqlite:{folder / 'redial.db'}", *flags]
        keys = dict(env or {})
        if inherited:
            keys.setdefault("LISTEN_FDS", str(len(inherited)))
            # The shell becomes the service, so its process id is the service's; sockets get descriptors from 3 on.
            places = " ".join(f"{3 + index}<&{s.fileno()}-" for index, s in enumerate(inherited))
            command = ["bash", "-c", f'LISTEN_PID=${{LISTEN_PID:-$$}} exec "$@" {places}', "bash", *command]
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(
                command, stdout=output, stderr=output, env=environment(keys),
                pass_fds=[s.fileno() for s in inherited])

    @property
    def said(self):
        return self.log.read_bytes()[self.offset:].decode()

    def greeted(self):
        """The addresses in its output."""
        def line():
            assert self.process.poll() is None, f"it ended at once:\n{self.said}"
            return next((l for l in self.said.splitlines() if " listens on " in l), None)
        return wait_until(line, "it listens").partition(" listens on ")[2]

    def refuses(self):
        """The exit code of a service that cannot start."""
        return self.process.wait(BOUND)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(BOUND)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(BOUND)


@pytest.fixture
def serve(made, tmp_path):
    def start(*flags, **more):
        service = Service(tmp_path, *flags, **more)
        made.append(service)
        return service
    return start


@pytest.fixture
def listening():
    """A socket that listens (or not, without a backlog), on an unused descriptor."""
    sockets = []

    def make(address=("127.0.0.1", 0), family=socket.AF_INET, backlog=1024):
        first = socket.socket(family)
        first.bind(address)
        if backlog is not None:
            first.listen(backlog)
        high = socket.socket(fileno=fcntl.fcntl(first.fileno(), fcntl.F_DUPFD_CLOEXEC, 50))
        first.close()
        sockets.append(high)
        return high

    yield make
    for s in sockets:
        s.close()


def ask(connection, method, path, body=None):
    """The answer, once the service has started."""
    def answered():
        connection.request(method, path, body and json.dumps(body), {"content-type": "application/json"} if body else {})
        answer = connection.getresponse()
        status, content = answer.status, answer.read()
        return not is_starting(status, content) and (status, content)
    return wait_until(answered, "it has started")


def test_a_unix_domain_socket_is_served_to_people_and_programs_and_goes_at_a_stop(serve, tmp_path):
    path = str(tmp_path / "redial.sock")
    service = serve("--listen", f"unix:{path}", "--loops", "2")
    assert service.greeted() == f"unix:{path}"
    assert f"--unix-socket {path} http://localhost/v1/calls" in service.said
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    status, body = ask(UnixConnection(path), "POST", "/v1/calls", {"url": "http://127.0.0.1:9/", "delay": "1h"})
    assert status == 202
    assert json.loads(body)["id"] in run("list", "--url", f"unix:{path}").stdout
    assert run("health", env={"REDIAL_LISTEN": f"unix:{path}"}).returncode == 0
    assert service.terminate() == 0
    assert not os.path.exists(path)
    gone = run("health", "--url", f"unix:{path}")
    assert gone.returncode == 3 and f"unix:{path}" in gone.stderr


def test_a_killed_services_socket_is_replaced_and_a_living_ones_is_not(serve, tmp_path):
    path = str(tmp_path / "redial.sock")
    first = serve("--listen", f"unix:{path}")
    first.greeted()
    first.end()
    assert os.path.exists(path)
    second = serve("--listen", f"unix:{path}", "--socket-permissions", "0666")
    second.greeted()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o666
    (tmp_path / "other").mkdir()
    third = Service(tmp_path / "other", "--listen", f"unix:{path}")
    assert third.refuses() == 3 and "another process listens there" in third.said
    assert ask(UnixConnection(path), "GET", "/healthz") == (200, b"ok\n")


def test_what_is_no_socket_is_left_alone(serve, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    service = serve("--listen", f"unix:{path}")
    assert service.refuses() == 3 and "not a socket" in service.said
    assert path.read_text() == "dear diary"
    long = serve("--listen", "unix:/" + "p" * 107)
    assert long.refuses() == 3 and "108 bytes" in long.said


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
        return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_ipv6_alone_and_with_ipv4(serve):
    port = free_port()
    alone = serve("--listen", f"[::1]:{port}", "--loops", "2")
    assert alone.greeted() == f"http://[::1]:{port}"
    assert run("health", "--url", f"http://[::1]:{port}").returncode == 0
    assert run("health", env={"REDIAL_LISTEN": f"[::1]:{port}"}).returncode == 0
    assert run("health", "--url", f"http://127.0.0.1:{port}").returncode == 3
    assert alone.terminate() == 0
    both = serve("--listen", f"[::]:{port}", "--allow-unauthenticated", "true")
    assert both.greeted() == f"http://[::]:{port}"
    for host in ("[::1]", "127.0.0.1"):
        assert run("health", "--url", f"http://{host}:{port}").returncode == 0
    assert run("health", env={"REDIAL_LISTEN": f"[::]:{port}"}).returncode == 0


def test_sockets_that_are_handed_over_come_before_the_setting(serve, listening, tmp_path):
    web, path = listening(), str(tmp_path / "local.sock")
    local = listening(path, socket.AF_UNIX)
    port, unused = web.getsockname()[1], free_port()
    service = serve(
        "--listen", f"127.0.0.1:{unused}", inherited=[web, local], env={"LISTEN_FDNAMES": "web:local"})
    assert service.greeted() == f"http://127.0.0.1:{port}, unix:{path}"
    assert ask(http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND), "GET", "/healthz")[0] == 200
    assert ask(UnixConnection(path), "GET", "/healthz")[0] == 200
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", unused), BOUND)
    assert service.terminate() == 0
    assert os.path.exists(path), "it is not the service's to remove"


def test_what_is_handed_over_wrongly_is_told(serve, listening):
    idle = listening(backlog=None)
    service = serve(inherited=[idle], env={"LISTEN_FDNAMES": "web"})
    assert service.refuses() == 3 and "descriptor 3 (web)" in service.said
    service = serve(inherited=[idle], env={"LISTEN_FDS": "many"})
    assert service.refuses() == 2 and 'LISTEN_FDS is "many"' in service.said
    # Meant for another process: the service uses its own address.
    port = free_port()
    service = serve("--listen", f"127.0.0.1:{port}", inherited=[idle], env={"LISTEN_PID": "1"})
    assert service.greeted() == f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("loops", [1, 2])
def test_restarts_on_an_inherited_socket_refuse_and_reset_no_connection(serve, listening, flaky, loops):
    web, target = listening(), flaky()
    port = web.getsockname()[1]
    stop = threading.Event()
    accepted, faults, answered = [], [], [0]

    def hammer():
        count = 0
        while not stop.is_set():
            count += 1
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
            began, sent = time.monotonic(), None
            try:
                connection.connect()
                if count % 3 == 0:
                    # Accepted, but its request is late.
                    time.sleep(0.02)
                if count % 4:
                    connection.request("GET", "/healthz")
                else:
                    connection.request(
                        "POST", "/v1/calls", json.dumps({"url": target.url}), {"content-type": "application/json"})
                sent = time.monotonic()
                answer = connection.getresponse()
                status, body = answer.status, answer.read()
                if status == 202:
                    accepted.append(json.loads(body)["id"])
                if status == (200 if count % 4 else 202):
                    answered[0] += 1
                else:
                    faults.append(status)
            except (OSError, http.client.HTTPException) as error:
                # A stop waits half a second for a request. On a busy machine this thread may take longer to send one.
                if (sent or time.monotonic()) - began < 0.4:
                    faults.append(repr(error))
            finally:
                connection.close()
            time.sleep(0.002)

    def start():
        service = serve("--loops", str(loops), inherited=[web])
        assert service.greeted() == f"http://127.0.0.1:{port}"
        return service

    # The first requests wait for the first service, too.
    clients = [threading.Thread(target=hammer) for _ in range(4)]
    for client in clients:
        client.start()
    try:
        service = start()
        for _ in range(6):
            before = answered[0]
            wait_until(lambda: answered[0] > before + 50, "requests are answered")
            assert service.terminate() == 0
            service = start()
        before = answered[0]
        wait_until(lambda: answered[0] > before + 50, "requests are answered")
    finally:
        stop.set()
        for client in clients:
            client.join(BOUND)
    assert faults == []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
    for identity in accepted:
        wait_until(
            lambda: json.loads(ask(connection, "GET", f"/v1/calls/{identity}")[1])["state"] == "succeeded",
            f"{identity} succeeds")


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_stop_leaves_what_waits_to_the_next_and_does_not_spin_meanwhile(serve, listening, receiver):
    web, over = listening(), threading.Event()
    target = receiver(lambda request: over.wait() and (200, {}, b""))
    service = serve("--drain-timeout", "10m", "--loops", "1", inherited=[web])
    service.greeted()
    # An attempt that does not end keeps the process alive, and a client in the middle of its second request its loop.
    client = http.client.HTTPConnection(*web.getsockname(), timeout=BOUND)
    assert ask(client, "POST", "/v1/calls", {"url": target.url, "policy": {"attemptTimeout": "10m"}})[0] == 202
    target.next()
    client.sock.sendall(b"POST /v1/calls HTTP/1.1\r\nHost: x\r\n")
    idle = http.client.HTTPConnection(*web.getsockname(), timeout=BOUND)
    assert ask(idle, "GET", "/healthz")[0] == 200
    service.process.send_signal(signal.SIGTERM)
    assert idle.sock.recv(1) == b"", "idle connections are closed when no more are accepted"
    waiting = http.client.HTTPConnection(*web.getsockname(), timeout=BOUND)
    waiting.request("GET", "/healthz")

    def rests():
        before = processor_seconds(service.process)
        time.sleep(0.5)
        return processor_seconds(service.process) - before < 0.1
    wait_until(rests, "it uses little of the processor while a connection waits")
    assert service.process.poll() is None
    assert not select.select([waiting.sock], [], [], 0)[0], "it has answered"
    over.set()
    assert service.process.wait(BOUND) == 0
    serve(inherited=[web]).greeted()
    assert waiting.getresponse().read() == b"ok\n"


def test_no_child_would_inherit_a_socket(serve, listening):
    web = listening()
    service = serve("--loops", "2", inherited=[web])
    service.greeted()
    process = f"/proc/{service.process.pid}"
    ours = [
        name for name in os.listdir(f"{process}/fd")
        if os.readlink(f"{process}/fd/{name}") == os.readlink(f"/proc/self/fd/{web.fileno()}")]
    assert len(ours) == 2 and "3" not in ours, "one a loop"
    for name in ours:
        with open(f"{process}/fdinfo/{name}") as info:
            flags = next(int(line.split()[1], 8) for line in info if line.startswith("flags:"))
        assert flags & os.O_CLOEXEC, f"descriptor {name}"
