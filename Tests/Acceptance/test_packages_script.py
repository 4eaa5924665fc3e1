"""Scripts/packages on a machine that has nothing, with an apt-get that does what the test wants.

The system's folders are in a folder of the test: `sudo` leads there.
"""

import os
import re
import shutil
import signal
import subprocess
import types

import pytest

import needs
from processes import BOUND, ROOT

TOOLS = "sh awk cat chmod cut dirname echo env fold grep mkdir mv rm sed sort tail tee test tr wc xargs mktemp".split()
# What the tests can do without.
OPTIONAL = [
    choice.partition("|")[0] for choice in re.search(
        r'^  all-tests\)\n.*?optional="(.*?)"', (ROOT / "Scripts/packages").read_text(), re.M | re.S)[1].split()]
PLAN = """Reading package lists...
The following additional packages will be installed:
  nginx-common
The following NEW packages will be installed:
  {}
0 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.
Need to get 12.3 MB of archives.
After this operation, 45.6 MB of additional disk space will be used.
Do you want to continue? [Y/n] N
Abort.
"""
PORT_TAKEN = """Setting up nginx-common (1.22.1-9+deb12u2) ...
Setting up nginx-light (1.22.1-9+deb12u2) ...
nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)
invoke-rc.d: initscript nginx, action "start" failed.
dpkg: error processing package nginx-light (--configure):
 installed nginx-light package post-installation script subprocess returned error exit status 1
Setting up fish (3.6.0-3.1+deb12u1) ...
Errors were encountered while processing:
 nginx-light
E: Sub-process /usr/bin/dpkg returned an error code (1)
"""


class Machine:
    """A machine that has a few tools; `installs` is the script that apt-get runs to install what is in "$@"."""

    def __init__(self, folder, installs, updates=":"):
        self.root, self.bin, self.state = folder / "root", folder / "bin", folder / "installed"
        self.copy = folder / "clone"
        for made in (self.bin, self.root / "usr/sbin", self.root / "etc", self.copy / "Scripts", self.state):
            made.mkdir(parents=True)
        text = (ROOT / "Scripts/packages").read_text().replace("/usr/local/share/", f"{self.root}/usr/local/share/")
        (self.copy / "Scripts/packages").write_text(text)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        # It looks for PostgreSQL's programs.
        self.command("ls", "exit 1")
        self.plan = folder / "plan"
        self.plan.write_text(PLAN.format("nginx-common nginx-light"))
        self.command("id", "echo 1000")
        self.command("dpkg-query", f'for name do :; done; [ ! -e {self.state}/$name ] || echo installed')
        self.command("sudo", f"""
            for word do shift; case $word in /usr/*|/etc/*) word={self.root}$word ;; esac; set -- "$@" "$word"; done
            exec "$@" """)
        self.command("update-rc.d", f'echo "$@" >>{folder}/disabled')
        self.command("apt-get", f"""
            echo "$@" >>{folder}/asked
            plan=
            while [ $# -gt 0 ]; do case $1 in
              update) {updates}; exit ;;
              download) exit 1 ;;
              --assume-no) plan=1 ;;
              -o) shift ;;
              install | -*) ;;
              *) break ;;
            esac; shift; done
            [ -z "$plan" ] || {{ cat {self.plan}; exit 1; }}
            came() {{ for name do : >{self.state}/$name; done; }}
            {installs}""")
        self.folder = folder

    def command(self, name, script):
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    @property
    def policy(self):
        return self.root / "usr/sbin/policy-rc.d"

    def told(self, name):
        return (self.folder / name).read_text() if (self.folder / name).exists() else ""

    def run(self, *words, **env):
        return subprocess.run(
            ["/bin/sh", self.copy / "Scripts/packages", *words], env={"PATH": str(self.bin)} | env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=BOUND, preexec_fn=heed_signals)


