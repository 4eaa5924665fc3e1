"""docker/kubernetes: valid for the cluster's API, right in what it says about the binary and the image, and with pods that run
as it says, one on SQLite and several on PostgreSQL."""

import base64
import ipaddress
import os
import re
import shlex
import signal
import subprocess

import jsonschema
import kubernetes_validate
import pytest
import yaml

from crashes import Target
from manifests import KUBECTL, Balancer, Image, Pod, PodNetwork, build, container, of_kind, variables, workload
from processes import BINARY, BOUND, NO_BREAKER, ROOT, Client, run, wait_until
from replica_crashes import History, ReplicaCrashes, assert_nothing_lost
from test_rolling_deploy import Upstreams

PAGE = (ROOT / "docs/kubernetes.md").read_text()
OVERLAYS = ("one", "several")
# The oldest version that knows everything in the manifests, and one that is as new as the validator.
VERSIONS = ("1.30", kubernetes_validate.latest_version())
KEY = "an-admin-key-for-this-test"
NAME = {"app.kubernetes.io/name": "redial"}
SECRETS = {"redial": {"admin-key": KEY}}
# What the Prometheus Operator's definition of a ServiceMonitor says about the fields that are used here.
SERVICE_MONITOR = yaml.safe_load("""
type: object
required: [selector, endpoints]
additionalProperties: false
properties:
  selector: {type: object, additionalProperties: false, properties: {matchLabels: {type: object}}}
  endpoints:
    type: array
    items:
      type: object
      additionalProperties: false
      properties:
        port: {type: string}
        path: {type: string}
        interval: {type: string, pattern: '^([0-9]+(ms|[smhdwy]))+$'}
        authorization:
          type: object
          additionalProperties: false
          properties:
            type: {type: string}
            credentials:
              type: object
              required: [key]
              additionalProperties: false
              properties: {name: {type: string}, key: {type: string}, optional: {type: boolean}}
""")


@pytest.fixture(scope="module")
def manifests():
    """The objects of each overlay."""
    return {overlay: build(overlay) for overlay in (*OVERLAYS, "maintenance", "monitoring")}


def pod_spec(objects):
    return next((o["spec"] for o in objects if o["kind"] == "Pod"), None) or workload(objects)["spec"]["template"]["spec"]


def secrets_of(cluster):
    """The Secrets of several instances on this cluster, whose role needs a password."""
    return SECRETS | {"redial-database": {"url": f"postgresql://redial@/redial?host={cluster.folder}", "password": "pass/word"}}


# The API


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("overlay", (*OVERLAYS, "maintenance"))
def test_the_clusters_api_knows_every_field(manifests, overlay, version):
    assert len(manifests[overlay]) >= 1
    for each in manifests[overlay]:
        kubernetes_validate.validate(each, version, strict=True)


