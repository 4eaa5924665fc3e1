"""PostgreSQL clusters for the tests, each in a folder of its own and on a socket there."""

import glob
import os
import pathlib
import shutil
import subprocess
import tempfile

# The programs of the newest version that is installed.
PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1:]


class Database:
    """A cluster. PostgreSQL refuses to run as root, so then it belongs to the user postgres."""

    def __init__(self, **settings):
        assert PROGRAMS, "PostgreSQL is not installed; Scripts/packages test does that"
        # The path of a socket has at most 107 bytes, which a test's own folder may exceed.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="redialdb", dir="/tmp"))
        self.user = {"user": "postgres"} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.settings = settings
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
                 "--no-sync")

    @property
    def data(self):
        return self.folder / "data"

    def run(self, program, *arguments):
        return subprocess.run(
            [f"{PROGRAMS[0]}/{program}", *map(str, arguments)], check=True, capture_output=True, text=True, timeout=60,
            cwd=self.folder, **self.user)

    def start(self):
        options = " ".join(
            f"-c {name}={value}" for name, value in ({"listen_addresses": "''"} | self.settings).items())
        # Without a file for its output the server would keep the pipe of the command open.
        self.run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "-o", f"-k {self.folder} {options}", "start")
        if not self.query("SELECT 1 FROM pg_database WHERE datname = 'redial'"):
            self.query("CREATE DATABASE redial")
        return self

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def query(self, text, database="postgres"):
        """The rows of a query, each a list of texts."""
        result = self.run(
            "psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", "-d",
            database, "-c", text)
        return [line.split("\t") for line in result.stdout.splitlines()]

    @property
    def url(self):
        return f"postgresql://postgres@/redial?host={self.folder}"

    def end(self):
        if (self.data / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)
