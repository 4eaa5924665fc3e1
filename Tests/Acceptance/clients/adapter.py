"""Calls the Python client as the lines of its input say: `[method, arguments, options]`, each answered by a line.

    adapter.py sync|async OPTIONS
"""

import asyncio
import inspect
import json
import re
import sys

import redial_client

ERROR_MEMBERS = ["type", "title", "status", "code", "detail", "errors", "retryAfter", "mayHaveBeenAccepted", "call"]


def snake(name):
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


async def awaited(value):
    return await value if inspect.isawaitable(value) else value


def either(thing, *names):
    """The method of this thing: the asynchronous one has another name than the synchronous one."""
    return next(getattr(thing, name) for name in names if hasattr(thing, name))


async def perform(client, streams, method, arguments, options):
    options = {snake(name): value for name, value in options.items()}
    if method == "openEvents":
        streams.append(client.events(**options))
        await awaited(either(streams[-1], "__aenter__", "__enter__")())
    elif method == "nextEvent":
        return await awaited(either(streams[-1], "__anext__", "__next__")())
    elif method == "closeEvents":
        await awaited(either(streams[-1], "aclose", "close")())
        return streams[-1].last_event_id
    elif method in ("verify", "verifyEvent"):
        secrets, body, headers = arguments
        return getattr(redial_client.WebhookVerifier(secrets), snake(method))(body, headers, **options)
    else:
        result = getattr(client, snake(method))(*arguments, **options)
        if hasattr(result, "__aiter__"):
            return [value async for value in result]
        return list(result) if inspect.isgenerator(result) else await awaited(result)


async def main(kind, given):
    options = {snake(name): value for name, value in json.loads(given).items()}
    client = (redial_client.Redial if kind == "sync" else redial_client.AsyncRedial)(**options)
    streams = []
    for line in sys.stdin:
        try:
            answer = {"result": await perform(client, streams, *json.loads(line))}
        except Exception as error:
            members = {name: getattr(error, snake(name), None) for name in ERROR_MEMBERS}
            # A problem has the class of its code, which is a class of problems.
            is_problem = isinstance(error, redial_client.RedialProblem)
            kind = "RedialProblem" if is_problem else type(error).__name__
            answer = {"error": members | {"kind": kind, "class": type(error).__name__, "message": str(error)}}
        print(json.dumps(answer), flush=True)


asyncio.run(main(*sys.argv[1:]))
