"""Prometheus itself reads the service's metrics, evaluates the rules, and has data for the dashboard."""

import json
import re
import subprocess

import pytest
import yaml

from processes import ROOT, Constants, free_port, wait_until
from prometheus import Prometheus

RULES = ROOT / "docker/prometheus/rules.yml"
DASHBOARD = json.loads((ROOT / "docker/grafana/redial.json").read_text())


@pytest.fixture(scope="module")
def tools():
    return subprocess.run([ROOT / "Scripts/prometheus"], capture_output=True, text=True, check=True).stdout.strip()


def promtool(tools, *arguments, stdin=None):
    answer = subprocess.run([f"{tools}/promtool", *arguments], capture_output=True, text=True, input=stdin, timeout=60)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer


def configured(folder, key, **more):
    """The configuration, with the key in a file in that folder."""
    configuration = yaml.safe_load((ROOT / "docker/prometheus/prometheus.yml").read_text()) | more
    configuration["rule_files"] = [str(RULES)]
    assert configuration["scrape_configs"][0]["authorization"] == {"credentials_file": "/run/secrets/redial_key"}
    (folder / "redial_key").write_text(key)
    configuration["scrape_configs"][0]["authorization"] = {"credentials_file": str(folder / "redial_key")}
    return configuration


@pytest.mark.part("prometheus")
def test_the_rules_and_the_configuration_are_valid(tools, tmp_path):
    promtool(tools, "check", "rules", str(RULES))
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(configured(tmp_path, "key")))
    promtool(tools, "check", "config", str(tmp_path / "prometheus.yml"))


@pytest.mark.part("prometheus")
def test_each_alert_is_set_off_by_what_it_is_for_and_by_nothing_else(tools):
    promtool(tools, "test", "rules", str(ROOT / "docker/prometheus/rules.test.yml"))
    alerts = {rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
              if "alert" in rule}
    tests = yaml.safe_load((ROOT / "docker/prometheus/rules.test.yml").read_text())["tests"]
    checks = [check for test in tests for check in test["alert_rule_test"]]
    assert {check["alertname"] for check in checks if check["exp_alerts"]} == alerts
    assert {check["alertname"] for check in checks if not check["exp_alerts"]} == alerts


def test_the_service_has_every_metric_that_a_panel_or_a_rule_names(redial, flaky):
    service, target = redial("--otlp-endpoint", f"http://127.0.0.1:{free_port()}"), flaky()
    service.ended(service.submit(url=target.url + "/?fail=1", policy={"backoff": {"initial": "10ms"}}))
    expressions = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    expressions += [rule["expr"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    named = {name for expression in expressions for name in re.findall(r"\bredial_\w+(?![\w:])", expression)}
    assert len(named) > 20
    missing = set()

    def are_there():
        text = service("GET", "/metrics").body.decode()
        there = set(re.findall(r"^# TYPE (\w+)", text, re.M))
        nonlocal missing
        missing = {name for name in named if not {name, re.sub(r"_(bucket|sum|count)$", "", name)} & there}
        return not missing

    try:
        # Some are there only after the first look at the store.
        wait_until(are_there, "all metrics are there")
    except AssertionError:
        assert missing == set()


def test_prometheus_is_given_the_key_that_the_service_asks_for():
    def read(name):
        return yaml.safe_load((ROOT / "docker" / name).read_text())
    monitoring = read("compose.monitoring.yaml")
    assert monitoring["services"]["prometheus"]["secrets"] == ["redial_key"]
    name = monitoring["secrets"]["redial_key"]["environment"]
    assert f"${{{name}:-}}" == read("compose.yaml")["services"]["redial"]["environment"]["REDIAL_ADMIN_KEY"]


@pytest.mark.part("prometheus")
def test_the_metrics_keep_the_formats_rules(tools, redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url + "/?fail=1"))
    answer = promtool(tools, "check", "metrics", stdin=service("GET", "/metrics").body.decode())
    assert not answer.stdout and not answer.stderr


def test_only_the_busiest_targets_have_series_of_their_own(redial, flaky):
    service, target = redial(Constants(namedTargets=2)), flaky()
    for number in range(5):
        for _ in range(number + 1):
            service.submit(url=target.url + "/?delay=10m", target=f"t\"{number}", policy={"attemptTimeout": "10m"})
    def named():
        text = service("GET", "/metrics").body.decode()
        return dict(re.findall(r'redial_target_attempts_in_flight\{target="(.*)"\} (\d+)', text))
    wait_until(lambda: named() == {'t\\"4': "5", 't\\"3': "4", "(others)": "6"}, "the busiest are named")


@pytest.mark.part("prometheus")
def test_prometheus_scrapes_the_service_and_has_data_for_every_panel(tools, redial, flaky, made, tmp_path):
    service, target = redial(), flaky()
    admin = service("POST", "/v1/keys", {"name": "me", "scopes": ["admin"]}).json["key"]
    service.credentials = {"authorization": f"Bearer {admin}"}
    key = service("POST", "/v1/keys", {"name": "prometheus", "scopes": ["metrics"]}).json["key"]
    configuration = configured(tmp_path, key, **{"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}})
    configuration["scrape_configs"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{service.port}"]
    prometheus = Prometheus(tools, tmp_path, configuration)
    made.append(prometheus)
    wait_until(prometheus.scrapes, "Prometheus scrapes the service")
    for number in range(4):
        service.ended(service.submit(url=target.url + f"/?fail={number % 2}", policy={"backoff": {"initial": "10ms"}}))
    service.ended(service.submit(url=target.url + "/?fail=9&status=400"))
    assert service("POST", "/v1/calls", {}).status == 422

    expressions = [t["expr"] for panel in DASHBOARD["panels"] for t in panel["targets"]]
    assert len(expressions) > 20
    for expression in expressions:
        wait_until(lambda: prometheus.ask("query", query=expression)["result"], f"there is data for {expression}")

    def judged():
        rules = prometheus.rules()
        return rules if rules and all(rule["health"] == "ok" for rule in rules) else None

    rules = wait_until(judged, "every rule is evaluated")
    alerts = {rule["name"]: rule["state"] for rule in rules if rule["type"] == "alerting"}
    assert len(alerts) >= 10
    for name in ("RedialDown", "RedialStoreFailing", "RedialStoreFindings", "RedialCallsDamaged", "RedialClockOff",
                 "RedialClockError"):
        assert alerts[name] == "inactive", alerts
    service.kill()

    def notices():
        return {rule["name"]: rule["state"] for rule in prometheus.rules() if "state" in rule}["RedialDown"] == "pending"

    wait_until(notices, "the alert notices that the service is gone")
