"""The container engine of this machine, if there is one."""

import json
import shutil
import subprocess

from pages import commands
from processes import ROOT, wait_until

# A build fetches Debian's packages, and compiles.
LONG = 3600
BASE = "debian:bookworm-slim"


class Engine:
    def __init__(self, command):
        self.command = command

    def __call__(self, *arguments, code=0):
        """What the engine prints."""
        done = subprocess.run(
            [self.command, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, timeout=LONG)
        assert code is None or done.returncode == code, f"{arguments}\n{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
        return done.stdout.strip() if code is not None else done.returncode

    def inspect(self, kind, name):
        return json.loads(self(kind, "inspect", name))[0]

    def build(self, tag, *options):
        """Builds an image of docker/Dockerfile."""
        kept = ["--format", "docker"] if self.command == "podman" else []
        self("build", *kept, "--network=host", "-f", ROOT / "docker/Dockerfile", "-t", tag, *options, ROOT)

    def healthy(self, container):
        """Waits until the container's own health check passes."""
        if self.command == "podman":
            # Without systemd nothing runs the check at its times.
            wait_until(lambda: self("healthcheck", "run", container, code=None) == 0, "healthy")
        else:
            wait_until(lambda: self.inspect("container", container)["State"]["Health"]["Status"] == "healthy", "healthy", 60)


def found():
    """The engine, or a sentence that says what is missing."""
    for command in ("docker", "podman"):
        if not shutil.which(command):
            continue
        engine = Engine(command)
        if engine("info", code=None) != 0:
            continue
        if engine("image", "inspect", BASE, code=None) != 0 and engine("pull", "-q", BASE, code=None) != 0:
            return f"the images need {BASE}, which {command} neither has nor can fetch"
        return engine
    return "the images need a container engine that runs: docker or podman"


def context(tarball, folder):
    """A folder with the binary of a tarball where the build of an image looks for it, made as the page says."""
    make, unpack, build = commands("Images")[1].splitlines()
    assert build.startswith("docker build -f docker/Dockerfile --build-context build=binary ")
    folder.mkdir()
    (folder / tarball.name).symlink_to(tarball)
    subprocess.run(f"{make}\n{unpack}", shell=True, check=True, cwd=folder)
    return folder / "binary"
