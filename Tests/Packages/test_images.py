"""The images of docker/Dockerfile, built around the packages' binary or, with --compile, from the repository; and run."""

import os
import re
import shlex

import pytest

import engines
from pages import commands
from processes import ROOT, Client, free_port, wait_until

MEGABYTE = 1_000_000
DOCKERFILE = (ROOT / "docker/Dockerfile").read_text()
LABELS = {"VERSION": "9.8.7", "REVISION": "0123abc", "CREATED": "2001-02-03T04:05:06Z", "SOURCE": "https://example.com/redial"}
# For each image what to start from, and how much it may have besides.
IMAGES = {"system": (engines.BASE, 40), "minimal": (None, 60)}


@pytest.fixture(scope="session", params=IMAGES)
def image(request, engine, tmp_path_factory):
    """An image with its kind."""
    tag, binary = f"redial-test:{request.param}-{os.getpid()}", []
    if not request.config.getoption("--compile"):
        folder = engines.context(request.getfixturevalue("packages")["tarball"], tmp_path_factory.mktemp("binary") / "context")
        binary = ["--build-context", f"build={folder}"]
    labels = [part for name, value in LABELS.items() for part in ("--build-arg", f"{name}={value}")]
    engine.build(tag, *binary, *(["--target", "minimal"] if request.param == "minimal" else []), *labels)
    yield tag, request.param
    engine("rmi", "-f", tag)


@pytest.fixture
def container(engine, image):
    """Starts the service in a container, with options of `run`; its name and its port on this machine."""
    names = []

    def start(*options):
        names.append(f"redial-test-{os.getpid()}-{len(names)}")
        port = free_port()
        engine("run", "-d", "--name", names[-1], "-p", f"127.0.0.1:{port}:8080", *options, image[0])
        engine.healthy(names[-1])
        return names[-1], port

    yield start
    for name in names:
        engine("rm", "-f", "-v", name)


def test_it_has_the_labels_a_health_check_and_a_user_without_rights(engine, image):
    made = engine.inspect("image", image[0])
    config = made.get("Config") or made
    labels = {name.removeprefix("org.opencontainers.image."): value for name, value in config["Labels"].items()}
    assert labels["title"] == "Redial" and labels["licenses"] == "MIT" and labels["description"]
    assert {name: labels[name.lower()] for name in LABELS} == LABELS
    assert config["User"] == "10001:10001"
    assert "redial" in str(made.get("HealthCheck") or made.get("Healthcheck") or config["Healthcheck"])
    assert list(config["Volumes"]) == ["/var/lib/redial"] and list(config["ExposedPorts"]) == ["8080/tcp"]


def test_it_is_small(engine, image):
    base, most = IMAGES[image[1]]
    size = engine.inspect("image", image[0])["Size"] - (engine.inspect("image", base)["Size"] if base else 0)
    print(f"\n{image[1]}: {size / MEGABYTE:.1f} MB over {base or 'nothing'}")
    assert 10 * MEGABYTE < size < most * MEGABYTE, size


def test_the_commands_of_the_page_deliver_a_post(engine, image):
    """As on the page, but with names and a port that nothing else has on this machine."""
    mine, port = f"-{os.getpid()}", free_port()
    network, *starts, wait, call = commands("Images")[0].splitlines()
    names = re.findall(r"--name (\w+)", "".join(starts))

    def words(line):
        for name in ("calls", *names):
            line = re.sub(rf"\b{name}\b", name + mine, line)
        docker, *rest = shlex.split(line.replace(":8080:8080", f":{port}:8080"))
        assert docker == "docker", line
        return [image[0] if word == "redial" and rest[0] == "run" else word for word in rest]

    try:
        engine(*words(network))
        for start in starts:
            engine(*words(start))
        assert wait == f"until docker exec {names[1]} redial health; do sleep 0.2; done"
        engine.healthy(names[1] + mine)
        shown = engine(*words(call))
        assert "attempt 3: status 200" in shown and "succeeded after 3 attempts" in shown, shown
        answer = Client(port)("GET", "/v1/calls")
        assert answer.status == 200 and len(answer.json["data"]) == 1
    finally:
        for name in names:
            engine("rm", "-f", name + mine, code=None)
        engine("volume", "rm", f"calls{mine}", code=None)
        engine("network", "rm", f"calls{mine}", code=None)


