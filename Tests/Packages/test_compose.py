"""The compose files and the pods of the manifests, run with the image that docker/Dockerfile gives; only with --compile."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

import manifests
from processes import ROOT, Client, free_port, wait_until


KEY = "an-admin-key-for-this-test"


class Compose:
    """The services of a compose file."""

    def __init__(self, engine, file):
        self.engine, self.file, self.project = engine, ROOT / file, f"redial-test-{os.getpid()}"
        self.services = yaml.safe_load(self.file.read_text())["services"]
        self.docker = engine.command == "docker"
        # Debian's reads neither an empty default nor an address of a network.
        self.podman = pathlib.Path(sys.executable).with_name("podman-compose")
        if not self.docker and not self.podman.exists():
            pytest.fail(f"podman-compose is missing; run {sys.executable} -m pip install podman-compose")

    def __call__(self, *arguments):
        command = ["docker", "compose"] if self.docker else [self.podman, "--podman-build-args=--network=host --format docker"]
        done = subprocess.run(
            [*command, "-p", self.project, "-f", str(self.file), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=3600)
        assert done.returncode == 0, (arguments, done.stdout[-4000:], done.stderr[-4000:])
        return done.stdout

    def container(self, service):
        return f"{self.project}-{service}-1" if self.docker else f"{self.project}_{service}_1"

    def start(self):
        if not self.docker:
            # Podman's own does not wait for those that have to be healthy first, and nothing runs their checks.
            waited = [depends for service in self.services.values() for depends, how in dict_of(service.get("depends_on")).items() if how]
            for name in dict.fromkeys(waited):
                self("up", "-d", "--no-deps", name)
                self.engine.healthy(self.container(name))
        self("up", "-d", "--build")

    def end(self):
        self("down", "-v", "-t", "15")


def dict_of(depends):
    return depends if isinstance(depends, dict) else dict.fromkeys(depends or [])


@contextlib.contextmanager
def running(engine, file):
    compose = Compose(engine, file)
    try:
        compose.start()
        yield compose
    finally:
        compose.end()


def is_ready(port=8080, path="/readyz"):
    try:
        return Client(port)("GET", path).status == 200
    except OSError:
        return False


@pytest.mark.parametrize("file, service", [("docker/compose.yaml", "redial"), ("docker/compose.postgres.yaml", "redial2")])
def test_the_commands_of_the_file_deliver_a_call(engine, compiled, file, service):
    with running(engine, file) as compose:
        wait_until(is_ready, "ready at the port of the file")
        engine.healthy(compose.container(service))
        (call,) = re.findall(r"--json '(\{.*?\})'", compose.file.read_text())
        made = Client(8080)("POST", "/v1/calls", json.loads(call))
        assert made.status == 202, made.body
        wait_until(lambda: Client(8080)("GET", f"/v1/calls/{made.json['id']}").json["state"] == "succeeded", "the call has got through")
        shown = engine("exec", compose.container(service), "redial", "list")
        assert made.json["id"] in shown, shown


def test_the_pod_for_one_instance_delivers_a_call(engine, compiled, tmp_path):
    """With what the manifest says of user, rights, file system, memory and environment."""
    spec = manifests.workload(manifests.build("one"))["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    user, own = spec["securityContext"], container["securityContext"]
    assert user["runAsNonRoot"] and own["readOnlyRootFilesystem"] and own["capabilities"] == {"drop": ["ALL"]} and not own["allowPrivilegeEscalation"]
    os.chown(tmp_path, 0, user["fsGroup"])
    tmp_path.chmod(0o2770)
    name, port = f"redial-test-pod-{os.getpid()}", free_port()
    environment = manifests.variables(container, {"redial": {"admin-key": KEY}}, "127.0.0.1")
    (mount,) = container["volumeMounts"]
    try:
        engine("run", "-d", "--name", name, "--user", f"{user['runAsUser']}:{user['runAsGroup']}", "--group-add", user["fsGroup"],
               "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--memory", "1g",
               "-v", f"{tmp_path}:{mount['mountPath']}", "-p", f"127.0.0.1:{port}:{container['ports'][0]['containerPort']}",
               *(part for key, value in environment.items() for part in ("-e", f"{key}={value}")), compiled, *container["args"])
        wait_until(lambda: is_ready(port, container["readinessProbe"]["httpGet"]["path"]), "its readiness probe passes")
        assert Client(port)("GET", "/v1/calls").status == 401
        # The manifest lets nobody call the pod's own loopback addresses.
        address = engine.inspect("container", name)["NetworkSettings"]["IPAddress"]
        engine("exec", "-d", name, "redial", "flaky", "--listen", "0.0.0.0:9090", "--quiet")
        shown = engine("exec", name, "redial", "call", "-d", "{}", f"http://{address}:9090/a?fail=1")
        assert "succeeded after" in shown, shown
    finally:
        engine("rm", "-f", "-t", str(spec["terminationGracePeriodSeconds"]), name, code=None)
