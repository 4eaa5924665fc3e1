"""Few file descriptors: the service brings its bounds within them, and nobody is left unheard."""

import concurrent.futures
import shlex

from processes import BINARY, Redial


class Poor(Redial):
    """A service that may have so many descriptors and no more."""

    def __init__(self, folder, descriptors):
        super().__init__(folder)
        self.arguments = ["-c", f"ulimit -n {descriptors}; exec {shlex.join([BINARY, *self.arguments])}"]
        self.binary = "/bin/bash"


def test_with_few_descriptors_calls_are_made_and_clients_heard(flaky, made, tmp_path):
    service, target = Poor(tmp_path, 120), flaky()
    made.append(service)
    service.start()
    assert "descriptorLimit descriptors=120 maxConnections=" in service.log.read_text()
    calls = [service.submit(url=target.url + f"/{n}?delay=500ms", target=f"t{n % 7}") for n in range(200)]
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        # Not kept: at the bound an idle connection gives way, perhaps as its client makes use of it again.
        answers = list(pool.map(
            lambda n: service("GET", "/readyz", headers={"connection": "close"}).status, range(200)))
    # Beyond the bound of connections clients are told so, and nothing worse.
    assert set(answers) <= {200, 503} and 200 in answers
    # This thread's own connection was idle meanwhile.
    service.local.client.connection = None
    for call in calls:
        assert service.ended(call, 60)["state"] == "succeeded"
        assert service.get(call)["attemptCount"] == 1
