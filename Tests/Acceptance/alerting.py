"""Prometheus with the shipped rules, beside a service, where a minute takes a second; and the runbooks, typed as they are written.

The rules wait for minutes. So all their times are divided by FACTOR, as are the times at which Prometheus scrapes and evaluates.
Where the time of the service matters, a thread lets it run FACTOR times as fast, and the wall clock of its process with it.
"""

import datetime
import json
import os
import re
import shlex
import subprocess
import threading
import time

import yaml

from processes import BINARY, ROOT, wait_until
from prometheus import Prometheus

FACTOR = 60
MINUTE = 60 / FACTOR
RULES = ROOT / "docker/prometheus/rules.yml"
CONFIGURATION = ROOT / "docker/prometheus/prometheus.yml"
RUNBOOKS = ROOT / "docs/runbooks"
# The names that the runbooks use.
TARGET, CALL = "billing", "call_1M7YBERJP0000"

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
RANGE = re.compile(r"(?<=\[)(\d+)(ms|[smhd])(?=\])")
# A threshold of what is counted per second, and not one that is a share of another rate.
PER_SECOND = re.compile(r"(?<=\) > )([\d.]+)(?![\d.]| ?\*)")


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|[smhd])", text).groups()
    return int(number) * UNITS[unit]


def shorter(text, factor=FACTOR):
    """A time of a rule, as it is here."""
    return f"{round(seconds(text) * 1000 / factor)}ms"


def scaled(document, factor=FACTOR):
    """The rules with all times divided by the factor: `for`, ranges, and with them the thresholds of rates."""
    document = json.loads(json.dumps(document))
    for group in document["groups"]:
        for rule in group["rules"]:
            rule["expr"] = RANGE.sub(lambda found: shorter(found[0], factor), rule["expr"])
            if re.search(r"\brate\(", rule["expr"]):
                rule["expr"] = PER_SECOND.sub(lambda found: f"{float(found[0]) * factor:g}", rule["expr"])
            if "for" in rule:
                rule["for"] = shorter(rule["for"], factor)
    return document


def shipped():
    return yaml.safe_load(RULES.read_text())


def alerts():
    """The alerts of the rules, by name."""
    return {rule["alert"]: rule for group in shipped()["groups"] for rule in group["rules"] if "alert" in rule}


class FastPrometheus(Prometheus):
    """A Prometheus with the scaled rules, that scrapes these services."""

    def __init__(self, tools, folder, services, key, factor=FACTOR):
        self.services = services
        configuration = yaml.safe_load(CONFIGURATION.read_text())
        every = {name: shorter(value, factor) for name, value in configuration["global"].items()}
        self.every = seconds(every["evaluation_interval"])
        (folder / "key").write_text(key)
        (folder / "rules.yml").write_text(yaml.safe_dump(scaled(shipped(), factor)))
        (scrape,) = configuration["scrape_configs"]
        scrape["authorization"]["credentials_file"] = str(folder / "key")
        scrape["static_configs"] = [{"targets": [f"127.0.0.1:{service.port}" for service in services]}]
        configuration |= {"global": every, "rule_files": [str(folder / "rules.yml")]}
        super().__init__(tools, folder, configuration, f"--query.lookback-delta={shorter('5m', factor)}")

    def start(self):
        def judges():
            if not self.scrapes(len(self.services)):
                return False
            rules = self.rules()
            return rules and all(rule["health"] == "ok" for rule in rules)
        wait_until(judges, "Prometheus scrapes the service and evaluates all rules")
        return self

    def samples(self, expression):
        """All samples of a series since the start: by its labels, the values by time."""
        return {
            frozenset((name, value) for name, value in series["metric"].items() if name not in ("__name__", "alertstate")):
            {at: float(value) for at, value in series["values"]}
            for series in self.ask("query", query=f"{expression}[1d]")["result"]}

    def firings(self):
        """Each time that an alert began to fire: (name, labels, when its condition became true, first and last time of firing).

        A condition that ceases and comes again has another beginning, so a rule that flaps has several.
        """
        begun, found = self.samples("ALERTS_FOR_STATE"), []
        for labels, states in self.samples('ALERTS{alertstate="firing"}').items():
            # ALERTS_FOR_STATE has the labels of ALERTS.
            beginnings = {}
            for at in states:
                beginnings.setdefault(begun[labels].get(at), []).append(at)
            fields = dict(labels)
            name = fields.pop("alertname")
            found += [(name, fields, beginning, min(times), max(times)) for beginning, times in beginnings.items()]
        return found

    def judged(self):
        """When the rules were evaluated last, in seconds since 1970."""
        text = self.ask("rules")["groups"][0]["lastEvaluation"]
        # Python reads six digits behind the point, and Go writes nine.
        return datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text)).timestamp()

    def beginnings(self, name):
        """How often the condition of an alert became true, whether it fired or not."""
        return sum(len(set(values.values())) for values in self.samples(f'ALERTS_FOR_STATE{{alertname="{name}"}}').values())

    def history(self, alert):
        """The values of the metrics of an alert in the last minutes, for the person who reads a failed test."""
        now, names = time.time(), "|".join(re.findall(r"\b(?:redial_\w+|redial:[\w:]+|up\b)", alerts()[alert]["expr"]))
        expression = f'{{__name__=~"{names}"}}'
        found = self.ask("query_range", query=expression, start=now - 300, end=now, step=1)["result"]
        return "\n".join(f"{series['metric']}: {' '.join(value for _, value in series['values'])}" for series in found)

    def firing(self):
        """The alerts that fire now, by name."""
        return {alert["labels"]["alertname"] for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}


