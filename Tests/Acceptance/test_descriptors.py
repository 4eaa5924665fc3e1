"""Few file descriptors: the service lowers its limits accordingly, and every client is served."""

import concurrent.futures
import http.client
import resource
import shlex

from processes import BINARY, Redial, wait_until


class Poor(Redial):
    """A service with a limited number of descriptors."""

    def __init__(self, folder, descriptors):
        super().__init__(folder)
        self.arguments = ["-c", f"ulimit -n {descriptors}; exec {shlex.join([BINARY, *self.arguments])}"]
        self.binary = "/bin/bash"


def test_with_few_descriptors_calls_are_made_and_clients_heard(flaky, made, tmp_path):
    service, target = Poor(tmp_path, 120), flaky()
    made.append(service)
    service.start()
    service.says("descriptorLimit descriptors=120 maxLookups=")
    calls = [service.submit(url=target.url + f"/{n}?delay=500ms", target=f"t{n % 7}") for n in range(200)]
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        # Not persistent: at the limit an idle connection is closed, perhaps just as its client uses it again.
        def ask(_):
            try:
                return service("GET", "/readyz", headers={"connection": "close"}).status
            except (http.client.RemoteDisconnected, ConnectionResetError):
                return 503  # It had not sent its request yet, and was closed for one that had.

        answers = list(pool.map(ask, range(200)))
    # Beyond the limit of connections clients get an error, and nothing worse.
    assert set(answers) <= {200, 503} and 200 in answers
    # This thread's own connection was idle meanwhile.
    service.local.client.connection = None
    for call in calls:
        assert service.ended(call, 60)["state"] == "succeeded"
        assert service.get(call)["attemptCount"] == 1


def test_a_want_of_descriptors_is_not_held_against_the_target(redial, flaky):
    service, target = redial(), flaky()
    service.ended(service.submit(url=target.url))
    before = resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE)
    # No more sockets than allowed; open ones stay open.
    resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    call = service.submit(url="http://127.0.0.2:9/", target="starved", policy={"backoff": {"initial": "100ms"}})
    fault = wait_until(lambda: service.get(call)["attempts"], "an attempt has failed")[0]
    assert (fault["outcome"], fault["error"]["code"]) == ("localFault", "localResources"), fault
    wait_until(lambda: service.get(call)["attemptCount"] > 3, "it is tried again")
    state = service.target("starved")["breaker"]
    assert (state["state"], state["consecutiveFailures"]) == ("closed", 0)
    resource.prlimit(service.process.pid, resource.RLIMIT_NOFILE, before)
    assert service.ended(service.submit(url=target.url, target="starved"))["state"] == "succeeded"
