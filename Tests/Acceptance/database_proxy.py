"""Passes connections to PostgreSQL on, as a process of its own, and becomes a broken network on command.

    database_proxy.py SOCKET SERVER_SOCKET

Reads words from its input: `cut` (nothing passes in either direction, and no connection ends), `heal` (everything that was
held back passes), `drop` (all connections end, and new ones pass). Its output is a line for each, when it is done.
"""

import asyncio
import sys

passes = asyncio.Event()
pairs = set()


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            await passes.wait()
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        await passes.wait()
        writer.close()


async def serve(reader, writer):
    await passes.wait()
    try:
        server_reader, server_writer = await asyncio.open_unix_connection(sys.argv[2])
    except OSError:
        return writer.close()
    pair = (writer, server_writer)
    pairs.add(pair)
    await asyncio.gather(copy(reader, server_writer), copy(server_reader, writer), return_exceptions=True)
    pairs.discard(pair)


async def main():
    passes.set()
    server = await asyncio.start_unix_server(serve, sys.argv[1])
    print("ready", flush=True)
    async with server:
        while word := (await asyncio.to_thread(sys.stdin.readline)).strip():
            if word == "cut":
                passes.clear()
            else:
                if word == "drop":
                    for pair in list(pairs):
                        for writer in pair:
                            writer.transport.abort()
                passes.set()
            print(word, flush=True)


asyncio.run(main())
