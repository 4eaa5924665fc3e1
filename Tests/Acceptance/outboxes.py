"""Databases with an outbox, applications that write into it, and relays."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys

import needs
from client_packages import ADAPTERS
from databases import Database
from mariadb import MariaDB
from processes import BOUND, wait_until

# Where Scripts/packages lays that of pg, and where Debian's packages for Node.js are.
FOLDERS_OF_NODE = ["/usr/local/share/nodejs", "/usr/share/nodejs"]
NODE_PACKAGES = os.pathsep.join(FOLDERS_OF_NODE)

# By database: the kinds of applications that use it, and of relays. See clients/outbox_application.* and clients/go-outbox.
APPLICATIONS = {
    "sqlite": ["sqlite3", "sqlalchemy-sqlite", "django-sqlite", "go-sqlite3"],
    "postgresql": ["psycopg", "pg8000", "sqlalchemy-postgresql", "sqlalchemy-pg8000", "django-postgresql", "pg", "go-pq"],
    "mysql": ["pymysql", "sqlalchemy-mysql", "django-mysql", "mysql", "go-mysql"]}
RELAYS = {
    "sqlite": ["sqlite3", "django-sqlite", "go-sqlite3"], "postgresql": ["psycopg", "pg", "sqlalchemy-pg8000", "go-pq"],
    "mysql": ["pymysql", "mysql", "go-mysql"]}
IN_NODE, IN_GO = {"pg", "mysql"}, {"go-sqlite3", "go-pq", "go-mysql"}


def node_package(name):
    """The folder of one; ends the test if it is missing."""
    found = [f"{folder}/{name}" for folder in FOLDERS_OF_NODE if os.path.isdir(f"{folder}/{name}")]
    if not found:
        needs.leave_out(f"node-{name}")
    return found[0]


class SQLite:
    """A file."""

    def __init__(self, folder):
        self.place = folder / "shop.sqlite3"
        # As a server would use it: readers and one writer do not wait for each other.
        self.query("PRAGMA journal_mode = WAL")

    def query(self, statement):
        with contextlib.closing(sqlite3.connect(self.place, timeout=BOUND)) as database, database:
            return database.execute(statement).fetchall()

    def end(self):
        pass


class PostgreSQL:
    """A cluster."""

    def __init__(self):
        self.cluster = Database().start()
        self.place = self.cluster.folder

    def query(self, statement):
        return self.cluster.query(statement, "redial")

    def kill(self):
        """kill -9 of the server. Its sessions end by themselves then, and only after them it starts again."""
        server = int((self.cluster.data / "postmaster.pid").read_text().split("\n")[0])
        os.kill(server, signal.SIGKILL)

    def start(self):
        def starts():
            try:
                self.cluster.start()
            except subprocess.CalledProcessError:
                return False
            return True
        wait_until(starts, "the server starts")

    def end(self):
        self.cluster.end()


class MySQL:
    """A server of MariaDB."""

    def __init__(self):
        self.server = MariaDB().start()
        self.place = self.server.socket
        self.kill, self.start, self.end = self.server.kill, self.server.start, self.server.end

    def query(self, statement):
        return self.server.query(statement, "shop")


def shop(kind, folder, tables):
    """A database with the tables of an outbox and one for orders."""
    database = {"sqlite": lambda: SQLite(folder), "postgresql": PostgreSQL, "mysql": MySQL}[kind]()
    for statement in [*tables[kind], "CREATE TABLE orders (name varchar(255) PRIMARY KEY)"]:
        database.query(statement)
    return database


def orders(database):
    """The orders that were committed."""
    return {row[0] for row in database.query("SELECT name FROM orders")}


def rows(database, columns="idempotency_key, descriptor"):
    """The rows of the outbox, oldest first."""
    return [tuple(row) for row in database.query(f"SELECT {columns} FROM redial_outbox ORDER BY id")]


def is_empty(database):
    return not rows(database, "id")


class Process:
    """An application or a relay in a process of its own."""

    def __init__(self, packages, folder, kind, place, what, target="", **env):
        self.log = folder / f"{what}-{kind}.log"
        program = [str(kind), str(place), target, what]
        if kind in IN_NODE:
            node_package(kind)
            command = [needs.program("node"), packages.typescript / "outbox_application.mjs", *program]
        elif kind in IN_GO:
            command = [packages.outbox_application, *program]
        elif what == "relay":
            command = [sys.executable, "-m", "redial_client.outbox", "outbox_application:relay"]
        else:
            command = [sys.executable, ADAPTERS / "outbox_application.py", *program]
        self.command = [str(part) for part in command]
        self.env = packages.environment(OUTBOX_KIND=kind, OUTBOX_PLACE=str(place), NODE_PATH=NODE_PACKAGES, **env)
        self.env["PYTHONPATH"] += os.pathsep + str(ADAPTERS)
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, env=self.env, stdout=log, stderr=log)
        return self

    def output(self):
        """What it prints until its end."""
        done = subprocess.run(self.command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=BOUND)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def kill(self):
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        self.process.kill()
        self.process.wait(BOUND)

    def terminate(self):
        """SIGTERM; the exit code."""
        self.process.terminate()
        return self.process.wait(BOUND)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(BOUND)
