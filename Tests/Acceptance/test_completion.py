"""Completion, in the shells themselves."""

import shutil
import subprocess

import pytest

from processes import BINARY, run

# The tests need packages with the shells; on a machine without one, its test is skipped.
def shell(name):
    path = shutil.which(name)
    if not path:
        pytest.fail(f"{name} is missing; Scripts/packages test installs it")
    return path


def ask(name, script, *arguments):
    answer = subprocess.run(
        [shell(name), *arguments, "-c", script], capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0 and not answer.stderr, answer
    return answer.stdout.split("\n")


def commands():
    return [line.split()[0] for line in run("--help").stdout.split("\n\n")[2].splitlines()]


@pytest.mark.parametrize("words, expected", [
    (["redial", ""], None), (["redial", "si"], {"simulate"}), (["redial", "call", "--la"], {"--label"}),
    (["redial", "serve", "--max-bod"], {"--max-body-bytes"}), (["redial", "call", "--policy", "--"], set()),
    (["redial", "ops", ""], {"create", "list", "show", "watch", "cancel"}), (["redial", "ops", "create", "p"], {"purge"}),
    (["redial", "webhooks", "de"], {"deliveries", "delete"}), (["redial", "policies", "--if"], {"--if-version"}),
])
def test_bash_completes_commands_and_options(words, expected):
    script = f"""
        source <({BINARY} completion bash)
        COMP_WORDS=({" ".join(f"'{w}'" for w in words)}); COMP_CWORD={len(words) - 1}
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
    assert any(line.startswith("--policy=[") and line.endswith(":_default") for line in lines)
    assert any(line.startswith("*--label=[") for line in lines)
    assert "1: :(create list show watch cancel)" in lines and "2: :(retry cancel release purge)" in lines


def test_fish_completes_commands_and_options():
    load = f"{BINARY} completion fish | source; "
    offered = {line.split("\t")[0] for line in ask("fish", load + "complete -C 'redial '", "--no-config")}
    assert set(commands()) <= offered
    assert {line.split("\t")[0] for line in ask(
        "fish", load + "complete -C 'redial simulate --conc'", "--no-config") if line} == {"--concurrency"}
    for words, expected in (("ops ", {"create", "list", "show", "watch", "cancel"}), ("ops create p", {"purge"}),
                            ("targets x tr", {"trip"})):
        offered = {line.split("\t")[0] for line in ask("fish", load + f"complete -C 'redial {words}'", "--no-config")}
        assert offered - {""} == expected, words


def test_another_shell_is_told():
    answer = run("completion", "tcsh")
    assert answer.returncode == 2 and "bash, zsh, fish" in answer.stderr
