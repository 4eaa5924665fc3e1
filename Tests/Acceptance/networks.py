"""The ways of instances to their database and to each other: a proxy that becomes a broken, slow or switched-over network."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from processes import BOUND, free_port


class Way:
    """A proxy from an address to another one."""

    def __init__(self, address, server):
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("database_proxy.py"), str(address), str(server)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, *words):
        line = " ".join(map(str, words)) + "\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()
        assert self.process.stdout.readline() == line

    def end(self):
        self.process.kill()
        self.process.wait(BOUND)
        self.process.stdin.close()
        self.process.stdout.close()


class PeerNetwork(Way):
    """The way of other instances to one, whose `peerURL` is this URL. It leads nowhere until `lead PORT`."""

    def __init__(self):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        super().__init__(port, 1)


class Network(Way):
    """The way of an instance to its database."""

    def __init__(self, cluster):
        # The path of a socket has at most 107 bytes.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="redialnet", dir="/tmp"))
        super().__init__(self.folder / cluster.socket.name, cluster.socket)

    @property
    def url(self):
        return f"postgresql://postgres@/redial?host={self.folder}"

    def lead_to(self, cluster):
        """New connections are to this cluster. Those to the one before end with it."""
        self.tell("lead", cluster.socket)

    def end(self):
        super().end()
        shutil.rmtree(self.folder, ignore_errors=True)