class FastTime:
    """Lets the time of a service, and the wall clock of its process, run `factor` times as fast."""

    STEP = 0.005

    def __init__(self, service, faults, factor=FACTOR):
        self.service, self.faults, self.factor = service, faults, factor
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        begun, before = time.monotonic(), self.service.clock.seconds
        while not self.stopped.wait(self.STEP):
            ahead = before + (time.monotonic() - begun) * (self.factor - 1)
            self.service.advance(ahead - self.service.clock.seconds)
            self.faults.ahead("clock", ahead)

    def end(self):
        self.stopped.set()
        self.thread.join()


class Traffic:
    """Submits calls at a steady rate. `make` gets the number of the call, and returns its descriptor."""

    def __init__(self, service, rate, make):
        self.service, self.rate, self.make = service, rate, make
        self.statuses = {}
        # Who has it submits, or keeps what is submitted as it is: `with traffic.held`. What was left out comes later.
        self.held = threading.Lock()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        begun, number = time.monotonic(), 0
        while not self.stopped.is_set():
            self.stopped.wait(max(0, begun + number / self.rate - time.monotonic()))
            with self.held:
                try:
                    status = self.service("POST", "/v1/calls", self.make(number)).status
                except OSError:
                    status = None
            self.statuses[status] = self.statuses.get(status, 0) + 1
            number += 1

    def end(self):
        self.stopped.set()
        self.thread.join()


class Page:
    """A runbook: its commands, by the title of their section."""

    def __init__(self, alert):
        self.text = (RUNBOOKS / f"{alert}.md").read_text()

    def commands(self, title):
        """The commands in the blocks of a section, each on one line."""
        section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", self.text, re.M | re.S)[1]
        blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", section, re.M | re.S)
        return [line.strip() for block in blocks for line in block.replace("\\\n", "").splitlines()]

    def has(self, command):
        """Whether a sentence names this command."""
        return f"`{command}`" in self.text


class Terminal:
    """Where an operator types what the runbooks say, unchanged: their paths, address and port lead to the test's service."""

    def __init__(self, folder, service, key):
        self.folder = folder
        for name in ("programs", "home", "work", "other"):
            (folder / name).mkdir()
        (folder / "programs/redial").symlink_to(BINARY)
        (folder / "home/.curlrc").write_text(f'connect-to = "127.0.0.1:8080:127.0.0.1:{service.port}"\n')
        self.store = service.store.parent
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("REDIAL_")} | {
            "PATH": f"{folder}/programs:{os.environ['PATH']}", "HOME": str(folder / "home"), "REDIAL_SERVER": service.url,
            "REDIAL_API_KEY": key}

    def run(self, command, codes=(0,)):
        """Runs a command in a name space of its own, in which /var/lib and /mnt have what the pages name; returns its output."""
        mounts = [
            f"mount -t tmpfs none {place.rpartition('/')[0]} && mkdir {place} && mount --bind {shlex.quote(str(real))} {place}"
            for place, real in (("/var/lib/redial", self.store), ("/mnt/other", self.folder / "other"))]
        script = " && ".join([*mounts, 'exec bash -o pipefail -c "$0"'])
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", script, command], cwd=self.folder / "work", env=self.env, capture_output=True,
            text=True, timeout=120)
        assert done.returncode in codes, (command, done.returncode, done.stdout, done.stderr)
        return done.stdout
