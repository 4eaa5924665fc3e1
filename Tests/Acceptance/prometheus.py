"""A Prometheus of the tests' own."""

import json
import subprocess
import urllib.parse
import urllib.request

import yaml

from processes import free_port


class Prometheus:
    """It runs with this configuration, and has its files in a folder."""

    def __init__(self, tools, folder, configuration, *options):
        (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
        self.port = free_port()
        with open(folder / "prometheus.log", "w") as log:
            self.process = subprocess.Popen(
                [f"{tools}/prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
                 f"--web.listen-address=127.0.0.1:{self.port}", *options], stdout=log, stderr=log)

    def ask(self, path, **query):
        """The data of an answer. An OSError while it does not listen yet."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def value(self, expression):
        """The value of an expression with one series; None if it has none."""
        result = self.ask("query", query=expression)["result"]
        assert len(result) < 2, result
        return float(result[0]["value"][1]) if result else None

    def rules(self):
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]

    def scrapes(self, count=1):
        """Whether it listens, and scrapes so many services."""
        try:
            return self.value("count(up == 1)") == count
        except OSError:
            return False

    def end(self):
        self.process.terminate()
        self.process.wait(60)
