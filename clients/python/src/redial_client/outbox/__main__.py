"""Runs a relay: ``python -m redial_client.outbox shop.calls:relay``."""

from __future__ import annotations

import argparse
import importlib
import logging
import signal
import sys
import threading
import time
from typing import Any, List

from .._errors import RedialError
from ._relay import Relay
from ._tables import TABLES


def main(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m redial_client.outbox",
        description="Submits the rows of an outbox to Redial until it is stopped with SIGTERM or Ctrl-C.")
    parser.add_argument(
        "relay", nargs="?", metavar="MODULE:NAME", help="a Relay in your code, or a function that returns one")
    parser.add_argument("--once", action="store_true", help="submit the rows that wait now, and end")
    parser.add_argument("--tables", choices=TABLES, help="print the statements that make the tables")
    options = parser.parse_args(arguments)
    if options.tables:
        print("".join(f"{statement};\n" for statement in TABLES[options.tables]), end="")
        return 0
    if not options.relay:
        parser.error("name a relay, such as shop.calls:relay")
    relay = _named(parser, options.relay)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # Its INFO is a line for each request.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if options.once:
        try:
            print(f"{relay.run_once()} calls submitted")
        except RedialError as error:
            print(f"rows are left in the outbox: {error}", file=sys.stderr)
            return 1
        return 0

    # The relay has a thread of its own: a signal comes between any two steps of the main thread, also while it holds a lock.
    thread = threading.Thread(target=relay.run, daemon=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    thread.start()
    try:
        # Not `join`: after an interrupted one, Python takes the thread for ended.
        while thread.is_alive():
            time.sleep(0.2)
    except KeyboardInterrupt:
        relay.stop()
        thread.join()
    return 0


def _named(parser: argparse.ArgumentParser, place: str) -> Relay:
    module, _, name = place.partition(":")
    if not name:
        parser.error(f"{place} has no name after a colon, as in shop.calls:relay")
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        parser.error(f"{place}: {error}")
    relay = found if isinstance(found, Relay) else found()
    if not isinstance(relay, Relay):
        parser.error(f"{place} is no Relay, and returns none")
    return relay


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
