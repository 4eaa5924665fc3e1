"""What is between instances and their database: a proxy that becomes a broken, slow or switched-over network."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from processes import BOUND


class Network:
    """The way of an instance to its database."""

    def __init__(self, cluster):
        # The path of a socket has at most 107 bytes.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="redialnet", dir="/tmp"))
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("database_proxy.py"), self.folder / cluster.socket.name,
             cluster.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    @property
    def url(self):
        return f"postgresql://postgres@/redial?host={self.folder}"

    def tell(self, *words):
        line = " ".join(map(str, words)) + "\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()
        assert self.process.stdout.readline() == line

    def lead_to(self, cluster):
        """New connections are to this cluster. Those to the one before end with it."""
        self.tell("lead", cluster.socket)

    def end(self):
        self.process.kill()
        self.process.wait(BOUND)
        self.process.stdin.close()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)
