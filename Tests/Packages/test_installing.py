"""The packages in bare systems: the commands of docs/installing.md, an upgrade, and what is left at the end."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

import systems
from pages import DELIVERED, FOLDER, commands

CONFIG = "/etc/redial/redial.json"


@pytest.fixture(scope="module")
def first(bare, tmp_path_factory):
    """A system with the Debian package, installed as the page says."""
    system = systems.System(bare, tmp_path_factory.mktemp("installed") / "system")
    system.add(FOLDER)
    system.run("cd /packages\n" + commands("Debian package")[0], network=True)
    yield system
    system.end()


@pytest.fixture
def installed(first, tmp_path):
    """A copy of it, so that each test has it as it was after the installation."""
    system = systems.System(first.folder, tmp_path / "copy")
    yield system
    system.end()


def another_version(system, version):
    """Makes a package of the one in the system that has another version and another default config; its path there."""
    folder = system.path("/packages/another")
    (package,) = system.path("/packages").glob("redial_*.deb")
    subprocess.run(["dpkg-deb", "-R", package, folder], check=True)
    control = folder / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.M))
    config = folder / CONFIG.lstrip("/")
    config.write_text(json.dumps(json.loads(config.read_text()) | {"log": {"level": "debug"}}))
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Znone", "-b", folder, system.path("/packages/another.deb")], check=True,
        stdout=subprocess.DEVNULL)
    return "/packages/another.deb"


def test_the_debian_package_from_nothing_to_the_first_delivered_post(installed):
    _, start, post = commands("Debian package")
    shown = installed.run(start + post)
    assert DELIVERED.search(shown), shown


def test_the_debian_package_makes_a_user_and_enables_its_units(installed):
    shown = installed.run(f"stat -c '%a %U:%G' {CONFIG} /var/lib/redial; getent passwd redial")
    assert shown.splitlines()[:2] == ["640 root:redial", "700 redial:redial"], shown
    assert shown.splitlines()[2].endswith(":/var/lib/redial:/usr/sbin/nologin"), shown
    for link in ("multi-user.target.wants/redial.service", "sockets.target.wants/redial.socket"):
        assert installed.path(f"/etc/systemd/system/{link}").is_symlink(), link


def test_an_upgrade_keeps_settings_and_calls_and_a_removal_does_too_but_a_purge_does_not(installed):
    _, start, _ = commands("Debian package")
    id = installed.run(start + "redial call --no-wait http://127.0.0.1:9090/before").split("call_")[1][:13]
    mine = json.dumps(json.loads(installed.path(CONFIG).read_text()) | {"calls": {"maxInFlight": 7}})
    installed.path(CONFIG).write_text(mine)
    # The operator does not want it to start with the machine.
    installed.path("/etc/systemd/system/multi-user.target.wants/redial.service").unlink()

    package = another_version(installed, "9.0.0-1")
    installed.run(f"dpkg --force-confdef --force-confold -i {package}")
    assert "9.0.0-1" in installed.run("dpkg-query -W redial")
    assert installed.path(CONFIG).read_text() == mine
    assert '"level": "debug"' in installed.path(f"{CONFIG}.dpkg-dist").read_text()
    assert installed.run(f"stat -c '%a %U:%G' {CONFIG}") == "640 root:redial\n"
    assert not installed.path("/etc/systemd/system/multi-user.target.wants/redial.service").is_symlink()
    shown = installed.run(start + f"redial get call_{id}; runuser -u redial -- redial serve --config {CONFIG} --print-config")
    assert f"call_{id}" in shown and re.search(r'"?maxInFlight"?.* 7\b', shown), shown

    installed.run("dpkg --remove redial")
    for path in ("/usr/bin/redial", "/usr/lib/systemd/system/redial.service", "/usr/share/man/man1/redial.1.gz"):
        assert not installed.path(path).exists(), path
    assert installed.path(CONFIG).read_text() == mine and installed.path("/var/lib/redial/redial.db").exists()

    installed.run("dpkg --purge redial")
    assert not installed.path("/etc/redial").exists() and not installed.path("/var/lib/redial").exists()
    left = installed.run("find / -xdev -name '*redial*' -not -path '/packages*' -not -path '/proc/*'")
    assert left == "", left


SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >>/systemctl.log
case $* in *is-enabled*) echo enabled ;; esac
"""


def test_a_running_systemd_starts_the_service_and_restarts_it_at_an_upgrade(system):
    """systemctl only writes down what the package asks of it: nothing in the system runs as its first process."""
    stub = system.path("/usr/bin/systemctl")
    stub.write_text(SYSTEMCTL)
    stub.chmod(0o755)
    system.path("/run/systemd/system").mkdir(parents=True)

    def asked(script, network=False):
        system.path("/systemctl.log").write_text("")
        system.run(script, network)
        found = re.findall(r"^systemctl .*?\b(start|stop|restart|daemon-reload)((?: redial\.\w+)*)", system.path(
            "/systemctl.log").read_text(), re.M)
        return [f"{verb}{units}" for verb, units in found]

    install = "cd /packages\n" + commands("Debian package")[0]
    assert asked(install, network=True) == ["daemon-reload", "start redial.socket", "start redial.service"]
    package = another_version(system, "9.0.0-1")
    assert asked(f"dpkg --force-confold -i {package}") == ["daemon-reload", "start redial.socket", "restart redial.service"]
    stopped, *reloaded = asked("dpkg --remove redial")
    assert stopped == "stop redial.service redial.socket" and set(reloaded) == {"daemon-reload"}, reloaded


def test_the_tarball_from_nothing_to_the_first_delivered_post_and_back(system):
    install, post, unit, remove = commands("Tarball")
    before = system.run("find /usr/local -type f")
    system.run("cd /packages\n" + install, network=True)
    shown = system.run("cd /tmp\n" + post)
    assert DELIVERED.search(shown), shown
    user, config, *systemctl = unit.splitlines()
    assert all(line.startswith("systemctl ") for line in systemctl)
    shown = system.run(f"{user}\n{config}\nstat -c '%a %U:%G' {CONFIG}; runuser -u redial -- redial serve --config {CONFIG} --print-config")
    assert shown.startswith("640 root:redial\n") and "/var/lib/redial/redial.db" in shown, shown
    unit = system.path("/usr/local/lib/systemd/system/redial.service").read_text()
    (command,) = re.findall(r"^ExecStart=(\S+) (.*)$", unit, re.M)
    assert system.path(command[0]).exists() and command[1] == f"serve --config {CONFIG}"
    system.run("cd /packages\n" + remove)
    assert system.run("find /usr/local -type f") == before


def test_systemd_accepts_the_units_and_finds_little_that_the_service_could_harm(installed):
    # The units that every unit depends on are systemd's own, which a minimal system does not have.
    for unit in pathlib.Path("/usr/lib/systemd/system").glob("*.target"):
        shutil.copy(unit, installed.path(unit.as_posix()), follow_symlinks=False)
    verified = subprocess.run(
        ["systemd-analyze", f"--root={installed.folder}", "--man=no", "verify", "redial.service", "redial.socket"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert verified.returncode == 0 and "redial" not in verified.stdout, verified.stdout
    # Exposure is from 0 to 100; a unit without any of these settings has 96.
    rated = subprocess.run(
        ["systemd-analyze", "--offline=true", "--threshold=20", "--no-pager", "security",
         installed.path("/usr/lib/systemd/system/redial.service")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert rated.returncode == 0 and "Overall exposure level" in rated.stdout, rated.stdout
