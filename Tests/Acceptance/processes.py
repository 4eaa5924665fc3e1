"""Processes and peers for the tests. Everything that is started is ended by its pid."""

import contextlib
import errno
import functools
import http.client
import http.server
import itertools
import json
import mmap
import os
import pathlib
import queue
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Tests know what scripts know.
sys.path.append(str(ROOT / "Scripts"))
BINARY = os.environ.get("REDIAL_BINARY", str(ROOT / ".build/debug/redial"))
# How long anything is waited for, in seconds: nothing should take so long, even if the machine is busy with something else.
BOUND = 60
# Variables of the environment that all commands get, in a test that sets them.
ALWAYS = {}
# Signs callbacks where no key can encrypt a secret of the service's own.
WEBHOOK_SECRET = "whsec_" + "c2VjcmV0IG9mIGFsbCB0ZXN0cyB3aXRob3V0IGEga2V5"
# Ports below those that the kernel gives to outgoing connections, so that a server finds its own again after a kill.
PORTS = range(20000, 30000)
PORT_SLICE = 100


class Ports:
    """A slice of the ports, which this process has alone until it ends."""

    def __init__(self):
        for first in PORTS[::PORT_SLICE]:
            # A name that the kernel has once for each network, as it has the ports, and takes back when the process ends. Locked
            # files were not seen by tests with another TMPDIR.
            self.lock = socket.socket(socket.AF_UNIX)
            try:
                self.lock.bind(f"\0redial-ports-{first}")
            except OSError as error:
                self.lock.close()
                if error.errno != errno.EADDRINUSE:
                    raise
                continue
            self.numbers = itertools.cycle(range(first, first + PORT_SLICE))
            return
        raise RuntimeError(f"all slices of the ports {PORTS[0]} to {PORTS[-1]} are in use by other tests")

    def next(self):
        """A port that nobody listens on; each other one of the slice comes before it is given again."""
        for port in itertools.islice(self.numbers, PORT_SLICE):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
                return port
        raise RuntimeError(f"no port of this process's slice is free, of those up to {port}")


ports = None


def free_port():
    global ports
    ports = ports or Ports()
    return ports.next()


def wait_until(condition, what, seconds=BOUND):
    """Polls a condition, and returns its first true value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.01)


@contextlib.contextmanager
def standing_still(process):
    """Stops a process, and lets it go on at the end. None of its threads runs in between: they stop one after the other."""
    def states():
        return {
            (task / "stat").read_text().rpartition(")")[2].split()[0]
            for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir()}
    process.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: states() == {"T"}, "all threads have stopped")
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def environment(more=None):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("REDIAL_")}
    # The default would use 64 MiB of each test's folder.
    return clean | {"REDIAL_RESERVE_BYTES": str(1 << 20)} | ALWAYS | (more or {})


def run(*arguments, env=None, seconds=BOUND, stdin=None):
    """Runs the command to its end."""
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=seconds, env=environment(env),
        input=stdin)


@functools.cache
def libcurl():
    """The version of libcurl in the command, as numbers."""
    version = re.search(r"^libcurl (\S+)$", run("version", "--verbose").stdout, re.M)[1]
    return tuple(int(number) for number in version.split("."))


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


def has_arrived(sock):
    """Whether there is something to read, if only the end; for any number of descriptors."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def is_starting(status, body):
    """Whether an answer only says that the service is starting: it listens before it takes requests."""
    return status == 503 and b'"code":"starting"' in body


class Client:
    """An HTTP client with one persistent connection, for one thread. It waits while the service starts, as clients do."""

    def __init__(self, port, waits=True):
        self.port, self.waits = port, waits
        self.connection = None

    def __call__(self, method, path, body=None, headers=None):
        def started():
            answer = self.ask(method, path, body, headers)
            return not is_starting(answer.status, answer.body) and answer
        return wait_until(started, "it has started") if self.waits else self.ask(method, path, body, headers)

    def ask(self, method, path, body, headers):
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("content-type", "application/json")
        # A server closes a connection that was idle for long, as one may be on a busy machine.
        if self.connection and self.connection.sock and has_arrived(self.connection.sock):
            self.connection.close()
            self.connection = None
        if self.connection is None:
            # A simulation is as slow as a busy machine lets it be, in a debug build a minute and more.
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=3 * BOUND)
        try:
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            self.connection = None
            raise
        if response.will_close:
            self.connection = None
        return Answer(response.status, response.headers, content)


class Server:
    """A process of the binary that listens; its first line of output has the address."""

    def __init__(self, arguments, log, env=None):
        self.log = pathlib.Path(log)
        self.arguments = [str(a) for a in arguments]
        self.env = env
        self.port = None
        self.process = None
        self.binary = BINARY

    def spawn(self):
        """The process, which may not listen yet."""
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(
                [self.binary, *self.arguments], stdout=output, stderr=output, env=environment(self.env))
        return self.process

    def says(self, text):
        """Waits until the log has this text: it may come a moment after what a test has seen of the same event."""
        wait_until(lambda: text in self.log.read_text(), f"the log has {text!r}")

    def start(self):
        offset = self.log.stat().st_size if self.log.exists() else 0
        self.spawn()

        def listens():
            text = self.log.read_bytes()[offset:].decode()
            assert self.process.poll() is None, f"it ended at once:\n{text}"
            found = re.search(r"listens on http://[^:\s]+:(\d+)", text)
            return found and int(found[1])

        self.port = wait_until(listens, f"{self.arguments} listens")
        return self

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait(BOUND)

    def terminate(self):
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(BOUND)

    def end(self):
        if self.process and self.process.poll() is None:
            self.kill()


