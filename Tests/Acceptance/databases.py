"""PostgreSQL clusters for the tests, each in a folder of its own and on a socket there."""

import base64
import contextlib
import functools
import glob
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import needs
from processes import BOUND, ROOT, wait_until

# The programs of the newest version that is installed.
PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1:]


@functools.cache
def template():
    """The empty cluster that is copied; copies are made beside it, because it is in memory if there is enough."""
    done = subprocess.run([ROOT / "Scripts/database-template"], check=True, stdout=subprocess.PIPE, text=True, timeout=BOUND)
    return pathlib.Path(done.stdout.strip())


class Database:
    """A cluster. PostgreSQL refuses to run as root, so then it belongs to the user postgres."""

    def __init__(self, files=None, log=None, **settings):
        """With settings of the server, and maybe other folders for its files and for its write-ahead log."""
        if not PROGRAMS:
            needs.leave_out("PostgreSQL")
        # The path of a socket has at most 107 bytes, which a test's own folder may exceed.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="redialdb", dir=template().parent))
        self.user = {"user": "postgres"} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "postgres")
        self.settings = settings
        self.data, self.log = (files or self.folder) / "data", log and log / "log"
        for folder in filter(None, [files, log]) if self.user else []:
            shutil.chown(folder, "postgres")
        self.make()

    def make(self):
        """Copies the empty cluster that all tests of a machine share."""
        self.copy(template(), self.data)
        if self.log:
            self.copy(self.data / "pg_wal", self.log)
            shutil.rmtree(self.data / "pg_wal")
            (self.data / "pg_wal").symlink_to(self.log)

    def copy(self, folder, to):
        subprocess.run(["cp", "-a", "--reflink=auto", folder, to], check=True, timeout=BOUND)

    @property
    def socket(self):
        return self.folder / ".s.PGSQL.5432"

    def run(self, program, *arguments):
        return subprocess.run(
            [f"{PROGRAMS[0]}/{program}", *map(str, arguments)], check=True, capture_output=True, text=True, timeout=BOUND,
            cwd=self.folder, **self.user)

    def start(self):
        options = " ".join(
            f"-c {name}={value}" for name, value in ({"listen_addresses": "''"} | self.settings).items())
        # Without a file for its output the server would keep the pipe of the command open.
        self.run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "-o", f"-k {self.folder} {options}", "start")
        return self

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def revive(self):
        """Starts the server again if it has ended by itself, as its supervisor would."""
        def answers():
            try:
                if not (self.data / "postmaster.pid").exists():
                    self.start()
                return self.query("SELECT 1")
            except subprocess.CalledProcessError:
                return False
        wait_until(answers, "the server runs")

    def query(self, text, database="postgres"):
        """The rows of a query, each a list of texts."""
        result = self.run(
            "psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "postgres", "-d",
            database, "-c", text)
        return [line.split("\t") for line in result.stdout.splitlines()]

    @contextlib.contextmanager
    def session(self, database):
        """A connection: what is called with a statement, and returns the lines of its rows."""
        process = subprocess.Popen(
            [f"{PROGRAMS[0]}/psql", "-X", "-q", "-A", "-t", "-h", self.folder, "-U", "postgres", "-d", database],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def run(statement):
            process.stdin.write(f"{statement};\n\\echo end\n")
            process.stdin.flush()
            return list(iter(lambda: process.stdout.readline().rstrip("\n"), "end"))
        try:
            yield run
        finally:
            process.communicate()

    def change(self, **settings):
        """Changes settings of the running server."""
        for name, value in settings.items():
            self.query(f"ALTER SYSTEM SET {name} = '{value}'")
        self.query("SELECT pg_reload_conf()")

    @property
    def url(self):
        return f"postgresql://postgres@/redial?host={self.folder}"

    def end(self):
        if (self.data / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)


class Standby(Database):
    """A cluster that follows another one by streaming replication, until it is promoted."""

    def __init__(self, primary):
        self.primary = primary
        # The default would look for a server that is started again only each five seconds.
        super().__init__(**{"wal_retrieve_retry_interval": "200ms"} | primary.settings)

    def make(self):
        self.run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d",
                 f"host={self.primary.folder} user=postgres application_name=standby")

    def cut(self):
        """Gets no changes any more."""
        self.change(primary_conninfo="")
        wait_until(lambda: self.query("SELECT count(*) FROM pg_stat_wal_receiver") == [["0"]], "it receives nothing")

    def promote(self):
        """Becomes a primary. The one before must have been stopped."""
        assert not (self.primary.data / "postmaster.pid").exists(), "two primaries would both be used"
        self.run("pg_ctl", "-D", self.data, "-w", "promote")
        return self


def replicated(primary, synchronous=True):
    """A standby of a primary. If it is synchronous, no commit of either ends without a standby any more, also not after it was
    promoted, until it has a standby of its own.
    """
    if synchronous:
        primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
    standby = Standby(primary).start()
    if synchronous:
        primary.query("SELECT pg_reload_conf()")
    state = "sync" if synchronous else "async"
    wait_until(lambda: primary.query(
        "SELECT 1 FROM pg_stat_replication WHERE sync_state = '" + state + "' AND state = 'streaming' "
        "AND flush_lsn >= pg_current_wal_lsn()"), "the standby follows")
    return standby


class Servers:
    """A primary and its standby, and the URL that names both."""

    def __init__(self, primary, synchronous=True):
        self.primary, self.standby = primary, replicated(primary, synchronous)
        self.url = f"postgresql://postgres@/redial?host={primary.folder},{self.standby.folder}"

    def query(self, *arguments):
        return self.primary.query(*arguments)

    def catch_up(self):
        """Waits until the standby has everything."""
        place = self.query("SELECT pg_current_wal_lsn()")[0][0]
        wait_until(lambda: self.query(
            f"SELECT 1 FROM pg_stat_replication WHERE replay_lsn >= '{place}'"), "the standby has everything")

    def fail_over(self):
        """The primary crashes, and the standby takes over. It needs no standby of its own."""
        self.primary.stop("immediate")
        self.primary = self.standby.promote()
        self.primary.change(synchronous_standby_names="")

    def end(self):
        self.standby.end()


def store_plain(cluster, kind, identity, content):
    """Stores a document as versions did that did not encrypt, or as another instance does; instances read it at once."""
    text = json.dumps(content, separators=(",", ":")).replace("'", "''")
    cluster.query(
        f"INSERT INTO redial.documents (kind, id, content) VALUES ('{kind}', '{identity}', convert_to('{text}', 'UTF8')) "
        "ON CONFLICT (kind, id) DO UPDATE SET content = excluded.content; "
        f"INSERT INTO redial.versions (kind, n) VALUES ('{kind}', 1) ON CONFLICT (kind) DO UPDATE SET n = versions.n + 1",
        "redial")


def plain_endpoint(cluster, url, *events):
    """A webhook endpoint that such a version has stored: its id and its secret."""
    identity, secret = "whe_771SXPJYS75W9", "whsec_" + base64.b64encode(os.urandom(32)).decode()
    now = 1_795_863_679_755_822
    store_plain(cluster, "webhookEndpoint", identity, {
        "id": identity, "url": url, "events": list(events), "createdAt": now,
        "secrets": [{"id": "1", "secret": secret, "createdAt": now}]})
    return identity, secret
