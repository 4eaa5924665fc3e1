"""The command at a terminal, as people use it."""

import errno
import os
import pty
import re
import select
import subprocess
import time

from processes import BINARY, BOUND, environment


class Terminal:
    """A process of the command at a pseudo-terminal, and its whole output."""

    def __init__(self, *arguments, env=None, stdout=None, binary=BINARY):
        self.leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            [binary, *map(str, arguments)], stdin=follower, stdout=stdout or follower, stderr=follower,
            env=environment({"TERM": "xterm"} | (env or {})), close_fds=True)
        os.close(follower)
        self.text = ""

    def _read(self, seconds):
        if not select.select([self.leader], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.leader, 65536)
        except OSError as error:
            assert error.errno == errno.EIO
            return False
        self.text += data.decode()
        return bool(data)

    def until(self, pattern):
        deadline = time.monotonic() + BOUND
        while not re.search(pattern, self.text):
            assert self._read(0.1) and time.monotonic() < deadline, f"{pattern} does not come:\n{self.text!r}"

    def type(self, text):
        os.write(self.leader, text.encode())

    def end(self):
        """The exit code; `text` has the output."""
        deadline = time.monotonic() + BOUND
        while self._read(0.1):
            if self.process.poll() is not None and not select.select([self.leader], [], [], 0)[0]:
                break
            assert time.monotonic() < deadline, self.text
        os.close(self.leader)
        return self.process.wait(BOUND)


def at_terminal(*arguments, **more):
    """The exit code and the output."""
    terminal = Terminal(*arguments, **more)
    code = terminal.end()
    return code, terminal.text
