"""Transactions that write an order and its call, with one of the drivers and frameworks of Python; and a relay.

    outbox_application.py KIND PLACE TARGET some    four transactions, of which the second and the third are rolled back
    outbox_application.py KIND PLACE TARGET many    transactions until it is killed, of which some are rolled back
    OUTBOX_KIND=KIND OUTBOX_PLACE=PLACE python -m redial_client.outbox outbox_application:relay

PLACE is the file of SQLite, the folder of PostgreSQL, or the socket of MariaDB. An order whose transaction is rolled back has a name
that ends with "undone".
"""

import contextlib
import importlib
import os
import random
import sys
import time

from redial_client import Redial
from redial_client.outbox import Outbox


class Undo(Exception):
    """Rolls a transaction back."""


class Driver:
    """A driver of DB-API."""

    def __init__(self, module, **place):
        driver = importlib.import_module(module)
        self.outbox, self.connect, self.connection = Outbox(driver.paramstyle), lambda: driver.connect(**place), None
        self.mark = {"qmark": "?"}.get(driver.paramstyle, "%s")

    @contextlib.contextmanager
    def transaction(self):
        self.connection = self.connection or self.connect()
        try:
            yield self.connection
            self.connection.commit()
        except Undo:
            self.connection.rollback()
        except Exception:
            broken, self.connection = self.connection, None
            with contextlib.suppress(Exception):
                broken.close()
            raise

    def write(self, connection, order):
        cursor = connection.cursor()
        cursor.execute(f"INSERT INTO orders (name) VALUES ({self.mark})", (order,))
        # A cursor will do as well as its connection.
        return cursor if len(order) % 2 else connection


class SQLAlchemy:
    """Sessions of SQLAlchemy."""

    def __init__(self, url):
        from sqlalchemy import create_engine, orm, text
        engine = create_engine(url)
        self.connect, self.insert = engine.raw_connection, text("INSERT INTO orders (name) VALUES (:name)")
        self.outbox, self.sessions = Outbox(engine.dialect.paramstyle), orm.sessionmaker(engine)

    @contextlib.contextmanager
    def transaction(self):
        with contextlib.suppress(Undo), self.sessions.begin() as session:
            yield session

    def write(self, session, order):
        session.execute(self.insert, {"name": order})
        return session if len(order) % 2 else session.connection()


class Django:
    """Django's connection."""

    def __init__(self, **database):
        import django
        from django.conf import settings
        from django.db import connection
        settings.configure(DATABASES={"default": database}, USE_TZ=True)
        django.setup()
        self.outbox, self.connection = Outbox("format"), connection
        # A relay in the same process has a thread, and so a connection, of its own.
        self.connect = lambda: connection

    @contextlib.contextmanager
    def transaction(self):
        from django.db import transaction
        try:
            with contextlib.suppress(Undo), transaction.atomic():
                yield self.connection
        except Exception:
            self.connection.close()
            raise

    def write(self, connection, order):
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO orders (name) VALUES (%s)", (order,))
        return connection


def kind_of(kind, place):
    """A driver or a framework, with its database."""
    name, _, database = kind.partition("-")
    if name == "sqlalchemy":
        return SQLAlchemy({
            "sqlite": f"sqlite:///{place}?timeout=60", "postgresql": f"postgresql+psycopg://postgres@/redial?host={place}",
            "pg8000": f"postgresql+pg8000://postgres@/redial?unix_sock={place}/.s.PGSQL.5432",
            "mysql": f"mysql+pymysql://root@/shop?unix_socket={place}"}[database])
    if name == "django":
        if database == "mysql":
            importlib.import_module("pymysql").install_as_MySQLdb()
        return Django(**{
            "sqlite": {"ENGINE": "django.db.backends.sqlite3", "NAME": place, "OPTIONS": {"timeout": 60, "transaction_mode": "IMMEDIATE"}},
            "postgresql": {"ENGINE": "django.db.backends.postgresql", "HOST": place, "USER": "postgres", "NAME": "redial"},
            "mysql": {"ENGINE": "django.db.backends.mysql", "HOST": place, "USER": "root", "NAME": "shop"}}[database])
    return {
        "sqlite3": lambda: Driver("sqlite3", database=place, timeout=60),
        "psycopg": lambda: Driver("psycopg", host=place, user="postgres", dbname="redial"),
        "pg8000": lambda: Driver("pg8000.dbapi", user="postgres", unix_sock=f"{place}/.s.PGSQL.5432", database="redial"),
        "pymysql": lambda: Driver("pymysql", unix_socket=place, user="root", database="shop"),
    }[kind]()


def call_of(target, order, **more):
    return more | {"url": f"{target}/{order}", "json": {"order": order, "note": "é € 🙂 \\ \" %s ?"},
            "policy": {"backoff": {"initial": "10ms", "max": "100ms"}}}


def relay():
    application = kind_of(os.environ["OUTBOX_KIND"], os.environ["OUTBOX_PLACE"])
    return application.outbox.relay(Redial(), application.connect, poll=0.05)


def main(kind, place, target, extent):
    application = kind_of(kind, place)
    if extent == "some":
        for name in ("first", "second-undone", "third-undone", "fourth"):
            order = f"{kind}-{name}"
            with application.transaction() as transaction:
                given = {"idempotency_key": order} if name == "fourth" else {}
                key = application.outbox.submit(application.write(transaction, order), call_of(target, order), **given)
                print(key)
                if order.endswith("undone"):
                    raise Undo
        return
    for number in range(10 ** 9):
        order = f"{kind}-{os.getpid()}-{number}{random.choice(['', '', '-undone'])}"
        try:
            # Some are to be made in their order.
            more = {"orderingKey": f"{kind}-{os.getpid()}"} if number % 4 == 0 else {}
            with application.transaction() as transaction:
                application.outbox.submit(application.write(transaction, order), call_of(target, order, **more))
                if order.endswith("undone"):
                    raise Undo
        except Exception as error:  # The database is away.
            print(type(error).__name__, error, flush=True)
            time.sleep(0.05)
        time.sleep(0.002)


if __name__ == "__main__":
    main(*sys.argv[1:])
