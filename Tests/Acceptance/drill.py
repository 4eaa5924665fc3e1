"""The incident drill: what each surface says at minute 1 and 5 of an incident and after it, and whether they agree.

A service with Prometheus runs as in test_alerts.py, where a minute takes a few seconds. At each moment a person opens the overview
afresh, as one does who was just woken, and reads the rest: the issues, the target, a call, the command, the alerts.
REDIAL_DRILL_PICTURES names a folder that gets a picture of each page that is worth one.
"""

import contextlib
import io
import json
import os
import re
import time

from PIL import Image

from alerting import TARGET
from processes import BOUND, ROOT, run, wait_until
from scenes import Scene
from test_dashboard_overview import CLIPPED

# A minute takes five seconds: time enough to take a picture within the minute.
FACTOR = 12
# How many minutes of a usual day the charts have before the incident, and how many pass after it.
USUAL, LATER = 5, 3
PICTURES = os.environ.get("REDIAL_DRILL_PICTURES")
WIDTH, HEIGHT, COLORS = 1400, 900, 64


def figure(text):
    """The first number of a text, as people read it: `1,250 calls`."""
    found = re.search(r"\d[\d,]*", text or "")
    return int(found[0].replace(",", "")) if found else None


class Drill(Scene):
    """A scene whose surfaces are read; `name` is that of its pictures."""

    def __init__(self, name, browser, *arguments, **more):
        super().__init__(*arguments, **more)
        self.name, self.flows = name, []
        self.context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, locale="en-GB", timezone_id="UTC")
        self.made.append(self)
        self.key = self.service.credentials["authorization"].removeprefix("Bearer ")
        self.context.add_init_script(f"sessionStorage.setItem('redial-key', {json.dumps(self.key)})")
        self.context.set_default_timeout(BOUND * 1000)
        self.errors = []
        self.view, self.listed, self.begun = None, None, None

    def end(self):
        self.context.close()

    def traffic(self, rate, make):
        self.flows.append(super().traffic(rate, make))
        return self.flows[-1]

    # Times.

    def begin(self):
        """The incident begins."""
        self.begun = time.monotonic()

    def until_minute(self, minute):
        until = self.begun + minute * self.minute
        wait_until(lambda: time.monotonic() >= until, f"minute {minute}", BOUND + minute * self.minute)

    # What happens.

    def listen(self, receiver):
        """An endpoint gets what happens to targets."""
        self.hook = receiver
        answer = self.service("POST", "/v1/webhook-endpoints", {"url": receiver.url, "events": ["target.down", "target.recovered"]})
        assert answer.status == 201, answer.body

    def notices(self, kind, key=TARGET):
        """How often the endpoint was notified of this."""
        events = [json.loads(request.body) for request in self.hook.requests]
        return sum(event["type"] == kind and event["data"]["key"] == key for event in events)

    def waiting_call(self, key=TARGET):
        """A call that waits for its target."""
        def one():
            found = self.service("GET", f"/v1/calls?target={key}&waitingOn=breaker&limit=1").json["data"]
            return found and found[0]["id"]
        return wait_until(one, "a call waits for the breaker")

    def is_noticed(self, cause, key=TARGET):
        """The log and the endpoint have the beginning and the end of the outage, once each."""
        log = self.service.log.read_text()
        for event, kind in (("targetDown", "target.down"), ("targetRecovered", "target.recovered")):
            lines = re.findall(rf" {event} target={key}\b.*", log)
            assert len(lines) == 1, lines
            wait_until(lambda kind=kind: self.notices(kind), f"{kind} arrives")
            assert self.notices(kind) == 1, kind
        assert re.search(rf" targetDown target={key}\b.* cause={cause}\n", log), log

    def fires(self, **labels):
        """The alert says which target or instance it is about, and leads to its page."""
        (shown,) = [one for one in self.prometheus.ask("alerts")["alerts"] if one["labels"]["alertname"] == self.alert]
        note = shown["annotations"]
        assert labels.items() <= shown["labels"].items(), shown
        assert all(value in note["summary"] for value in labels.values()), note
        assert note["runbook_url"] == f"docs/runbooks/{self.alert}.md" and (ROOT / note["runbook_url"]).exists()

    def is_delivered(self, key=TARGET):
        """Waits until the target is up and nothing waits for it."""
        def delivered():
            target = self.service("GET", f"/v1/targets/{key}").json
            return target["state"] == "up" and target["backlog"]["total"] < 10
        wait_until(delivered, "what waited is delivered", 3 * BOUND)

    # What each surface says.

    def command(self, *words, codes=(0, 1)):
        done = run(*words, "--server", self.service.url, env={"REDIAL_API_KEY": self.key})
        assert done.returncode in codes and not done.stderr, done
        return done.stdout

    def api(self):
        """The figures of the API that have to be the same everywhere."""
        targets = self.service("GET", "/v1/targets?limit=250").json["data"]
        issues = self.service("GET", "/v1/issues").json["data"]
        (quarter,) = [one for one in self.service("GET", "/v1/statistics").json["data"] if one["window"] == "15m"]
        waits = {one["key"]: sum(calls for reason, calls in one["backlog"]["byReason"].items() if reason != "startTime")
                 for one in targets}
        return {
            "targets": {one["key"]: one for one in targets}, "waits": waits, "issues": {one["id"]: one for one in issues},
            "ready": self.service("GET", "/readyz").status == 200, "flying": sum(one["inFlight"] for one in targets),
            "total": sum(sum(one["backlog"]["byReason"].values()) for one in targets), "quarter": quarter,
            "judged": quarter["calls"]["succeeded"] + quarter["calls"]["failed"]}

    def overview(self, span=None):
        """The overview as it is now; with a span, how calls ended in it."""
        return self.view.evaluate(OVERVIEW, span)

    def open(self, place):
        """Another page of the dashboard, as text."""
        view = self.context.new_page()
        view.goto(f"{self.service.url}/#{place}")
        return view

    def disagreements(self, before, after, shown, status, listed, rows):
        """Where a surface shows another number than the API, which was read before and after it."""
        flying = max(before["flying"], after["flying"])
        found = []

        def check(what, said, of, slack=0):
            low, high = sorted((of(before), of(after)))
            if said is None or not low - slack <= said <= high + slack:
                found.append(f"{what}: {said}, and the API has {low} to {high}")

        for one in shown["incidents"]:
            key = one["target"]
            if key and one["waits"] is not None:
                check(f"overview, {key} waits", figure(one["waits"]), lambda api, key=key: api["waits"].get(key, 0), flying)
        check("overview, waiting now", figure(shown["backlog"]) or 0, lambda api: api["total"], flying)
        # "97.5 % of 120 calls succeeded": the second number.
        ended = figure(shown["ended"].partition("%")[2]) or 0
        check("overview, ended", ended, lambda api: api["judged"])
        check("status, waits", status["waiting"]["total"], lambda api: api["total"], flying)
        check("status, late", status["waiting"]["late"], lambda _: figure(shown["late"]) or 0, flying)
        for one in status["targets"]:
            check(f"status, {one['target']} waits", one["waiting"], lambda api, key=one["target"]: api["waits"].get(key, 0), flying)
        bad = {key for key, target in after["targets"].items() if target["state"] != "up" or target["paused"] or target["tripped"]}
        for name, keys in (("overview", {one["target"] for one in shown["incidents"] if one["isState"]}),
                           ("status", {one["target"] for one in status["targets"]})):
            if not keys >= bad:
                found.append(f"{name}, targets that are not up: {sorted(keys)}, and the API has {sorted(bad)}")
        for what, refuses in (("overview", "accepts no calls" in shown["text"]), ("status", not status["ready"])):
            if refuses == after["ready"]:
                found.append(f"{what}: accepts no calls: {refuses}, and the API: {not after['ready']}")
        failed = [one for one in after["issues"].values() if one["kind"] == "failed" and one["state"] == "open"]
        said = [figure(one["text"]) for one in shown["incidents"] if one["target"] is None and " failed, the latest" in one["text"]]
        if said != ([sum(one["calls"] for one in failed)] if failed else []):
            found.append(f"overview, failed: {said}, and the API has {failed}")
        check("status, failed", status["failed"]["calls"], lambda api: sum(
            one["calls"] for one in api["issues"].values() if one["kind"] == "failed" and one["state"] == "open"))
        lines = {line.split()[0]: int(line.split()[2]) for line in listed.splitlines() if line.startswith("issue_")}
        for what, issues in (("redial issues", lines), ("the page of issues", {key: figure(calls) for key, calls in rows})):
            if issues.keys() != after["issues"].keys():
                found.append(f"{what}: {issues}, and the API has {list(after['issues'].values())}")
            for key, calls in issues.items():
                default = {"calls": calls}
                check(f"{what}, {key}", calls, lambda api, key=key, default=default: api["issues"].get(key, default)["calls"], flying)
        return found

    def see(self, moment, overview=(), status=(), issues=(), target=(), call=(), also=()):
        """Reads everything at a moment: 1 or 5 minutes after the beginning, or "after".

        Of each surface, these patterns have to be in what it says. `call` are an id, and patterns. Of the pages in `also`, as
        "call/…", there is a picture, too.
        """
        if moment != "after":
            self.until_minute(moment)
        # As one who was woken: nothing is known of the time before.
        for view in filter(None, (self.view, self.listed)):
            view.close()
        self.view, self.listed = self.open("overview"), self.open("issues")
        for view in (self.view, self.listed):
            view.on("pageerror", lambda error: self.errors.append(str(error)))
        wait_until(lambda: self.view.evaluate("!document.getElementById('usual').hidden"), "the overview is shown")
        # Charts of a day tell nothing of what has just begun or ended: "15 min" is the first thing to press, if it is not pressed.
        self.says("overview", lambda: self.overview("15m")["text"], overview)
        self.picture(moment, self.view)
        for place in also:
            view = self.open(place)
            # The newest call is read once the rest is shown.
            wait_until(lambda view=view: view.evaluate(SHOWN), f"{place} is shown")
            self.picture(moment, view, "-" + place.partition("/")[0])
            view.close()
        faults = []
        with contextlib.ExitStack() as still:
            for flow in self.flows:
                still.enter_context(flow.held)

            def agree():
                nonlocal faults
                before, told, listed = self.api(), self.overview("15m"), self.command("issues")
                rows, shown = self.listed.evaluate(ISSUES), json.loads(self.command("status", "--json"))
                after = self.api()
                faults = self.disagreements(before, after, told, shown, listed, rows)
                return not faults and (after, told, listed)
            try:
                figures, told, listed = wait_until(agree, "the surfaces agree")
            except AssertionError as error:
                raise AssertionError("\n".join(faults)) from error
        text = self.says("redial status", lambda: self.command("status"), status)
        listed = self.says("redial issues", lambda: self.command("issues"), issues)
        view = self.open(f"target/{TARGET}")
        self.says("the target's page", lambda: view.inner_text("#view-target"), target)
        view.close()
        print(f"\n──── {self.name}, {moment}\n{told['text']}")
        print(f"── redial status\n{text}── redial issues\n{listed}── alerts {self.alarms()}")
        if call:
            identity, *patterns = call
            view = self.open(f"call/{identity}")
            self.says("the call's page", lambda: view.inner_text("#view-call"), patterns)
            view.close()
        for script, what in ((CLIPPED, "is cut off"), (OVERLAPS, "is written over")):
            assert (found := self.view.evaluate(script)) == [], f"{what}: {found}"
        assert not re.search(r"undefined|NaN|null|Infinity|\[object", told["text"]), told["text"]
        assert self.errors == []
        # Nobody is woken by another one than that of the incident.
        firing = {name for name, state in self.alarms().items() if state == "firing"}
        assert firing <= {self.alert} | self.expected, firing
        return figures

    def says(self, what, read, patterns):
        """What a surface says, once all these patterns are in it."""
        text, missing = "", []

        def is_said():
            nonlocal text, missing
            text = read()
            missing = [pattern for pattern in patterns if not re.search(pattern, text)]
            return not missing
        try:
            wait_until(is_said, what)
        except AssertionError as error:
            raise AssertionError(f"{self.name}: {what} does not say {missing}:\n{text}") from error
        return text

    def alarms(self):
        """The alerts that are pending or fire, by name."""
        return {one["labels"]["alertname"]: one["state"] for one in self.prometheus.ask("alerts")["alerts"]
                if one["labels"]["alertname"] not in self.distorted}

    def picture(self, moment, view, page=""):
        if not PICTURES:
            return
        name = f"{self.name}-{moment if isinstance(moment, str) else f'minute-{moment}'}{page}"
        # A page has few colours, besides the edges of its letters: those that it has most are kept as they are.
        image = Image.open(io.BytesIO(view.screenshot())).convert("RGB")
        palette = Image.new("P", (1, 1))
        colors = [color for _, color in sorted(image.getcolors(1 << 24), reverse=True)]
        # Red and amber are rare, and say most.
        bright = [color for color in colors if max(color) - min(color) > 80][:COLORS // 2]
        chosen = bright + [color for color in colors if color not in bright][:COLORS - len(bright)]
        palette.putpalette([part for color in chosen for part in color])
        image = image.quantize(palette=palette, dither=Image.Dither.NONE)
        folder = ROOT / PICTURES
        folder.mkdir(parents=True, exist_ok=True)
        image.save(folder / f"{name}.png", optimize=True)


# Draws the overview anew, and returns what it says.
OVERVIEW = """async span => {
  failures.at = -Infinity;
  chosenSpan = span ?? chosenSpan;
  await overview();
  const text = id => document.getElementById(id).innerText;
  return {
    text: text("view-overview"), ended: text("ended"), late: text("late"), backlog: text("backlog-sum"),
    incidents: [...document.querySelectorAll("#troubles > .trouble")].map(one => ({
      text: one.innerText, target: one.querySelector("h3 a")?.textContent ?? null,
      isState: one.querySelector("h3 a") !== null,
      waits: one.querySelector("div p b")?.textContent ?? null}))};
}"""
# Whether a page shows what it is about.
SHOWN = """(one => one && one.innerText.length > 120)(document.querySelector("main > section:not([hidden])"))"""
# Draws the page of issues anew, and returns each with its number of calls.
ISSUES = """async () => {
  await issues();
  return [...document.querySelectorAll("#issue-table tbody tr[data-key]")].map(
    row => [row.dataset.key, row.querySelector("td.calls").textContent]);
}"""
# Texts in charts that lie on each other.
OVERLAPS = """() => [...document.querySelectorAll("main > section:not([hidden]) svg")].flatMap(chart => {
  const texts = [...chart.querySelectorAll("text")].filter(one => one.textContent);
  const all = texts.map(one => [one.textContent, one.getBoundingClientRect()]);
  return all.flatMap(([name, one], index) => all.slice(index + 1).filter(([, other]) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 3).map(([other]) => `${name} and ${other}`));
})"""