def heed_signals():
    """A shell cannot trap what whoever has started it ignores, as nohup does."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def says(text):
    return f"cat <<'END'\n{text}END\n"


def test_it_says_beforehand_what_comes_and_how_much_and_starts_no_service(tmp_path):
    # While packages are installed, the policy that Debian asks forbids every service.
    machine = Machine(tmp_path, f'{tmp_path}/root/usr/sbin/policy-rc.d nginx start; echo "policy $?"; came "$@"')
    done = machine.run("all-tests")
    assert done.returncode == 0, done.stdout
    assert "download 12.3 MB, on the disk 45.6 MB. None of their services is started." in done.stdout
    assert f"packages: missing for 'all-tests': {' '.join(OPTIONAL)}\n" in done.stdout
    assert "packages: to install, with what they need: 2\n    nginx-common nginx-light\n" in done.stdout
    log = (machine.copy / ".build/packages.log").read_text()
    assert log.count("policy 101\n") == 2, "once for what is needed, once for the rest"
    assert not machine.policy.exists()
    assert machine.told("disabled").splitlines() == ["nginx disable", "postgresql disable", "pgbouncer disable"]
    assert "create_main_cluster = false" in (machine.root / "etc/postgresql-common/createcluster.d/redial.conf").read_text()
    # The second time there is nothing to do or to say.
    asked = machine.told("asked")
    assert machine.run("all-tests").stdout == "" and machine.told("asked") == asked


def test_the_policy_that_was_there_comes_back(tmp_path):
    machine = Machine(tmp_path, 'came "$@"')
    machine.policy.write_text("#!/bin/sh\nexit 104\n")
    machine.policy.chmod(0o755)
    assert machine.run("build").returncode == 0
    assert machine.policy.read_text() == "#!/bin/sh\nexit 104\n"
    assert sorted(path.name for path in machine.policy.parent.iterdir()) == ["policy-rc.d"]


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_an_interrupted_installation_leaves_no_policy(tmp_path, number, code):
    machine = Machine(tmp_path, f"test -e {tmp_path}/root/usr/sbin/policy-rc.d && : >{tmp_path}/there; kill -{int(number)} $PPID; exit 1")
    done = machine.run("build")
    assert done.returncode == code, done.stdout
    assert (tmp_path / "there").exists() and not machine.policy.exists()


def test_a_policy_that_outlives_its_process_forbids_nothing_and_the_next_run_clears_up(tmp_path):
    machine = Machine(tmp_path, f"[ -e {tmp_path}/once ] || {{ : >{tmp_path}/once; kill -9 $PPID; exit 1; }}; came \"$@\"")
    before = "#!/bin/sh\nexit 104\n"
    machine.policy.write_text(before)
    machine.policy.chmod(0o755)
    assert machine.run("build").returncode == -signal.SIGKILL
    assert machine.policy.read_text() != before
    aside = machine.policy.with_name("policy-rc.d.before-redial")
    assert aside.read_text() == before
    # It asks the one that is put aside; here its place is in the test's folder.
    text = machine.policy.read_text().replace("/usr/sbin/", f"{machine.policy.parent}/")
    assert subprocess.run(["sh", "-c", text, "policy-rc.d", "nginx", "start"], check=False).returncode == 104
    assert machine.run("build").returncode == 0
    assert machine.policy.read_text() == before and not aside.exists()


def test_a_package_that_fails_is_named_with_its_reason_and_what_to_do(tmp_path):
    machine = Machine(tmp_path, f'case $* in *nginx*) came fish zsh; {says(PORT_TAKEN)} exit 100 ;; esac; came "$@"')
    lacking = " ".join(name for name in OPTIONAL if name not in ("fish", "zsh"))
    done = machine.run("all-tests")
    assert done.returncode == 0, done.stdout
    for line in (
        "    nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)\n",
        "    dpkg: error processing package nginx-light (--configure):\n",
        "     installed nginx-light package post-installation script subprocess returned error exit status 1\n",
        "what to do: `sudo dpkg --configure nginx-light` tries again and shows all",
        "Then run `Scripts/packages all-tests` again. All that apt-get wrote is in .build/packages.log.\n",
        f"not installed: {lacking}; the tests that need them are left out\n",
    ):
        assert line in done.stdout, (line, done.stdout)
    assert "returned an error code" not in done.stdout
    # Where nothing may be left out, that is an error.
    refused = machine.run("all-tests", REDIAL_LEAVE_OUT_NOTHING="1")
    assert refused.returncode == 1 and "nothing may be left out here" in refused.stdout


def test_a_package_that_is_not_to_be_had_keeps_no_other_away(tmp_path):
    machine = Machine(tmp_path, 'case $* in *fish*) echo "E: Unable to locate package fish"; exit 100 ;; esac; came "$@"')
    done = machine.run("all-tests")
    assert done.returncode == 0, done.stdout
    assert "    E: Unable to locate package fish\n" in done.stdout and "has no package of this name" in done.stdout
    assert "packages: not installed: fish; the tests that need them are left out\n" in done.stdout
    assert {path.name for path in machine.state.iterdir()} >= set(OPTIONAL) - {"fish"}


@pytest.mark.parametrize("says, advice", [
    ("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 712 (apt-get)", "wait until it has ended"),
    ("E: dpkg was interrupted, you must manually run 'sudo dpkg --configure -a' to correct the problem.", "run `sudo dpkg --configure -a`"),
    ("E: You don't have enough free space in /var/cache/apt/archives/.", "the disk is full"),
    ("Err:1 http://deb.debian.org/debian bookworm/main amd64 zsh\n  Temporary failure resolving 'deb.debian.org'", "the mirror cannot be reached"),
    ("The following packages have unmet dependencies:\n zsh : Depends: libc6 (>= 9) but 2.36 is to be installed", "apt-mark showhold"),
])
def test_what_is_needed_and_does_not_come_is_an_error_that_says_what_to_do(tmp_path, says, advice):
    machine = Machine(tmp_path, f'cat <<"END"\n{says}\nEND\nexit 100')
    done = machine.run("build")
    assert done.returncode == 1, done.stdout
    assert all(f"    {line}\n" in done.stdout for line in says.split("\n")), done.stdout
    assert advice in done.stdout
    assert done.stdout.endswith("not installed: libcurl4-openssl-dev libsqlite3-dev libpq-dev libssl-dev zlib1g-dev\n")
    assert not machine.policy.exists()


def test_a_mirror_that_fails_is_told_and_another_may_have_all(tmp_path):
    machine = Machine(tmp_path, 'came "$@"', updates="echo 'E: Failed to fetch http://mirror.example/InRelease'; exit 100")
    done = machine.run("build")
    assert done.returncode == 0, done.stdout
    assert "apt-get update has failed" in done.stdout and "http://mirror.example/InRelease" in done.stdout


def test_a_package_of_somebody_else_that_is_half_installed_does_not_stop_the_build(tmp_path):
    machine = Machine(tmp_path, f'came "$@"; {says(PORT_TAKEN)} exit 100')
    done = machine.run("build")
    assert done.returncode == 0, done.stdout
    assert "dpkg: error processing package nginx-light" in done.stdout


def test_without_root_and_sudo_what_is_only_useful_is_left_out(tmp_path):
    machine = Machine(tmp_path, "exit 100")
    os.unlink(machine.bin / "sudo")
    done = machine.run("build")
    assert done.returncode == 1 and "run `Scripts/packages build` as root: libcurl4-openssl-dev" in done.stdout
    for name in ("python3", "python3-venv", "curl", "openssl", "openssh-client"):
        (machine.state / name).touch()
    done = machine.run("all-tests")
    assert done.returncode == 0 and "not installed: nginx-light zsh fish" in done.stdout
    # What `make test` needs is there.
    assert machine.run("test").stdout == ""
    os.unlink(machine.bin / "apt-get")
    assert machine.run("all-tests").returncode == 0
    assert machine.run("all-tests", REDIAL_LEAVE_OUT_NOTHING="1").returncode == 1


def test_a_run_says_what_it_left_out_and_by_name_what_no_package_brings():
    def skipped(name, reason):
        return types.SimpleNamespace(nodeid=f"Tests/Acceptance/{name}", longrepr=("file", 1, f"Skipped: {reason}"))
    lines = []
    needs.report(types.SimpleNamespace(write_line=lines.append, stats={"skipped": [
        skipped("test_a.py::b", "zsh is missing; Scripts/packages all-tests installs it"), skipped("test_c.py::d", "no namespaces here"),
        skipped("test_a.py::e", "zsh is missing; Scripts/packages all-tests installs it"), skipped("test_c.py::f[1]", "no namespaces here")]}))
    assert lines == ["left out: 2 tests, because no namespaces here: test_c.py::d test_c.py::f[1]",
                     "left out: 2 tests, because zsh is missing; Scripts/packages all-tests installs it"]
