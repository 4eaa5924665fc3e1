"""Minimal systems, each in a folder: what a person has on a new machine, without a compiler and without Redial."""

import os
import re
import shutil
import subprocess

# For the work of apt, whose mirror may be slow.
LONG = 600


def missing():
    """Why no system can be made here; None if it can."""
    if os.geteuid() != 0:
        return "installing packages in a bare system needs root"
    for command in ("mmdebstrap", "unshare", "chroot", "ip"):
        if not shutil.which(command):
            return f"installing packages in a bare system needs {command}: run `Scripts/packages packaging`"
    return None


def mirrors():
    """The name of this machine's release of Debian, and the lines with which its apt finds packages."""
    release = re.search(r"^VERSION_CODENAME=(\w+)", open("/etc/os-release").read(), re.M)[1]
    found = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
        check=True, capture_output=True, text=True).stdout.split("\n")
    wanted = rf"\S+ {release}(-updates|-security)? main"
    return release, sorted({"deb " + line for line in found if re.fullmatch(wanted, line)})


def bootstrap(folder):
    release, lines = mirrors()
    done = subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=minbase", "--skip=cleanup/apt/lists", release, str(folder), *lines],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONG)
    assert done.returncode == 0, done.stdout
    return folder


class System:
    def __init__(self, bare, folder):
        subprocess.run(["cp", "-a", "--reflink=auto", str(bare), str(folder)], check=True)
        self.folder = folder
        self.mounts = []

    def show(self, folder, name):
        """Has a folder of this machine seen, and not changed, in the system from now on."""
        self.path(name).mkdir(parents=True)
        self.mounts += ["--bind", str(folder), str(self.path(name))]

    def add(self, packages):
        """Copies a folder with packages to /packages."""
        shutil.copytree(packages, self.folder / "packages")

    def path(self, name):
        return self.folder / name.lstrip("/")

    def run(self, script, network=False, code=0, seconds=LONG):
        """Runs a script as root, and ends all that it has started; its output.

        Without the network it has a loopback device of its own, on which every port is free.
        """
        loopback = "" if network else "ip link set lo up; "
        shown = 'root=$1 script=$2; shift 2; while [ $# != 0 ]; do mount "$1" "$2" "$3"; mount -o remount,bind,ro "$3"; shift 3; done; '
        setup = f'mount -t proc proc "$1/proc"; {shown}{loopback}exec chroot "$root" /bin/sh -euc "$script"'
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", *([] if network else ["--net"]),
             "sh", "-euc", setup, "sh", str(self.folder), script, *self.mounts],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds, env={
                "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                "DEBIAN_FRONTEND": "noninteractive"})
        assert done.returncode == code, f"exit code {done.returncode}\n{script}\n{done.stdout}"
        return done.stdout

    def end(self):
        shutil.rmtree(self.folder)
