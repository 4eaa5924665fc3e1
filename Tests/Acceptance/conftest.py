"""Fixtures: each creates processes or files that end with the test, and shows the service's log if the test fails."""

import base64
import os
import resource

import pytest

import client_packages
import databases
import failures
import needs
import parts
import processes


def pytest_addoption(parser):
    parts.addoption(parser)


def pytest_configure(config):
    # Tests have more files open at once than the 1,024 that a login allows.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 16384)), hard))
    config.addinivalue_line("markers", "part(name): runs only with --part name, see parts.py")


def pytest_collection_modifyitems(config, items):
    parts.select(config, items)


@pytest.fixture
def made(tmp_path):
    things = []
    yield things
    for thing in reversed(things):
        thing.end()


@pytest.fixture
def redial(made, tmp_path):
    """Starts a service; the first is `redial()`, with optional flags and environment.

    With `clock=True` its time is the test's: `service.advance(3600)` lets an hour pass at once.
    """
    def start(*flags, env=None, folder=tmp_path, clock=False, location=None):
        service = processes.Redial(folder, *flags, env=env, clock=clock, location=location)
        made.append(service)
        return service.start()
    return start


@pytest.fixture
def flaky(made, tmp_path):
    def start(*flags):
        server = processes.Flaky(tmp_path, *flags)
        made.append(server)
        return server.start()
    return start


@pytest.fixture
def receiver(made):
    def start(answer=None, port=None):
        server = processes.Receiver(answer, port)
        made.append(server)
        return server
    return start


client = client_packages.fixture(client_packages.KINDS)


@pytest.fixture
def database(made):
    """Starts a PostgreSQL cluster of its own, with optional settings of the server."""
    def start(**settings):
        cluster = databases.Database(**settings)
        made.append(cluster)
        return cluster.start()
    return start


@pytest.fixture
def servers(made, database):
    """Starts a PostgreSQL cluster and its standby, which can take over."""
    def start(synchronous):
        made.append(databases.Servers(database(), synchronous))
        return made[-1]
    return start


@pytest.fixture
def encrypted(monkeypatch, tmp_path):
    """All services and commands of the test have a key of the store, in one file, and the service makes its webhook secret."""
    file = tmp_path / "encryption.key"
    file.touch(0o600)
    file.write_text(base64.b64encode(os.urandom(32)).decode() + "\n")
    monkeypatch.setitem(processes.ALWAYS, "REDIAL_ENCRYPTION_KEY_FILE", str(file))


@pytest.fixture
def instances(made, tmp_path, database):
    """Starts instances on one database, each in a folder of its own, and waits until all have their shares.

    `each` gives an environment or a location of its own to an instance, by its number.
    """
    def start(count, *flags, on=None, env=None, each=lambda number: {}):
        cluster = on or database()
        services = []
        for number in range(count):
            folder = tmp_path / f"instance{len(list(tmp_path.glob('instance*')))}"
            folder.mkdir()
            services.append(processes.Redial(folder, *flags, **{"location": cluster.url, "env": env} | each(number)))
            made.append(services[-1])
        for service in services:
            service.start()
        processes.wait_until(lambda: is_even(shares(cluster), count), "even shares")
        return cluster, services

    def is_even(shares, count):
        """Whether these instances, and maybe others that were there before, have shards, and equal numbers if they can."""
        return len(shares) >= count and (64 % len(shares) or len(set(shares)) == 1)

    def shares(cluster):
        return [int(row[0]) for row in cluster.query(
            "SELECT count(l.shard) FROM redial.sessions s LEFT JOIN redial.leases l ON l.owner = s.id GROUP BY s.id", "redial")]
    return start


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The packages of the clients, built once."""
    base = tmp_path_factory.getbasetemp()
    # Each worker of pytest-xdist has a folder of its own in that of the run.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return client_packages.Packages(tmp_path_factory.mktemp("packages"), shared).build()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    folder = item.funcargs.get("tmp_path") if report.when == "call" and report.failed else None
    if folder:
        for log in sorted(folder.rglob("*.log")):
            report.sections.append((log.name, log.read_text(errors="replace")[-4000:]))
    if report.failed:
        failures.note_failure(item, report)
    return report


def pytest_terminal_summary(terminalreporter):
    needs.report(terminalreporter)