def test_a_field_that_the_api_does_not_know_is_found(manifests):
    wrong = yaml.safe_load(yaml.safe_dump(workload(manifests["several"])))
    wrong["spec"]["template"]["spec"]["terminationGraceSeconds"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


def test_each_overlay_has_what_it_needs_and_its_names_agree(manifests):
    shared = {"Namespace", "ServiceAccount", "Service", "NetworkPolicy"}
    kinds = {"one": shared | {"StatefulSet"}, "several": shared | {"Deployment", "PodDisruptionBudget"}}
    for overlay in OVERLAYS:
        objects = manifests[overlay]
        assert {o["kind"] for o in objects} == kinds[overlay] and len(objects) == len(kinds[overlay])
        namespace = of_kind(objects, "Namespace")["metadata"]["name"]
        assert {o["metadata"].get("namespace") for o in objects} == {None, namespace}
        template = workload(objects)["spec"]["template"]
        assert template["metadata"]["labels"] == NAME
        selectors = [workload(objects)["spec"]["selector"]["matchLabels"], of_kind(objects, "Service")["spec"]["selector"],
                     of_kind(objects, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"]]
        for constraint in template["spec"].get("topologySpreadConstraints", []):
            selectors.append(constraint["labelSelector"]["matchLabels"])
        if overlay == "several":
            selectors.append(of_kind(objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"])
        assert selectors == [NAME] * len(selectors)
        assert template["spec"]["serviceAccountName"] == of_kind(objects, "ServiceAccount")["metadata"]["name"]
        volumes = {v["name"] for v in template["spec"].get("volumes", [])}
        volumes |= {v["metadata"]["name"] for v in workload(objects)["spec"].get("volumeClaimTemplates", [])}
        assert {m["name"] for m in container(objects)["volumeMounts"]} == volumes
    claim = f"data-{workload(manifests['one'])['metadata']['name']}-0"
    (volume,) = pod_spec(manifests["maintenance"])["volumes"]
    assert volume["persistentVolumeClaim"]["claimName"] == claim
    assert pod_spec(manifests["maintenance"])["serviceAccountName"] == "redial"


@pytest.mark.parametrize("overlay", (*OVERLAYS, "maintenance"))
def test_pods_keep_the_restricted_standard_and_get_no_token(manifests, overlay):
    pod = pod_spec(manifests[overlay])
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert pod["automountServiceAccountToken"] is False and pod["enableServiceLinks"] is False
    security = pod["securityContext"]
    assert security["runAsNonRoot"] is True and security["seccompProfile"] == {"type": "RuntimeDefault"}
    user = Image().value("USER")
    assert f"{security['runAsUser']}:{security['runAsGroup']}" == user and str(security["fsGroup"]) == user.split(":")[1]
    allowed = {"secret", "persistentVolumeClaim", "emptyDir", "configMap", "name"}
    assert all(set(volume) <= allowed for volume in pod.get("volumes", []))
    for each in pod["containers"]:
        assert each["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
        assert each["resources"]["requests"]["cpu"] and each["resources"]["limits"]["memory"]
    if overlay in OVERLAYS:
        labels = of_kind(manifests[overlay], "Namespace")["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


# The binary and the image


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_variable_is_a_setting_with_a_valid_value(manifests, overlay, tmp_path):
    address = "10.1.2.3"
    secrets = SECRETS | {"redial-database": {"url": "postgresql://redial@db.example.com/redial", "password": "secret"}}
    found = variables(container(manifests[overlay]), secrets, address)
    shown = run("serve", "--print-config", env=Image().environment | found)
    assert shown.returncode == 0, shown.stderr
    for name in found.keys() - {"REDIAL_API_KEY", "POD_IP"}:
        assert f"# environment {name}\n" in shown.stdout, name
    if overlay == "several":
        assert f"store.peerURL = http://{address}:8080 " in shown.stdout
    mistaken = run("serve", "--print-config", env={**found, "REDIAL_PEERURL": "x"})
    assert mistaken.returncode == 2 and "REDIAL_PEER_URL" in mistaken.stderr


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_ports_folders_and_times_agree_with_the_image_and_with_each_other(manifests, overlay):
    objects, image = manifests[overlay], Image()
    each = container(objects)
    (port,) = each["ports"]
    settings = variables(each, SECRETS | {"redial-database": {"url": "", "password": ""}}, "")
    assert {image.value("EXPOSE"), settings["REDIAL_LISTEN"].split(":")[1]} == {str(port["containerPort"])}
    (served,) = of_kind(objects, "Service")["spec"]["ports"]
    assert (served["targetPort"], served["port"]) == (port["name"], port["containerPort"])
    assert {each[kind]["httpGet"]["port"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")} == {port["name"]}
    contract = yaml.load((ROOT / "api/openapi.yaml").read_text(), yaml.CSafeLoader)["paths"]
    assert contract[each["livenessProbe"]["httpGet"]["path"]]["get"]["operationId"] == "getHealth"
    assert contract[each["startupProbe"]["httpGet"]["path"]]["get"]["operationId"] == "getHealth"
    assert contract[each["readinessProbe"]["httpGet"]["path"]]["get"]["operationId"] == "getReadiness"
    # A stop waits for attempts in flight, and then sends the last spans for up to two seconds.
    drain = int(re.fullmatch(r"(\d+)s", settings["REDIAL_DRAIN_TIMEOUT"])[1])
    before = each.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pod_spec(objects)["terminationGracePeriodSeconds"] >= before + drain + 5
    version = run("version").stdout.split()[1]
    assert each["image"] == f"registry.example.com/redial:{version}"
    assert pod_spec(manifests["maintenance"])["containers"][0]["image"] == each["image"]


def test_the_volume_has_room_for_the_store_and_a_copy_of_it(manifests):
    each = container(manifests["one"])
    settings = variables(each, SECRETS, "")
    (claim,) = workload(manifests["one"])["spec"]["volumeClaimTemplates"]
    size = int(re.fullmatch(r"(\d+)Gi", claim["spec"]["resources"]["requests"]["storage"])[1]) << 30
    assert 2 * int(settings["REDIAL_RETENTION_BYTES"]) <= size * 0.85
    (mount,) = each["volumeMounts"]
    assert mount["mountPath"] == Image().value("VOLUME")
    assert settings["REDIAL_STORE"].removeprefix("sqlite://").startswith(mount["mountPath"] + "/")
    (kept,) = pod_spec(manifests["maintenance"])["containers"]
    assert variables(kept, {}, "")["REDIAL_STORE"] == settings["REDIAL_STORE"]
    assert kept["volumeMounts"] == each["volumeMounts"]


def test_a_rolling_update_never_has_fewer_pods_and_a_drain_takes_one(manifests):
    spec = workload(manifests["several"])["spec"]
    assert spec["replicas"] >= 2
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    assert of_kind(manifests["several"], "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    assert workload(manifests["one"])["spec"]["replicas"] == 1
    keys = [c["topologyKey"] for c in spec["template"]["spec"]["topologySpreadConstraints"]]
    assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]


# The network


def matches(peer, selected):
    """Whether a peer is one of those that a rule selects."""
    if block := selected.get("ipBlock"):
        address = ipaddress.ip_address(peer["address"])
        inside = [ipaddress.ip_network(each) for each in (block["cidr"], *block.get("except", []))]
        return address in inside[0] and not any(address in network for network in inside[1:])

    def has(labels, selector):
        return labels is not None and selector.get("matchLabels", {}).items() <= labels.items()
    own = "namespaceSelector" not in selected
    return (peer.get("own", False) if own else has(peer.get("namespace"), selected["namespaceSelector"])) and has(
        peer.get("pod"), selected.get("podSelector", {}))


def allows(rules, direction, peer, port, protocol="TCP"):
    for rule in rules:
        peers = rule.get(direction)
        numbers = any(
            entry["protocol"] == protocol and entry["port"] <= port <= entry.get("endPort", entry["port"])
            for entry in rule["ports"])
        if numbers and (peers is None or any(matches(peer, each) for each in peers)):
            return True
    return False


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_network_policy_lets_in_and_out_what_is_needed(manifests, overlay):
    policy = of_kind(manifests[overlay], "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    instance = {"own": True, "pod": NAME, "namespace": {}, "address": "10.2.0.7"}
    neighbour = {"pod": {"app": "shop"}, "namespace": {"team": "shop"}, "address": "10.2.0.8"}
    client = neighbour | {"namespace": {"redial-clients": "allowed"}}

    def enters(peer, port=8080):
        return allows(policy["ingress"], "from", peer, port)

    def leaves(peer, port, protocol="TCP"):
        return allows(policy["egress"], "to", peer, port, protocol)

    assert enters(instance) and enters(client) and not enters(neighbour)
    assert not enters(client, 9090) and not enters({"address": "203.0.113.5"})
    resolver = {"address": "169.254.20.10"}
    assert leaves(resolver, 53, "UDP") and leaves(resolver, 53) and not leaves(resolver, 80)
    assert leaves(neighbour, 9000) and leaves({"address": "203.0.113.5"}, 443) and leaves({"address": "2001:db8::1"}, 443)
    assert not leaves(neighbour, 9000, "UDP")
    for address in ("169.254.169.254", "fe80::1", "fd00:ec2::254"):
        assert not leaves({"address": address}, 80), address
    # With a narrower rule for the targets, the database and the other instances can still be reached.
    policy["egress"] = [rule for rule in policy["egress"] if not any("ipBlock" in each for each in rule.get("to", []))]
    assert not leaves(neighbour, 443) and leaves(resolver, 53, "UDP")
    assert leaves({"address": "203.0.113.9"}, 5432) == (overlay == "several")
    assert leaves(instance, 8080) == (overlay == "several") and not leaves(neighbour, 8080)


def test_the_service_monitor_finds_the_service(manifests):
    (monitor,) = manifests["monitoring"]
    assert (monitor["apiVersion"], monitor["kind"]) == ("monitoring.coreos.com/v1", "ServiceMonitor")
    jsonschema.validate(monitor["spec"], SERVICE_MONITOR)
    service = of_kind(manifests["several"], "Service")
    assert monitor["metadata"]["namespace"] == service["metadata"]["namespace"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["port"] == service["spec"]["ports"][0]["name"]
    # Prometheus names the job after the Service, and the alert about a service that is away asks for this job.
    assert f'up{{job="{service["metadata"]["name"]}"}}' in (ROOT / "docker/prometheus/rules.yml").read_text()


# The pods


def test_a_single_pod_keeps_its_calls_on_its_volume(manifests, made, receiver, tmp_path):
    target, objects = receiver(), manifests["one"]
    (tmp_path / "data").mkdir()
    keyless = Pod(objects, tmp_path, PodNetwork(), {"redial": {"admin-key": ""}}, {"data": tmp_path / "data"})
    refused = subprocess.run(
        [keyless.binary, *keyless.arguments], capture_output=True, text=True, timeout=BOUND,
        env=keyless.env | {"REDIAL_LISTEN": "0.0.0.0:0"})
    assert refused.returncode == 3 and "adminKey" in refused.stderr, refused
    network, calls = PodNetwork(), []
    for _ in range(2):
        pod = Pod(objects, tmp_path, network, SECRETS, {"data": tmp_path / "data"})
        made.append(pod)
        pod.become_ready()
        assert pod.run("health").returncode == 0 and pod.run("doctor").returncode == 0
        listed = pod.run("list", "--json")
        assert listed.returncode == 0 and all(identity in listed.stdout for identity in calls), listed
        answer = pod.run("call", target.url, "--json")
        assert answer.returncode == 0, answer
        (call,) = re.findall(r"call_\w+", answer.stdout)[:1]
        calls.append(call)
        assert pod.terminate() == 0
    assert len(target.requests) == 2


class ThroughTheService(Upstreams):
    """Clients with a key whose connections lead to the ready pods."""

    def submit(self, connections, service, number, descriptor):
        client = connections.setdefault(service.port, Client(service.port))
        fields = {"idempotency-key": f"\"load-{number}\"", "authorization": f"Bearer {KEY}"}
        try:
            return client("POST", "/v1/calls", descriptor, fields)
        except ConnectionError:
            return None


class Front:
    """The service as its clients see it, for questions about calls."""

    def __init__(self, balancer):
        self.port = balancer.port

    def __call__(self, method, path):
        client = Client(self.port)
        try:
            return client(method, path, headers={"authorization": f"Bearer {KEY}"})
        finally:
            client.connection.close()


@pytest.mark.part("kubernetes")
def test_a_rolling_update_of_several_pods_refuses_and_loses_nothing(manifests, made, tmp_path, database):
    objects, cluster = manifests["several"], database()
    cluster.query("CREATE ROLE redial LOGIN PASSWORD 'pass/word'")
    cluster.query("GRANT CREATE ON DATABASE redial TO redial")
    (cluster.data / "pg_hba.conf").write_text("local all postgres trust\nlocal all all scram-sha-256\n")
    cluster.run("pg_ctl", "-D", cluster.data, "reload")
    secrets, network = secrets_of(cluster), PodNetwork()
    (tmp_path / "database").mkdir()
    (tmp_path / "database/password").write_text(secrets["redial-database"]["password"])
    (tmp_path / "database/encryption-key").touch(0o600)
    (tmp_path / "database/encryption-key").write_text(base64.b64encode(os.urandom(32)).decode())

    def new_pod():
        pod = Pod(objects, tmp_path, network, secrets, {"database": tmp_path / "database"})
        # The target fails at random; an open breaker would only make the test longer.
        pod.env |= {"REDIAL_TARGET_DEFAULTS": NO_BREAKER[1]}
        made.append(pod)
        return pod.become_ready()

    balancer = Balancer()
    target, history = Target(tmp_path, seed=1), History(tmp_path / "history.jsonl")
    made += [balancer, target, history]
    replicas = workload(objects)["spec"]["replicas"]
    balancer.pods = [new_pod() for _ in range(replicas)]
    front = Front(balancer)
    assert front("GET", "/v1/calls").status == 200
    assert Client(balancer.port)("GET", "/v1/calls").status == 401
    checker = ReplicaCrashes(cluster, [front] * replicas, [], target, history, seed=1)
    load = ThroughTheService([front], target, history)

    def goes_on():
        wanted = len(load.acknowledged) + 50
        wait_until(lambda: len(load.acknowledged) >= wanted, "calls are accepted")

    try:
        goes_on()
        for old in list(balancer.pods):
            # One more than the replicas, and when it is ready, one of the old ones goes: by the time of the preStop hook
            # the Service has no connections for it.
            new = new_pod()
            balancer.pods = [pod for pod in balancer.pods if pod is not old] + [new]
            assert len(balancer.pods) == replicas
            old.process.send_signal(signal.SIGTERM)
            assert old.process.wait(workload(objects)["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]) == 0
            goes_on()
        reached = {instance["url"] for instance in front("GET", "/v1/instances").json["data"]}
        assert reached == {f"http://{pod.endpoint}" for pod in balancer.pods}
    finally:
        load.stop()
    figures = checker.check(load)
    assert_nothing_lost(figures)
    # Attempts in flight end before their pod does.
    assert (figures["refused"], figures["interrupted"], figures["duplicates"]) == (0, 0, 0), figures
    assert balancer.failures == []
    checker.check_tables()
    listed = balancer.pods[0].run("instances")
    assert listed.returncode == 0 and all(pod.endpoint in listed.stdout for pod in balancer.pods), listed
    most = int(re.search(r"A replica has at most (\d+) connections", PAGE)[1])
    held = cluster.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'redial'")
    assert replicas <= int(held[0][0]) <= most * replicas


# The page

# In the place of kubectl: `exec` runs its command here, in the folder of the volume, and objects from standard input are kept.
# All else is only parsed by kubectl, which finds no cluster.
KUBECTL_HERE = """#!/bin/bash
parsed=$("$KUBECTL" "$@" 2>&1 </dev/null)
case $* in
  *" create secret "*) exec "$KUBECTL" "$@" --dry-run=client -o yaml ;;
  *"apply -f -"*) exec cat ;;
esac
[[ $parsed == *"connection refused"* ]] || { echo "$parsed" >&2; exit 64; }
[[ " $* " == *" exec "* ]] || exit 0
while [[ $1 != -- ]]; do shift; done
shift
cd "$VOLUME" && exec "$@"
"""


def page_commands(section=None):
    """The commands of the page, or of one of its sections."""
    text = PAGE if section is None else re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)[1]
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        yield from re.findall(r"^\{ .*?\} \|.*?\n|.+?(?<!\\)\n", block, re.M | re.S)


@pytest.fixture
def shell(tmp_path):
    """Runs a command of the page, with the environment of a pod, in which the volume has its folder here."""
    programs, volume = tmp_path / "programs", tmp_path / "data"
    programs.mkdir()
    volume.mkdir()
    (programs / "kubectl").write_text(KUBECTL_HERE)
    (programs / "kubectl").chmod(0o755)
    (programs / "redial").symlink_to(BINARY)
    (tmp_path / "config").write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "none", "contexts": [{"name": "none", "context": {
            "cluster": "none"}}], "clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}]}))
    for file in ("ca.crt", "encryption-key"):
        (tmp_path / file).write_text("for the secret")
    # The page names the manifests as they are found from the folder of the project.
    (tmp_path / "docker").symlink_to(ROOT / "docker")

    def run_here(command, env=None):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("REDIAL_")}
        # The image has a PATH of its own, which is not for what runs here.
        here = {"PATH": f"{programs}:{os.environ['PATH']}", "VOLUME": str(volume), "KUBECTL": str(KUBECTL),
                "KUBECONFIG": str(tmp_path / "config")}
        return subprocess.run(
            ["bash", "-c", command.replace("/var/lib/redial", str(volume))], cwd=tmp_path, text=True, timeout=60,
            capture_output=True, env=clean | (env or {}) | here)
    return run_here


def secret_of(shell, command):
    made = shell(command)
    assert made.returncode == 0, made.stderr
    secret = yaml.safe_load(made.stdout)
    kubernetes_validate.validate(secret, VERSIONS[0], strict=True)
    return secret["metadata"]["name"], secret


def test_the_page_makes_the_secrets_that_the_manifests_name(manifests, shell):
    made = dict(secret_of(shell, command) for command in page_commands() if "create secret" in command)
    assert {secret["metadata"]["namespace"] for secret in made.values()} == {"redial"}
    wanted = {"redial-metrics": {"key"}, "redial-database": {"password", "encryption-key"}}
    for overlay in OVERLAYS:
        for entry in container(manifests[overlay])["env"]:
            if reference := entry.get("valueFrom", {}).get("secretKeyRef"):
                wanted.setdefault(reference["name"], set()).add(reference["key"])
    credentials = manifests["monitoring"][0]["spec"]["endpoints"][0]["authorization"]["credentials"]
    assert credentials["key"] in wanted[credentials["name"]]
    assert made.keys() == wanted.keys()
    for name, keys in wanted.items():
        assert keys <= made[name]["data"].keys(), name
    # The files of the database's Secret are where the settings look for them.
    (mount,) = container(manifests["several"])["volumeMounts"]
    files = {f"{mount['mountPath']}/{key}" for key in made["redial-database"]["data"]}
    settings = variables(container(manifests["several"]), secrets_of(type("Cluster", (), {"folder": "x"})), "")
    assert settings["REDIAL_STORE_PASSWORD_FILE"] in files and settings["REDIAL_ENCRYPTION_KEY_FILE"] in files
    assert re.search(r"sslrootcert=([\w/.-]+)", PAGE)[1] in files


def test_kubectl_understands_the_pages_commands_and_they_name_what_is_there(manifests, shell):
    listed = [command for command in page_commands() if "kubectl" in command and "exec" not in command]
    assert len(listed) > 15
    names = {f"{o['kind'].lower()}/{o['metadata']['name']}" for objects in manifests.values() for o in objects}
    for command in listed:
        done = shell(command)
        assert done.returncode == 0, (command, done.stderr)
        for path in re.findall(r"-[kf] (docker/\S+)", command):
            assert (ROOT / path).exists(), path
        for kind, name in re.findall(r"\b(statefulset|deployment|pod|service)[ /](redial[\w-]*)", command):
            assert f"{kind}/{name}" in names or (kind, name) == ("pod", "redial-0"), command
    rules = next(command for command in listed if "PrometheusRule" in command)
    rule = yaml.safe_load(shell(rules).stdout)
    assert (rule["apiVersion"], rule["kind"], rule["metadata"]) == (
        "monitoring.coreos.com/v1", "PrometheusRule", {"name": "redial"})
    assert rule["spec"] == yaml.safe_load((ROOT / "docker/prometheus/rules.yml").read_text())
    assert shell("kubectl -n redial scale statefulset redial --replica=0").returncode == 64
    words = [shlex.split(command) for command in page_commands() if "exec" in command]
    inside = {command[command.index("--") + 1] for command in words}
    assert inside <= {"redial", "cat", "rm", "sh"}


@pytest.mark.part("kubernetes")
def test_the_pages_walk_through_one_replica_copies_and_restores_its_store(manifests, made, receiver, shell, tmp_path):
    network, pods = PodNetwork(), []

    def start():
        pods.append(Pod(manifests["one"], tmp_path, network, SECRETS, {"data": tmp_path / "data"}))
        made.append(pods[-1])
        pods[-1].become_ready()

    target, calls = receiver(), []

    def submit():
        answer = pods[-1].run("call", target.url, "--json")
        assert answer.returncode == 0, answer
        calls.append(re.search(r"call_\w+", answer.stdout)[0])

    start()
    submit()
    walked = 0
    for command in [*page_commands("One replica"), *page_commands("Monitoring")]:
        if "maintenance" in command:
            (shut,) = pod_spec(manifests["maintenance"])["containers"]
            env = {"REDIAL_STORE": variables(shut, {}, "")["REDIAL_STORE"].replace("/var/lib/redial", str(tmp_path / "data"))}
        else:
            env = pods[-1].inside
        done = shell(command, env)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        walked += 1
        if "--replicas=0" in command:
            # It is in the service and not in the copy.
            submit()
            assert pods[-1].terminate() == 0
        elif "--replicas=1" in command:
            start()
    assert walked > 15
    listed = pods[-1].run("list", "--json").stdout
    assert calls[0] in listed and calls[1] not in listed
    assert {p.name for p in (tmp_path / "data").iterdir()} >= {"before", "redial.db"}
    assert not list((tmp_path / "data").glob("copy.db*"))
    # The page makes two keys, one of them after the copy.
    keys = pods[-1].run("keys", "list").stdout
    assert "shop" in keys and "prometheus" in keys