class TestClock:
    """What is added to the time of a service, which has the same file in its memory; it stays over restarts."""

    __test__ = False

    def __init__(self, file):
        self.file = pathlib.Path(file)
        if not self.file.exists():
            self.file.write_bytes(bytes(8))
        with open(self.file, "r+b") as opened:
            self.memory = mmap.mmap(opened.fileno(), 8)

    @property
    def seconds(self):
        return struct.unpack("<q", self.memory)[0] / 1e6

    def advance(self, seconds):
        """Lets time pass at once. What falls due meanwhile happens within a few milliseconds."""
        self.memory[:] = struct.pack("<q", round((self.seconds + seconds) * 1e6))


class Constants(dict):
    """Bounds of the service that nobody sets but tests: `redial(Constants(maxScan=100))`."""


def target_defaults(**settings):
    """Flags with the settings of all targets: `redial(*target_defaults(pace="fixed"))`."""
    return "--target-defaults", json.dumps(settings)


def breaker(**settings):
    """Flags with the settings of all breakers."""
    return target_defaults(breaker=settings)


# One failure opens a breaker, at once.
HASTY = {"consecutiveFailures": 1, "failureTime": "0s"}
# Nothing opens one.
NO_BREAKER = breaker(consecutiveFailures=0)


class Redial(Server):
    """A service with its own store."""

    # Header fields of every request.
    credentials = {}

    def __init__(self, folder, *flags, env=None, location=None, clock=False):
        """With `clock`, the service's time is moved by `advance`; it goes on by itself, too."""
        self.store = folder / "redial.db"
        self.clock = TestClock(folder / "clock") if clock else None
        if self.clock:
            env = (env or {}) | {"REDIAL_TEST_CLOCK": str(self.clock.file)}
        has_key = ALWAYS or "--encryption-key-file" in flags or "REDIAL_ENCRYPTION_KEY_FILE" in (env or {})
        if location and location.startswith("postgres") and not has_key:
            env = {"REDIAL_WEBHOOK_SECRET": WEBHOOK_SECRET} | (env or {})
        constants = [f"{name}={value}" for flag in flags if isinstance(flag, Constants) for name, value in flag.items()]
        if constants:
            env = (env or {}) | {"REDIAL_TEST_CONSTANTS": ",".join(constants)}
        flags = [flag for flag in flags if not isinstance(flag, Constants)]
        super().__init__(
            ["serve", "--listen", f"127.0.0.1:{free_port()}", "--store", location or f"sqlite:{self.store}", *flags],
            folder / "redial.log", env)

    def start(self):
        # Persistent connections ended with the previous process.
        self.local = threading.local()
        return super().start()

    def __call__(self, method, path, body=None, headers=None):
        client = getattr(self.local, "client", None)
        if client is None:
            client = self.local.client = Client(self.port)
        return client(method, path, body, self.credentials | (headers or {}))

    def advance(self, seconds):
        self.clock.advance(seconds)

    def submit(self, **descriptor):
        answer = self("POST", "/v1/calls", descriptor)
        assert answer.status == 202, answer.body
        return answer.json["id"]

    def get(self, identity):
        answer = self("GET", f"/v1/calls/{identity}")
        assert answer.status == 200, answer.body
        return answer.json

    def ended(self, identity, seconds=BOUND):
        """The call, once it has ended."""
        def ended():
            call = self.get(identity)
            return call["finishedAt"] and call
        return wait_until(ended, f"{identity} ends", seconds)

    def target(self, key):
        return next((t for t in self("GET", "/v1/targets?limit=250").json["data"] if t["key"] == key), None)

    def metrics(self):
        text = self("GET", "/metrics").body.decode()
        return {n: float(v) for n, v in (l.rsplit(" ", 1) for l in text.splitlines() if not l.startswith("#"))}


class Flaky(Server):
    """The misbehaving server of the binary."""

    def __init__(self, folder, *flags):
        super().__init__(
            ["flaky", "--quiet", "--listen", f"127.0.0.1:{free_port()}", *flags], folder / "flaky.log")

    def hits(self):
        return Client(self.port)("GET", "/_flaky/hits").json


class Request:
    def __init__(self, handler, body):
        self.method, self.path = handler.command, handler.path
        self.headers, self.body = handler.headers, body
        self.at = time.time()
        self.connection = handler.client_address


class Receiver:
    """An HTTP server in Python: records requests, and answers as it is configured."""

    def __init__(self, answer=None, port=None):
        # Maps a request to (status, headers, body); None closes the connection without an answer.
        self.answer = answer or (lambda request: (200, {}, b"ok"))
        self.requests = []
        self.arrived = queue.Queue()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                request = Request(self, body)
                receiver.requests.append(request)
                receiver.arrived.put(request)
                answer = receiver.answer(request)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, content = answer
                self.send_response_only(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            def log_message(self, *_):
                pass

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self.handle_any
                raise AttributeError(name)

        class Threaded(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256
            allow_reuse_address = True

            def handle_error(self, *_):
                pass

        self.port = port or free_port()
        self.server = Threaded(("127.0.0.1", self.port), Handler)
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def next(self, seconds=BOUND):
        """The next request that arrives."""
        return self.arrived.get(timeout=seconds)

    def end(self):
        self.server.shutdown()
        self.server.server_close()
