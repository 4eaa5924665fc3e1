"""`redial dev`: a service, a target and a dashboard with one command, which leave nothing behind."""

import os
import pathlib
import re
import signal
import subprocess

import pytest

from processes import BINARY, BOUND, Client, environment, free_port, run
from terminal import Terminal

PASSING = pathlib.Path("/dev/shm")
SUCCEEDED = "succeeded after 3 attempts"


@pytest.fixture
def dev(tmp_path):
    """Starts the command at a terminal; what still runs at the end is killed."""
    started = []

    def start(*arguments, env=None):
        started.append(Terminal(
            "dev", *arguments, env={"HOME": str(tmp_path), "XDG_DATA_HOME": "", "DISPLAY": "", "NO_COLOR": "1"} | (env or {})))
        return started[-1]

    yield start
    for terminal in started:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


def address(terminal, name):
    terminal.until(r"Press Enter")
    return re.search(rf"{name} +(http\S+?),?\s", terminal.text)[1]


def service(terminal):
    """A client of it."""
    return Client(int(address(terminal, "service").rsplit(":")[-1]))


def states(client):
    return [call["state"] for call in client("GET", "/v1/calls").json["data"]]


def stop(terminal):
    terminal.process.send_signal(signal.SIGINT)
    return terminal.end()


def of_process(process):
    return {path.name for path in PASSING.glob("redial-dev-*")
            if any(os.path.realpath(link).startswith(str(path)) for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir())}


def test_a_first_call_is_shown_and_nothing_is_left(dev):
    terminal = dev("--memory", "--demo", "--listen", f"127.0.0.1:{free_port()}")
    terminal.until(SUCCEEDED)
    assert "gone when it stops" in terminal.text
    folders = of_process(terminal.process)
    assert len(folders) == 1
    client = service(terminal)
    assert states(client) == ["succeeded"]
    assert client("GET", "/v1/calls").json["data"][0]["url"].startswith(address(terminal, "target"))
    assert client("GET", "/").status == 200
    assert stop(terminal) == 0
    assert not [name for name in folders if (PASSING / name).exists()]


def test_enter_submits_a_call(dev):
    terminal = dev("--memory", "--listen", f"127.0.0.1:{free_port()}")
    client = service(terminal)
    assert states(client) == []
    for count in (1, 2):
        terminal.type("\n")
        terminal.until(rf"(?s)({SUCCEEDED}.*){{{count}}}")
    assert states(client) == ["succeeded"] * 2
    assert stop(terminal) == 0


def test_data_is_kept_in_the_folder_of_the_user(dev, tmp_path):
    arguments = ["--listen", f"127.0.0.1:{free_port()}"]
    terminal = dev("--demo", *arguments)
    terminal.until(SUCCEEDED)
    assert str(tmp_path / ".local/share/redial/dev.db") in terminal.text
    assert stop(terminal) == 0
    assert (tmp_path / ".local/share/redial").stat().st_mode & 0o777 == 0o700
    terminal = dev(*arguments)
    assert states(service(terminal)) == ["succeeded"]
    assert stop(terminal) == 0


def test_two_run_at_once(dev, tmp_path):
    """The ports that the first one has are not needed by the second."""
    terminals = [dev("--memory", "--demo") for _ in range(2)]
    for terminal in terminals:
        terminal.until(SUCCEEDED)
    assert len({address(terminal, name) for terminal in terminals for name in ("service", "target")}) == 4
    assert [stop(terminal) for terminal in terminals] == [0, 0]


def test_without_a_terminal_it_shows_a_request(tmp_path):
    process = subprocess.Popen(
        [BINARY, "dev", "--memory", "--listen", f"127.0.0.1:{free_port()}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        text=True, env=environment({"HOME": str(tmp_path)}))
    try:
        lines = []
        while not lines or not lines[-1].startswith("Try: "):
            lines.append(process.stdout.readline())
            assert lines[-1], lines
        answer = subprocess.run(lines[-1].removeprefix("Try: "), shell=True, capture_output=True, text=True, timeout=BOUND)
        assert '"id":"call_' in answer.stdout, answer
        process.send_signal(signal.SIGTERM)
        assert process.wait(BOUND) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("arguments, said", [
    (["--memory", "--store", "sqlite:x.db"], "--memory keeps nothing, so it does not go with --store"),
    (["--store", "postgres://127.0.0.1/x"], '--store: "postgres://127.0.0.1/x" is not sqlite:PATH'),
    (["--memory", "--listen", "8080"], '--listen: "8080" is not HOST:PORT'),
    (["--memory", "--listen", "unix:/tmp/x"], '--listen: "unix:/tmp/x" is not HOST:PORT'),
])
def test_what_it_cannot_do_is_said(arguments, said):
    answer = run("dev", *arguments)
    assert answer.returncode == 2 and said in answer.stderr, answer


def test_a_port_in_use_that_was_asked_for_is_said(redial):
    taken = redial().url.removeprefix("http://")
    answer = run("dev", "--memory", "--listen", taken)
    assert answer.returncode == 3 and "in use" in answer.stderr and taken in answer.stderr, answer


def test_a_store_of_another_process_is_said(redial):
    answer = run("dev", "--store", f"sqlite:{redial().store}", "--listen", f"127.0.0.1:{free_port()}")
    assert answer.returncode == 3 and "in use by another process" in answer.stderr, answer


def test_a_small_memory_is_enough(tmp_path):
    """As in a container, where /dev/shm has 64 MiB unless somebody has asked for more."""
    script = 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$0" "$@"'
    space = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    if subprocess.run([*space, "true"], capture_output=True).returncode:
        pytest.skip("this machine makes no namespaces for mounts")
    process = subprocess.Popen(
        [*space, "sh", "-c", script, BINARY, "dev", "--memory", "--demo", "--listen", f"127.0.0.1:{free_port()}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=environment({"HOME": str(tmp_path)}))
    try:
        lines = []
        while not lines or not lines[-1].startswith("succeeded after"):
            lines.append(process.stdout.readline())
            assert lines[-1] and "full" not in lines[-1], lines
        process.terminate()
        assert process.wait(BOUND) == 0
    finally:
        process.kill()
        process.wait()
