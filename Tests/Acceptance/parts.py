"""The parts of the acceptance tests; Scripts/campaign reads them, too.

A test with `@pytest.mark.part("crashes")`, or a file with such a `pytestmark`, is left out unless `--part crashes` asks for that part,
and then the others are. `.ci/run` runs what is in no part and, apart from the others because it compiles, the part "builds".
"""

PARTS = {
    "builds": "programs that embed the library in release, the examples of the documentation, and the observers",
    "alerts": "each alert in the incident that it is for, by Prometheus, and its runbook, where a minute takes a second",
    "browser": "pages and the dashboard in Chromium",
    "clients": "the clients of other languages when the service fails, their packages, and web frameworks",
    "crashes": "kill -9 at random moments and at each write",
    "damage": "single bits and blocks that change in a store, its log, a backup and an export",
    "database": "a full disk, failover, restore and loss of PostgreSQL, and instances behind a proxy",
    "drill": "eight incidents, and what the dashboard, the API, the command and the alerts say at minute 1 and 5 and after",
    "hostile": "targets whose answers are made from a seed, well-formed and not, compared with what other clients read",
    "instances": "several instances under faults from a seed, compared with a model of calls",
    "kubernetes": "the manifests, and what they do to a service",
    "power": "power cuts and failing syncs",
    "prometheus": "Prometheus and the dashboards of Grafana",
    "ratios": "what compares times",
    "schemathesis": "requests that are made from the contract",
    "signing-in": "the proxies of docs/signing-in.md, with a real OpenID provider",
    "watching": "an hour of load with all that happens in a day, minute by minute",
}


def addoption(parser):
    parser.addoption("--part", action="append", default=[], choices=[*PARTS], help="the part to run")


def part(item):
    """The part that a test belongs to, or None."""
    if "chromium" in item.fixturenames:
        return "browser"
    mark = item.get_closest_marker("part")
    if mark and mark.args[0] not in PARTS:
        raise ValueError(f"{item.nodeid}: there is no part {mark.args[0]}")
    return mark and mark.args[0]


def select(config, items):
    wanted = config.getoption("--part")
    chosen = {id(item) for item in items if (part(item) in wanted if wanted else part(item) is None)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = [item for item in items if id(item) in chosen]
