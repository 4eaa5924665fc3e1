"""A target that writes bytes, not responses: what it sends, and when, is the test's, connection by connection."""

import queue
import socket
import ssl
import threading
import time

from processes import BOUND


class Connection:
    """One connection, from the target's side."""

    def __init__(self, target, sock, number):
        self.target, self.sock, self.number = target, sock, number
        self.rest = b""

    def read(self, count):
        """Exactly so many bytes; None if the client has left."""
        while len(self.rest) < count:
            piece = self.sock.recv(65536)
            if not piece:
                return None
            self.rest += piece
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def request(self):
        """Reads one request, which the test gets from `next`; None if the client has left."""
        while b"\r\n\r\n" not in self.rest:
            piece = self.sock.recv(65536)
            if not piece:
                return None
            self.rest += piece
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        line, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = self.read(int(fields.get("content-length", 0)))
        if body is None:
            return None
        return self.arrived(Request(self.number, *line.split(" ")[:2], fields, body))

    def arrived(self, request):
        with self.target.lock:
            self.target.requests.append(request)
        self.target.queue.put(request)
        return request

    def send(self, data):
        self.sock.sendall(data if isinstance(data, bytes) else data.encode("latin-1"))

    def answer(self, body, status=200):
        self.send(response(body, status))

    def wait_for_end(self):
        """Waits until the client has closed the connection."""
        while self.sock.recv(65536):
            pass


class Request:
    def __init__(self, connection, method, path, headers, body):
        self.connection, self.method, self.path, self.headers, self.body = connection, method, path, headers, body
        self.at = time.monotonic()


def response(body, status=200):
    return f"HTTP/1.1 {status} Whatever\r\nContent-Length: {len(body)}\r\n\r\n{body}"


def answering(answer, keeps=False):
    """A script that answers each request with `answer(path)`: bytes, or a list of them that are sent one after the other.

    It closes the connection after the first answer, unless `keeps` is true; in TLS, without a word.
    """
    def script(connection):
        while request := connection.request():
            pieces = answer(request.path)
            for piece in [pieces] if isinstance(pieces, bytes) else pieces:
                connection.send(piece)
            if not keeps:
                break
    return script


class RawTarget:
    """Runs `script` for each connection, on a thread of its own. Connections are numbered from 0."""

    def __init__(self, script, context=None, host="127.0.0.1"):
        self.requests, self.connections = [], 0
        self.lock, self.queue = threading.Lock(), queue.Queue()
        self.script, self.context = script, context
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family, backlog=128)
        self.port = self.listener.getsockname()[1]
        self.url = f"http{'s' if context else ''}://{f'[{host}]' if ':' in host else host}:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                number, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self.serve, args=(sock, number), daemon=True).start()

    def serve(self, sock, number):
        try:
            # Small pieces leave when they are written.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock = self.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False) if self.context else sock
            with sock:
                if self.context:
                    self.shake_hands(sock)
                self.script(Connection(self, sock, number))
        except (OSError, ssl.SSLError):
            pass

    @staticmethod
    def shake_hands(sock):
        try:
            sock.do_handshake()
        except ssl.SSLError:
            # The client reads why before it learns that the connection has ended.
            time.sleep(0.3)
            raise

    def next(self):
        return self.queue.get(timeout=BOUND)

    def end(self):
        # A thread within `accept` would keep the listener open.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def http(status, *fields, body=b"", length=True, closes=True):
    """A response whose fields are lines as they are given; bytes stay bytes."""
    lines = [f"HTTP/1.1 {status} Said", *fields] + ["Connection: close"] * closes + [f"Content-Length: {len(body)}"] * length
    return b"".join((line if isinstance(line, bytes) else line.encode("latin-1")) + b"\r\n" for line in lines) + b"\r\n" + body


def chunked(status, *fields, chunks=(b"body",), end=b"0\r\n\r\n", closes=True):
    content = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return http(status, *fields, "Transfer-Encoding: chunked", body=content + end, length=False, closes=closes)


# Frames of HTTP/2 (RFC 9113 §6), and what a response without content is in HPACK: status 200, the end of header and stream.
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 3, 4
NO_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL = 0, 2, 7, 8


def frame(kind, stream, payload=b"", flags=0):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def found(stream):
    return frame(HEADERS, stream, b"\x88", flags=0x5)


def reset(stream, code):
    return frame(RST_STREAM, stream, code.to_bytes(4, "big"))


def go_away(last, code=NO_ERROR):
    return frame(GOAWAY, 0, last.to_bytes(4, "big") + code.to_bytes(4, "big"))


def speaking_http2(react, streams=None):
    """A script for connections in HTTP/2: calls `react(connection, stream)` for each request, after its end.

    The requests' paths are not read. Of how many streams it takes at once it says something only if `streams` does.
    """
    limit = b"" if streams is None else MAX_CONCURRENT_STREAMS.to_bytes(2, "big") + streams.to_bytes(4, "big")

    def script(connection):
        connection.read(24)
        # A body of up to 1 MiB needs no permission of its own.
        connection.send(frame(SETTINGS, 0, limit + INITIAL_WINDOW_SIZE.to_bytes(2, "big") + (1 << 20).to_bytes(4, "big")))
        connection.send(frame(WINDOW_UPDATE, 0, (1 << 20).to_bytes(4, "big")))
        while head := connection.read(9):
            size, kind, flags, stream = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
            connection.read(size)
            if kind == SETTINGS and not flags & 1:
                connection.send(frame(SETTINGS, 0, flags=1))
            if kind in (DATA, HEADERS) and flags & 1:
                connection.arrived(Request(connection.number, None, None, {}, None))
                react(connection, stream)
    return script
