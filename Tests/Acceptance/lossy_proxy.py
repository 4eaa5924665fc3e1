"""A network between a client and a service that loses answers: what was sent has arrived, and nobody knows."""

import socket
import threading


class LossyProxy:
    """Passes connections on. It starts no thread that outlives its connections."""

    def __init__(self, port):
        self.upstream = port
        self.losses = 0
        self.pairs = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def lose(self, answers=1):
        """The next answers do not reach the client: their connections end instead."""
        with self.lock:
            self.losses = answers

    def cut(self):
        """Ends all connections."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            self.close(*pair)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.upstream))
            except OSError:
                return
            with self.lock:
                self.pairs.append((client, server))
            for arguments in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.copy, args=arguments, daemon=True).start()

    def copy(self, source, sink, is_answer):
        try:
            while data := source.recv(65536):
                with self.lock:
                    is_lost = is_answer and self.losses > 0
                    self.losses -= is_lost
                if is_lost:
                    break
                sink.sendall(data)
        except OSError:
            pass
        self.close(source, sink)

    def close(self, *sockets):
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def end(self):
        self.listener.close()
        self.cut()