def test_it_writes_nowhere_but_in_its_volume_and_needs_no_right(engine, container):
    _, port = container("--read-only", "--cap-drop=all", "--security-opt=no-new-privileges")
    made = Client(port)("POST", "/v1/calls", {"url": "http://target.example/", "delay": "1h"})
    assert made.status == 202, made.body


def test_it_runs_as_another_user_whose_folder_it_gets(engine, container, tmp_path):
    os.chown(tmp_path, 4711, 4712)
    _, port = container("--user", "4711:4712", "--read-only", "--cap-drop=all", "-v", f"{tmp_path}:/var/lib/redial")
    assert Client(port)("POST", "/v1/calls", {"url": "http://target.example/", "delay": "1h"}).status == 202
    assert (tmp_path / "redial.db").stat().st_uid == 4711


def test_a_second_container_delivers_a_call(engine, image):
    """By the name of the service, which it answers to without a key."""
    mine = f"-{os.getpid()}"
    names = {"failing": ["flaky", "--listen", "0.0.0.0:9090"], "service": []}
    try:
        engine("network", "create", f"calls{mine}")
        for name, command in names.items():
            engine("run", "-d", "--name", name + mine, "--network", f"calls{mine}", "-e", f"REDIAL_ALLOWED_HOSTS=service{mine}", image[0], *command)
        engine.healthy(f"service{mine}")
        shown = engine("run", "--rm", "--network", f"calls{mine}", image[0], "call", "--server", f"http://service{mine}:8080",
                       "-d", "{}", f"http://failing{mine}:9090/charge?fail=1")
        assert "succeeded after 2 attempts" in shown, shown
    finally:
        for name in names:
            engine("rm", "-f", "-v", name + mine, code=None)
        engine("network", "rm", f"calls{mine}", code=None)


def test_it_keeps_its_calls_in_the_volume_and_stops_at_once(engine, container):
    name, port = container()
    made = Client(port)("POST", "/v1/calls", {"url": "http://target.example/", "delay": "1h"})
    assert made.status == 202, made.body
    id = made.json["id"]
    engine("stop", "-t", "20", name)
    assert engine.inspect("container", name)["State"]["ExitCode"] == 0
    engine("start", name)
    engine.healthy(name)
    wait_until(lambda: Client(port)("GET", f"/v1/calls/{id}").status == 200, "the call is there again")


def test_the_certificates_of_public_authorities_are_where_they_are_looked_for(engine, image, container):
    name, _ = container()
    # The smaller image has no command that could show it, so the engine copies it, in a tar file.
    assert engine("cp", f"{name}:/etc/ssl/certs/ca-certificates.crt", "-").count("BEGIN CERTIFICATE") > 50


def test_the_build_file_names_both_architectures_and_the_version():
    assert "linux/amd64,linux/arm64" in DOCKERFILE and "TARGETARCH" in DOCKERFILE
    version = re.search(r'redialVersion = "(.*)"', (ROOT / "Sources/RedialCore/Version.swift").read_text())[1]
    assert f"ARG VERSION={version}\n" in DOCKERFILE


def test_both_images_have_the_same_settings():
    lines = [line for line in DOCKERFILE.splitlines() if not line.startswith("#")]
    stages = "\n".join(lines).split("\nFROM ")[-2:]
    smaller, larger = (stage[stage.index("ARG VERSION"):].strip() for stage in stages)
    assert smaller == larger and "ENTRYPOINT" in larger
