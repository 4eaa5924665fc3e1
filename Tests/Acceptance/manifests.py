"""The manifests of docker/kubernetes as kustomize builds them, and their pods as processes on this machine."""

import http.client
import random
import re
import select
import shlex
import socket
import subprocess
import sys
import threading
from pathlib import Path

import yaml

from processes import ROOT, Server, free_port, wait_until

FOLDER = ROOT / "docker/kubernetes"
# Both programs come with packages of requirements.txt.
KUBECTL = Path(sys.executable).with_name("kubectl")


def build(overlay):
    """The objects of an overlay, as `kubectl apply -k` sends them."""
    built = subprocess.run([KUBECTL, "kustomize", FOLDER / overlay], capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    return list(yaml.safe_load_all(built.stdout))


def of_kind(objects, kind):
    """The only object of a kind."""
    found = [each for each in objects if each["kind"] == kind]
    assert len(found) == 1, (kind, [each["kind"] for each in objects])
    return found[0]


def workload(objects):
    return next(each for each in objects if each["kind"] in ("StatefulSet", "Deployment"))


def container(objects):
    """The only container of the workload's pods."""
    found = workload(objects)["spec"]["template"]["spec"]["containers"]
    assert len(found) == 1
    return found[0]


def expanded(text, variables):
    """As the kubelet does it: a variable that is not defined further up stays as it is."""
    return re.sub(r"\$\(([A-Za-z_]\w*)\)", lambda found: variables.get(found[1], found[0]), text)


def variables(container, secrets, address):
    """The environment of a container; `secrets` has the data of each Secret by its name."""
    found = {}
    for entry in container["env"]:
        source = entry.get("valueFrom", {})
        if secret := source.get("secretKeyRef"):
            value = secrets[secret["name"]][secret["key"]]
        elif field := source.get("fieldRef"):
            assert field["fieldPath"] == "status.podIP", field
            value = address
        else:
            value = expanded(entry["value"], found)
        found[entry["name"]] = value
    return found


class Image:
    """What docker/Dockerfile sets for containers of its last stage."""

    def __init__(self):
        text = re.sub(r"\\\n", " ", (ROOT / "docker/Dockerfile").read_text())
        self.lines = text[text.rindex("\nFROM "):].split("\n")
        self.environment = dict(pair.split("=", 1) for line in self.values("ENV") for pair in shlex.split(line))

    def values(self, instruction):
        return [line.split(None, 1)[1] for line in self.lines if line.split(None, 1)[:1] == [instruction]]

    def value(self, instruction):
        return self.values(instruction)[-1]


class PodNetwork:
    """Addresses for pods, from a part of the loopback network that others hardly use at the same time, and one port for all of
    them in the place of the manifests', which another program of this machine may have.
    """

    def __init__(self):
        self.network = f"127.{random.randint(1, 254)}.{random.randint(1, 254)}"
        self.count, self.port = 0, free_port()

    def new_address(self):
        self.count += 1
        return f"{self.network}.{self.count}"


class Pod(Server):
    """The container of a workload as a process.

    A pod has a network and folders of its own. Here it has an address and a port of a `PodNetwork`, on which alone it listens,
    and a folder for each of its volumes; nothing else differs from its manifest.
    """

    def __init__(self, objects, folder, network, secrets, volumes):
        """`volumes` has the folder of each volume by its name."""
        self.container, self.address = container(objects), network.new_address()
        self.endpoint = f"{self.address}:{network.port}"
        image = Image()
        assert yaml.safe_load(image.value("ENTRYPOINT")) == ["redial"] and "command" not in self.container
        environment = image.environment | variables(self.container, secrets, self.address)
        for mount in self.container["volumeMounts"]:
            environment = {
                name: value.replace(mount["mountPath"], str(volumes[mount["name"]])) for name, value in environment.items()}
        (ports,) = self.container["ports"]
        written = ports["containerPort"]
        assert environment["REDIAL_LISTEN"] == f"0.0.0.0:{written}"
        environment["REDIAL_LISTEN"] = f"{self.address}:{written}"
        environment = {name: value.replace(f"{self.address}:{written}", self.endpoint) for name, value in environment.items()}
        super().__init__(self.container["args"], folder / f"{self.address}.log", environment)

    def probe(self, kind):
        """Whether a probe of the kubelet succeeds. It asks the pod's address, and sends no key."""
        request = self.container[kind]["httpGet"]
        assert request["port"] == self.container["ports"][0]["name"]
        connection = http.client.HTTPConnection(self.endpoint, timeout=self.container[kind]["timeoutSeconds"])
        try:
            connection.request("GET", request["path"], headers={"user-agent": "kube-probe/1.30"})
            return 200 <= connection.getresponse().status < 400
        except OSError:
            return False
        finally:
            connection.close()

    def become_ready(self):
        """Starts it, and waits as the kubelet does, though not for the periods between probes."""
        self.start()
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            wait_until(lambda: self.probe(kind), f"the {kind} of {self.address} succeeds")
        return self

    def run(self, *arguments):
        """What `kubectl exec POD -- redial …` runs. The network of a pod has its service at 127.0.0.1."""
        return subprocess.run(
            [self.binary, *arguments], capture_output=True, text=True, timeout=60, env=self.inside)

    @property
    def inside(self):
        """The environment of a command in the pod."""
        return self.env | {"REDIAL_SERVER": f"http://{self.endpoint}"}


class Balancer:
    """A Service: each new connection leads to one of the ready pods."""

    def __init__(self):
        self.pods, self.failures = [], []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.forward, args=(client, random.choice(self.pods)), daemon=True).start()

    def forward(self, client, pod):
        try:
            host, port = pod.endpoint.split(":")
            service = socket.create_connection((host, int(port)), 30)
        except OSError as error:
            self.failures.append(f"{pod.address}: {error}")
            client.close()
            return
        with client, service:
            other = {client: service, service: client}
            try:
                while True:
                    for ready in select.select([client, service], [], [])[0]:
                        data = ready.recv(65536)
                        if not data:
                            return
                        other[ready].sendall(data)
            except OSError:
                return

    def end(self):
        # Otherwise the thread that waits in accept would not notice.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
