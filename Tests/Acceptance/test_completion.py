"""Completion, in the shells themselves."""

import os
import pathlib
import pty
import subprocess
import threading

import pytest

import needs
from processes import BINARY, BOUND, environment, free_port, run, wait_until

# The scripts run what was typed, so `redial` must be found.
PATH = f"{pathlib.Path(BINARY).parent}:{os.environ['PATH']}"


def ask(name, script, *arguments):
    answer = subprocess.run(
        [needs.program(name), *arguments, "-c", script], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0 and not answer.stderr, answer
    return answer.stdout.split("\n")


def commands():
    return [line.split()[0] for line in run("--help").stdout.split("\n\n")[2].splitlines()]


@pytest.mark.parametrize("words, expected", [
    (["redial", ""], None), (["redial", "prev"], {"preview"}), (["redial", "call", "--la"], {"--label"}),
    (["redial", "serve", "--max-bod"], {"--max-body-bytes"}), (["redial", "call", "--policy", "--"], set()),
    (["redial", "ops", ""], {"create", "list", "show", "watch", "cancel"}), (["redial", "ops", "create", "p"], {"purge"}),
    (["redial", "webhooks", "de"], {"deliveries", "delete"}), (["redial", "policies", "--if"], {"--if-version"}),
])
def test_bash_completes_commands_and_options(words, expected):
    script = f"""
        source <({BINARY} completion bash)
        PATH={PATH}
        COMP_WORDS=({" ".join(f"'{w}'" for w in words)}); COMP_CWORD={len(words) - 1}
        COMP_LINE="{" ".join(words)}" COMP_POINT={len(" ".join(words))}
        _redial
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    found = {word for word in ask("bash", script) if word}
    if expected is None:
        expected = set(commands()) | {"--help", "--version"}
    assert found == expected


def test_zsh_takes_the_script_and_completes_by_it():
    # Only zsh's line editor knows what zsh would offer, so the functions that it calls are replaced.
    script = f"""
        autoload -Uz compinit && compinit -u -D
        source <({BINARY} completion zsh)
        [[ $_comps[redial] == _redial ]] || echo unregistered
        _describe() {{ eval "print -rl -- \\${{(P)2}}" }}
        _arguments() {{ print -rl -- "$@" }}
        words=(redial '') CURRENT=2 _redial
        words=(redial call --) CURRENT=3 _redial
        words=(redial ops '') CURRENT=3 _redial
    """
    lines = ask("zsh", script, "-f")
    assert "unregistered" not in lines
    offered = {line.split(":")[0] for line in lines}
    assert set(commands()) <= offered
    assert any(line.startswith("--data=[") and line.endswith(":_default") for line in lines)
    assert any(line.startswith("--policy=[") and line.endswith(":_redial_values") for line in lines)
    assert any(line.startswith("*--label=[") for line in lines)
    assert "1: :(create list show watch cancel)" in lines and "*: :_redial_values" in lines


def test_fish_completes_commands_and_options():
    load = f"{BINARY} completion fish | source; "
    offered = {line.split("\t")[0] for line in ask("fish", load + "complete -C 'redial '", "--no-config")}
    assert set(commands()) <= offered
    assert {line.split("\t")[0] for line in ask(
        "fish", load + "complete -C 'redial preview --attempt-'", "--no-config") if line} == {"--attempt-duration"}
    for words, expected in (("ops ", {"create", "list", "show", "watch", "cancel"}), ("ops create p", {"purge"}),
                            ("targets x tr", {"trip"})):
        offered = {line.split("\t")[0] for line in ask(
            "fish", f"set -x PATH {PATH}; {load}complete -C 'redial {words}'", "--no-config")}
        assert offered - {""} == expected, words


def test_another_shell_is_told():
    answer = run("completion", "tcsh")
    assert answer.returncode == 2 and "bash, zsh, fish" in answer.stderr


# ---- Values.


def offered_in_the_end(ask):
    """What is offered: nothing only if nothing is several times. A completion waits a second for the service, which is little on
    a busy machine."""
    for _ in range(5):
        if offered := ask():
            break
    return offered


def values(*words, env=None):
    """The values that the scripts get, with what each is."""
    answer = run("--complete-values", env=env, stdin="".join(f"{word}\0" for word in words))
    assert answer.returncode == 0 and not answer.stderr, answer
    return dict((line + "\t").split("\t")[:2] for line in answer.stdout.splitlines())


@pytest.mark.parametrize("words, expected", [
    (["list", "--state", "s"], {"scheduled", "succeeded"}), (["list", "--state=failed,c"], {"failed,cancelled"}),
    (["list", "--state", "failed,"], {f"failed,{s}" for s in ("scheduled", "running", "succeeded", "cancelled")}),
    (["events", "--type", "target.o"], {"target.opened"}), (["webhooks", "create", "http://a", "--event", "call.a"], set()),
    (["ops", "create", "p"], {"purge"}), (["ops", "--target", "x", "create", "p"], {"purge"}), (["ops", "list", "p"], set()),
    (["keys", "create", "--scope", "read,m"], {"read,metrics"}), (["serve", "--log-format", ""], {"text", "json"}),
    (["serve", "--min-tls", ""], {"1.2", "1.3"}), (["serve", "--retention-bytes", ""], set()),
    (["list", "--failure-reason", "d"], {"deadlineExceeded"}), (["list", "--outcome", "not"], {"notSent"}),
    (["ops", "create", "cancel", "--waiting-on", "pa"], {"paused", "pace"}),
    (["call", "-X", "P"], {"POST", "PUT", "PATCH"}), (["export", "--state", "failed,"], set()),
    (["list", "--limit", ""], set()), (["nothing", ""], set()), (["list"], set()), ([], set()), (["list", "--json=x"], set()),
])
def test_values_of_the_contract_need_no_service(words, expected):
    nobody = {"REDIAL_SERVER": f"http://127.0.0.1:{free_port()}"}
    assert set(values(*words, env=nobody)) == expected


HOSTILE = "it's $(touch stolen) `touch stolen`; touch stolen & x"


@pytest.fixture
def filled(redial, receiver):
    """A service with one of each, with keys."""
    admin = {"REDIAL_ADMIN_KEY": "0123456789abcdef"}
    service = redial(env=admin)
    service.credentials = {"authorization": "Bearer 0123456789abcdef"}
    url = receiver().url
    service.calls = [service.submit(url=url + "/hook?token=secret", target=target) for target in
                     ("payments", "https://api.example.com", "https://api.example.org:8443", "zero\u200dwidth", HOSTILE)]
    for call in service.calls:
        service.ended(call)
    service("PUT", "/v1/policies/patient", {"deadline": "2d"})
    service.endpoint = service("POST", "/v1/webhook-endpoints", {"url": url}).json["id"]
    service.operation = service("POST", "/v1/operations", {"action": "retry", "filter": {"state": "failed"}}).json["id"]
    made = service("POST", "/v1/keys", {"name": "ops", "scopes": ["read"], "namespace": "tenant"}).json
    service.api_key, service.key_text = made["id"], made["key"]
    service.env = {"REDIAL_SERVER": service.url, "REDIAL_API_KEY": "0123456789abcdef"}
    return service


def test_values_of_the_service(filled):
    def ask(*words):
        return offered_in_the_end(lambda: values(*words, env=filled.env))
    # A key with what cannot be seen is left out.
    targets = {"payments", "https://api.example.com", "https://api.example.org:8443", HOSTILE}
    for words in (["targets"], ["list", "--target"], ["ops", "create", "retry", "--target"], ["call", "--target"]):
        assert set(ask(*words, "")) == targets, words
    assert ask("targets", "https://api.example.o") == {"https://api.example.org:8443": "up"}
    assert ask("targets", "payments", "") == {}
    for command in ("get", "attempts", "cancel", "retry", "erase", "replay"):
        assert set(ask(command, "call_")) == set(filled.calls), command
    shown = ask("get", filled.calls[0])[filled.calls[0]]
    assert shown.startswith("succeeded GET http") and "secret" not in shown
    assert set(ask("events", "--call", "")) == set(filled.calls)
    assert set(ask("call", "--policy=")) == set(ask("policies", "show", "")) == {"patient"}
    assert ask("policies", "list", "") == {}
    assert set(ask("webhooks", "show", "")) == {filled.endpoint}
    assert set(ask("ops", "watch", "op_")) == {filled.operation}
    assert ask("keys", "revoke", "") == {filled.api_key: "ops"}
    assert filled.key_text not in str(ask("keys", "revoke", "")) and ask("keys", "create", "") == {}
    assert set(ask("list", "--namespace", "")) == {"tenant"}
    # The line names the service and the key, as it will when it runs.
    del filled.env["REDIAL_API_KEY"]
    assert ask("targets", "pay") == {}
    assert set(ask("targets", "--api-key", "0123456789abcdef", "pay")) == {"payments"}
    filled.env["REDIAL_SERVER"] = f"http://127.0.0.1:{free_port()}"
    assert ask("targets", "--api-key=0123456789abcdef", "pay") == {}
    assert set(ask("targets", "--api-key=0123456789abcdef", f"--server={filled.url}", "pay")) == {"payments"}


def test_a_service_that_is_away_silent_or_something_else_gives_no_values(receiver):
    release = threading.Event()
    silent = receiver(lambda request: release.wait(BOUND) and None)
    try:
        for server in (f"http://127.0.0.1:{free_port()}", silent.url, "unix:/nowhere/redial.sock", "nonsense"):
            assert values("targets", "", env={"REDIAL_SERVER": server}) == {}, server
    finally:
        release.set()
    for body in (b"", b"<html>", b"[1]", b'{"data": 7}', b'{"data": [7, {"key": 7}]}'):
        other = receiver(lambda request, body=body: (200, {}, body))
        assert values("targets", "", env={"REDIAL_SERVER": other.url}) == {}, body


def test_a_key_is_not_sent_in_the_clear_by_a_press_of_tab(receiver):
    other = receiver()
    # Not certainly this machine.
    away = other.url.replace("127.0.0.1", "0.0.0.0")
    assert values("targets", "", env={"REDIAL_SERVER": away, "REDIAL_API_KEY": "k"}) == {} and not other.requests
    assert values("targets", "", env={"REDIAL_SERVER": away}) == {} and len(other.requests) == 1


class Shell:
    """An interactive shell at a pseudo-terminal, in which Ctrl-T writes the line as it is into a file and empties it."""

    SETUP = {
        "bash": ["--norc", "--noprofile", "-i"],
        "zsh": ["-f", "-i"],
    }
    BIND = {
        "bash": r"""bind -x '"\C-t": printf "%s\n" "$READLINE_LINE" >>lines; READLINE_LINE='; """,
        "zsh": "autoload -Uz compinit; compinit -u -D; LISTMAX=0; "
               "keep() { print -r -- \"$BUFFER\" >>lines; BUFFER= }; zle -N keep; bindkey '^T' keep; ",
    }

    def __init__(self, name, folder, env):
        self.lines = folder / "lines"
        self.count = 0
        self.text = ""
        leader, follower = pty.openpty()
        self.leader = leader
        self.process = subprocess.Popen(
            [needs.program(name), *self.SETUP[name]], stdin=follower, stdout=follower, stderr=follower, cwd=folder,
            start_new_session=True, env=environment(env | {"TERM": "dumb", "PATH": PATH, "HOME": str(folder)}))
        os.close(follower)
        self.drain = threading.Thread(target=self.read)
        self.drain.start()
        self.write(f"{self.BIND[name]} source <(redial completion {name}); echo rea''dy >>lines\n")
        self.next()

    def read(self):
        try:
            while data := os.read(self.leader, 65536):
                self.text += data.decode(errors="replace")
        except OSError:
            pass

    def write(self, text):
        os.write(self.leader, text.encode())

    def next(self):
        """The next line of the file."""
        def found():
            lines = self.lines.read_text().splitlines() if self.lines.exists() else []
            return len(lines) > self.count and lines
        try:
            lines = wait_until(found, "a line")
        except AssertionError:
            raise AssertionError(f"no line comes:\n{self.text!r}") from None
        self.count += 1
        return lines[self.count - 1]

    def completed(self, text):
        """The line after a tab, or after several that change nothing."""
        for _ in range(5):
            self.write(text + "\t\x14")
            if (line := self.next()).rstrip() != text.rstrip():
                break
        return line

    def end(self):
        self.process.kill()
        self.process.wait()
        self.drain.join()
        os.close(self.leader)


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_a_shell_completes_values_in_its_line(filled, made, tmp_path, name):
    (folder := tmp_path / name).mkdir()
    one = Shell(name, folder, filled.env)
    made.append(one)
    for typed, expected in (
        ("redial list --state fa", "redial list --state failed"),
        ("redial list --state=fa", "redial list --state=failed"),
        ("redial list --state failed,ca", "redial list --state failed,cancelled"),
        ("redial targets pay", "redial targets payments"),
        # bash breaks words at colons, and zsh does not.
        ("redial targets https://api.example.o", "redial targets https://api.example.org:8443"),
        ("redial targets https://api.example.org:", "redial targets https://api.example.org:8443"),
        ("redial list --target=https://api.example.c", "redial list --target=https://api.example.com"),
        ("redial ops watch op_", f"redial ops watch {filled.operation}"), ("redial ops create pu", "redial ops create purge"),
        ("redial webhooks show ", f"redial webhooks show {filled.endpoint}"),
        ("redial keys revoke ", f"redial keys revoke {filled.api_key}"), ("redial call --policy ", "redial call --policy patient"),
    ):
        assert one.completed(typed).rstrip() == expected, (typed, one.text)
    # What a client has named a target is one word, and nothing of it is run.
    line = one.completed("redial targets it").strip()
    words = subprocess.run(["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, cwd=folder, timeout=BOUND)
    assert words.stdout == f"redial\ntargets\n{HOSTILE}\n", (line, words)
    assert not (folder / "stolen").exists() and "0123456789abcdef" not in one.text
    # Without a service there is no completion, and no text either.
    before = one.text
    assert one.completed(f"redial targets --server http://127.0.0.1:{free_port()} pay").endswith(" pay")
    assert "cannot reach" not in one.text[len(before):]


def test_fish_completes_values(filled):
    def offered(line):
        return offered_in_the_end(lambda: asked(line))

    def asked(line):
        script = f"{BINARY} completion fish | source; complete -C {line!r}"
        answer = subprocess.run(
            [needs.program("fish"), "--no-config", "-c", script], capture_output=True, text=True, timeout=BOUND,
            env=environment(filled.env | {"PATH": PATH}))
        assert answer.returncode == 0 and not answer.stderr, answer
        return {line.split("\t")[0] for line in answer.stdout.splitlines()}
    assert offered("redial list --state fa") == {"failed"}
    assert offered("redial list --state=fa") == {"--state=failed"}
    assert offered("redial targets pay") == {"payments"}
    assert offered("redial targets https://api.example.") == {"https://api.example.com", "https://api.example.org:8443"}
    assert offered("redial get ") == set(filled.calls)
    assert offered("redial ops watch ") == {filled.operation}
    assert offered("redial call --policy ") == {"patient"}
    assert offered("redial keys revoke ") == {filled.api_key}
    assert offered(f"redial targets --server http://127.0.0.1:{free_port()} pay") == set()
