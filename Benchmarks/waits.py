#!/usr/bin/env python3
"""Measures two waits of calls: for their first retry, and for the end of all calls after the service was killed.

First retry: beside full load, 50 calls a second go to another target, whose first answer is a 503. Their policy asks for the
next attempt after 100 ms, without jitter. The wait is the time from the end of the first attempt to the start of the second.

After a kill: the service accepts 1,000 calls a second, is killed, and is started again. The wait is the time from that start
until no call is left.

  python3 Benchmarks/waits.py [--rounds 3] [--seconds 5] [--connections 64] [--binary PATH]
"""

import datetime
import json
import random
import signal
import statistics
import subprocess
import threading
import time
import urllib.request

import service
from service import OUT, WRK, WRK_PACED

RATE = 50
ASKED_MS = 100
TWICE = 'location /twice { if ($http_redial_attempt = 1) { return 503; } return 200 "ok\\n"; }'


def ask(port, path, method="GET", body=None, accept="application/json"):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", method=method, data=body and json.dumps(body).encode(),
        headers={"accept": accept, "content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def moment(text):
    return datetime.datetime.fromisoformat(text).timestamp() * 1000


def round_of_retries(nginx, options):
    """The waits for the second attempt, in milliseconds, and the rate at which the other calls were accepted."""
    call = json.loads(service.descriptor(nginx))
    call |= {"url": f"http://127.0.0.1:{nginx}/twice", "target": "twice"}
    call["policy"]["backoff"] = {"strategy": "exponential", "initial": f"{ASKED_MS}ms", "jitter": "none"}
    with service.Redial(options.binary) as redial:
        # Otherwise the pace and the breaker would hold back a target that fails half of all requests.
        ask(redial.port, "/v1/targets/twice", "PUT", {"pace": "fixed", "breaker": {"minCalls": 1_000_000}})
        began, ids = time.monotonic(), []

        def submit():
            while time.monotonic() - began < options.seconds:
                ids.append(json.loads(ask(redial.port, "/v1/calls", "POST", call))["id"])
                time.sleep(random.uniform(0, 2 / RATE))

        beside = threading.Thread(target=submit)
        beside.start()
        result = service.wrk(f"http://127.0.0.1:{redial.port}/v1/calls", service.write_script(nginx), options)
        beside.join()
        redial.drained(began)
        waits = []
        for identity in ids:
            first, second = json.loads(ask(redial.port, f"/v1/calls/{identity}"))["attempts"]
            assert (first["status"], second["status"]) == (503, 200), (first, second)
            took = float(first["duration"].removesuffix("ms"))
            waits.append(moment(second["startedAt"]) - moment(first["startedAt"]) - took)
        return sorted(waits), result["rate"]


def round_of_kill(nginx, options):
    """The seconds from a start after a kill until no call is left, and how many calls were left."""
    script = OUT / "paced.lua"
    longest = 2000 * options.connections // service.PACED_RATE
    script.write_text(WRK.format(body=service.descriptor(nginx)) + WRK_PACED.format(longest=longest))
    with service.Redial(options.binary) as redial:
        load = subprocess.Popen(
            ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "-s", script,
             f"http://127.0.0.1:{redial.port}/v1/calls"], stdout=subprocess.DEVNULL)
        time.sleep(options.seconds * 0.7)
        redial.process.send_signal(signal.SIGKILL)
        redial.process.wait()
        load.kill()
        load.wait()
        began = time.monotonic()
        redial.start()
        service.wait_for(redial.port, redial.process, "redial")
        first = service.metrics(redial.port)["redial_backlog_calls"]
        while service.metrics(redial.port)["redial_backlog_calls"] > 0:
            if time.monotonic() - began > service.DRAIN_LIMIT:
                raise SystemExit("calls are left")
            time.sleep(0.005)
        return time.monotonic() - began, int(first)


def main():
    options = service.parsed(__doc__)
    port = service.free_port()
    nginx = service.start_nginx(port, server=TWICE)
    try:
        retries = [round_of_retries(port, options) for _ in range(options.rounds)]
        kills = [round_of_kill(port, options) for _ in range(options.rounds)]
    finally:
        service.stop(nginx)

    def middle(values):
        return statistics.median(values)

    p50 = middle([waits[len(waits) // 2] for waits, _ in retries])
    p99 = middle([waits[len(waits) * 99 // 100] for waits, _ in retries])
    print(f"{options.rounds} rounds of {options.seconds} s, {options.connections} connections; medians")
    print(f"first retry, asked for after {ASKED_MS} ms: p50 {p50:.0f} ms, p99 {p99:.0f} ms "
          f"beside {middle([rate for _, rate in retries]):.0f} accepts/s")
    print(f"all done after kill -9 at {service.PACED_RATE}/s: {middle([seconds for seconds, _ in kills]):.2f} s, at most "
          f"{max(seconds for seconds, _ in kills):.2f} s; {middle([left for _, left in kills])} calls waited when it listened")


if __name__ == "__main__":
    main()
