"""A target that answers with bytes exactly as they are given, whether or not they are HTTP."""

import socket
import threading


class RawTarget:
    """Answers the requests with `answer(head)`: bytes, or a list of them that are sent one after the other.

    It closes each connection after its answer, unless `keeps` is true. With `context`, it speaks TLS, and leaves without a word.
    """

    def __init__(self, answer, keeps=False, context=None):
        self.answer, self.keeps, self.context = answer, keeps, context
        self.heads = []
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.server.getsockname()[1]
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=True)
            while (head := self.request(connection)) is not None:
                self.heads.append(head)
                answer = self.answer(head)
                for piece in [answer] if isinstance(answer, bytes) else answer:
                    connection.sendall(piece)
                if not self.keeps:
                    break
        except OSError:
            pass
        finally:
            connection.close()

    @staticmethod
    def request(connection):
        """Reads a request with its body, and returns its head; None if the client has left."""
        received = b""
        while b"\r\n\r\n" not in received:
            if not (piece := connection.recv(65536)):
                return None
            received += piece
        head, _, body = received.partition(b"\r\n\r\n")
        length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
        while len(body) < length and (piece := connection.recv(65536)):
            body += piece
        return head.decode("latin-1")

    def end(self):
        # Wakes the thread that accepts.
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()


def path(head):
    return head.split(" ")[1]


def http(status, *fields, body=b"", length=True, closes=True):
    """A response whose fields are lines as they are given; bytes stay bytes."""
    lines = [f"HTTP/1.1 {status} Said", *fields] + ["Connection: close"] * closes + [f"Content-Length: {len(body)}"] * length
    return b"".join((line if isinstance(line, bytes) else line.encode("latin-1")) + b"\r\n" for line in lines) + b"\r\n" + body


def chunked(status, *fields, chunks=(b"body",), end=b"0\r\n\r\n", closes=True):
    content = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return http(status, *fields, "Transfer-Encoding: chunked", body=content + end, length=False, closes=closes)
