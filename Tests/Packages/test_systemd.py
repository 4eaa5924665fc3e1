"""The Debian package under a systemd that runs, in a container."""

import os
import shutil
import threading

import pytest

import engines
from pages import commands
from processes import wait_until

# systemd, the libraries of the package, and a shell; policy-rc.d would forbid it to start services.
IMAGE = f"""FROM {engines.BASE}
RUN apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
  systemd systemd-sysv dbus adduser ca-certificates libcurl4 libpq5 libsqlite3-0 libssl3 libstdc++6 zlib1g \
  && rm -f /usr/sbin/policy-rc.d
COPY . /packages
CMD ["/sbin/init"]
"""


@pytest.fixture
def machine(engine, packages, tmp_path):
    """A container that systemd runs in; runs a script in it."""
    if engine.command != "podman":
        pytest.skip("a container with systemd as its first process needs podman")
    folder, name = tmp_path / "context", f"redial-test-systemd-{os.getpid()}"
    folder.mkdir()
    (folder / "Dockerfile").write_text(IMAGE)
    shutil.copy(packages["deb"], folder)
    engine("build", "--network=host", "-t", name, folder)

    def run(script, code=0):
        return engine("exec", name, "sh", "-euc", script, code=code)

    try:
        engine("run", "-d", "--name", name, "--systemd=always", "--privileged", name)
        wait_until(lambda: run("systemctl is-system-running | grep -E 'running|degraded'", code=None) == 0, "systemd runs", 60)
        yield run
    finally:
        engine("rm", "-f", "-t", "2", name)
        engine("rmi", "-f", name)


# Requests for the service, one after the other, until there is the file /end; how many were answered, and how many not.
CLIENT = """
answered=0 failed=0
while [ ! -e /end ]; do
  if redial-before health >/dev/null 2>&1; then answered=$((answered + 1)); else failed=$((failed + 1)); fi
done
echo "$answered answered, $failed failed"
"""


def test_the_service_starts_restarts_without_refusing_anybody_and_stops(machine):
    machine("dpkg -i /packages/redial_*.deb")
    state = "systemctl is-active redial.service redial.socket"
    assert machine(state) == "active\nactive"
    shown = machine(commands("Debian package")[2])
    assert "attempt 3: status 200" in shown and "succeeded after 3 attempts" in shown, shown
    assert "info started version=" in machine("journalctl -u redial --no-pager")
    assert "NoNewPrivs:\t1" in machine("cat /proc/$(systemctl show -p MainPID --value redial)/status")

    # An upgrade to a package that differs in its version alone, while a client asks.
    machine("cd /tmp && dpkg-deb -R /packages/redial_*.deb x && sed -i 's/^Version: .*/Version: 9.0.0-1/' x/DEBIAN/control"
            " && dpkg-deb --root-owner-group -Znone -b x new.deb && cp /usr/bin/redial /usr/bin/redial-before")
    counted = []
    client = threading.Thread(target=lambda: counted.append(machine(CLIENT)))
    client.start()
    main = "systemctl show -p MainPID --value redial"
    before = machine(main)
    machine("dpkg -i /tmp/new.deb")
    wait_until(lambda: machine(main) not in ("0", before), "another process")
    assert machine(state) == "active\nactive"
    machine("redial health; touch /end")
    client.join(60)
    answered, failed = [int(part.split()[0]) for part in counted[0].split(", ")]
    assert answered > 0 and failed == 0, counted
    assert "call_" in machine("redial list")

    machine("apt-get -q -y remove redial")
    assert machine(state, code=3) == "inactive\ninactive"
    assert machine("systemctl --failed --no-legend --plain") == "" and "redial.db" in machine("ls /var/lib/redial")
