"""A service with Prometheus beside it and an operator before it, in which an incident begins and ends."""

import contextlib
import json
import time

from alerting import CALL, FACTOR, TARGET, FastPrometheus, FastTime, Page, Terminal, Traffic
from faults import Faults
from processes import BOUND, Constants, Redial, run, target_defaults, wait_until

HEALTHY = 10
# Submissions that take a millisecond seem to take as many more where the time runs faster.
DISTORTED = {"RedialAcceptsSlowly"}


def timeout(factor):
    """Flags with the usual timeout of an attempt. That of libcurl is not divided, as its clock is the machine's."""
    return target_defaults(attemptTimeout=f"{30_000 // factor}ms")


class Scene:
    """A service with Prometheus beside it and an operator before it.

    Prometheus scrapes the services `beside` it, too. With a `url`, the store has the call that the runbooks name.
    """

    def __init__(self, alert, within, made, tools, folder, url, flags, fast, store, location, factor=FACTOR, beside=()):
        self.alert, self.within, self.page = alert, within, alert and Page(alert)
        self.made, self.folder, self.minute = made, folder, 60 / factor
        self.faults = Faults(folder, store / "redial.db")
        watch = Constants(storeWatchInterval=f"{10_000 // factor}ms")
        self.service = Redial(store, watch, *flags, env=self.faults.env, location=location, clock=fast)
        made.append(self.service)
        if url and not location:
            self.put_named_call(url)
        self.service.start()
        self.distorted = DISTORTED if fast else set()
        if fast:
            made.append(FastTime(self.service, self.faults, factor))
        key = self.service("POST", "/v1/keys", {"name": "ada", "scopes": ["admin"]}).json["key"]
        self.service.credentials = {"authorization": f"Bearer {key}"}
        self.terminal = Terminal(folder, self.service, key)
        (folder / "prometheus").mkdir()
        self.metrics_key = self.service("POST", "/v1/keys", {"name": "prometheus", "scopes": ["metrics"]}).json
        self.prometheus = FastPrometheus(
            tools, folder / "prometheus", [self.service, *beside], self.metrics_key["key"], factor)
        made.append(self.prometheus)
        self.prometheus.start()
        self.expected = set()

    def put_named_call(self, url):
        """Puts the call that the runbooks name into the store, by import."""
        (self.folder / "before").mkdir()
        before = Redial(self.folder / "before")
        self.made.append(before)
        before.start()
        before.submit(url=url, target=TARGET, delay="300d", policy={"deadline": "360d"})
        before.kill()
        call = json.loads(run("export", "--calls", "--store", f"sqlite:{before.store}").stdout)
        assert call.pop("checksum")
        line = json.dumps(call | {"id": CALL}) + "\n"
        done = run("import", "--store", f"sqlite:{self.service.store}", stdin=line)
        assert done.returncode == 0, done

    def traffic(self, rate, make):
        traffic = Traffic(self.service, rate, make)
        self.made.append(traffic)
        return traffic

    def minutes(self, count):
        """Waits until the rules were evaluated after so many minutes."""
        until = self.prometheus.judged() + count * self.minute
        # Asked seldom, so that what makes the time and the calls has the processor.
        wait_until(
            lambda: time.sleep(self.minute / 20) or self.prometheus.judged() > until, f"{count} minutes pass",
            BOUND + count * self.minute)

    def is_quiet(self, minutes=HEALTHY):
        """Lets a healthy time pass, in which nothing fires."""
        self.minutes(minutes)
        assert self.others() == set()

    def others(self):
        """What has fired, besides the alerts that were to fire."""
        return {name for name, *_ in self.prometheus.firings()} - self.expected - self.distorted

    @contextlib.contextmanager
    def incident(self, **labels):
        """What begins in the block sets off the alert in time, and nothing else."""
        alert, begun = self.alert, self.prometheus.judged()
        yield
        try:
            wait_until(lambda: alert in self.prometheus.firing(), f"{alert} fires", BOUND + self.within * self.minute)
        except AssertionError:
            print(self.prometheus.history(alert))
            raise
        self.expected.add(alert)
        took = min(first for name, *_, first, _ in self.prometheus.firings() if name == alert) - begun
        print(f"\n{alert}: after {took / self.minute:.1f} min")
        assert took <= self.within * self.minute, f"{alert} fired after {took / self.minute:.1f} min, not {self.within}"
        assert self.others() == set()
        # What it says to the person that it calls.
        (shown,) = [each for each in self.prometheus.ask("alerts")["alerts"] if each["labels"]["alertname"] == alert]
        assert labels.items() <= shown["labels"].items(), shown

    def walk(self, title, codes=(0,)):
        """Types the commands of a section of the alert's page; returns their outputs by command."""
        return {command: self.terminal.run(command, codes) for command in self.page.commands(title)}

    def type(self, command):
        """Types a command that the alert's page has within a sentence."""
        assert self.page.has(command), command
        return self.terminal.run(command)

    def is_over(self, *allowed, beginnings=1, minutes=HEALTHY):
        """The alert ceases, and neither it nor another one comes later, unless it is a consequence. It was there once."""
        self.expected.update(allowed)
        wait_until(lambda: self.alert not in self.prometheus.firing(), f"{self.alert} is over", 2 * BOUND)
        self.minutes(minutes)
        assert self.alert not in self.prometheus.firing() and self.others() == set()
        times = [times for name, *times in self.prometheus.firings() if name == self.alert]
        assert len(times) == 1, f"{self.alert} fired {len(times)} times: {times}"
        # Nor was it true for less than it waits, unless the incident itself is so.
        assert self.prometheus.beginnings(self.alert) <= beginnings
