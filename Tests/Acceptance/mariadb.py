"""MariaDB servers for the tests, each in a folder of its own and on a socket there."""

import os
import pathlib
import shutil
import subprocess
import tempfile

import pymysql

import needs
from processes import BOUND, wait_until


class MariaDB:
    """A server without accounts, with an empty database `shop`. It makes its files itself, which takes a third of a second."""

    def __init__(self):
        self.program = needs.program("mariadbd")
        # The path of a socket has at most 107 bytes, which a test's own folder may exceed.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="redialdb"))
        (self.folder / "data").mkdir()
        self.socket = self.folder / "socket"
        self.process = None

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.socket}", "--skip-networking",
                 "--skip-grant-tables", "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M",
                 *(["--user=root"] if os.getuid() == 0 else [])], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self.answers, "MariaDB answers")
        self.query("CREATE DATABASE IF NOT EXISTS shop")
        return self

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
        try:
            return self.query("SELECT 1")
        except pymysql.err.OperationalError:
            return False

    def query(self, statement, database=None):
        connection = pymysql.connect(unix_socket=str(self.socket), user="root", database=database, autocommit=True)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall()
        finally:
            connection.close()

    def kill(self):
        self.process.kill()
        self.process.wait(BOUND)

    def end(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
