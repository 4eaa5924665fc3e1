"""Passes connections to PostgreSQL on, as a process of its own, and becomes a broken network on command.

    database_proxy.py SOCKET SERVER_SOCKET

Reads lines from its input. Its output is the same line for each, when it is done.

    cut             nothing passes in either direction, and no connection ends
    heal            everything that was held back passes
    drop            all connections end, and new ones pass
    slow SECONDS    everything is that long on its way, in each direction
    lead SOCKET     new connections are to this server
    lose TEXT       the answer to the next request with this text is lost, and its connection ends
    last TEXT       the same, and then cut
"""

import asyncio
import sys

passes = asyncio.Event()
pairs = set()
delay = 0.0
server_socket = sys.argv[2]
# The text in a request whose answer is lost, and whether everything is cut then.
loss = None


async def copy(reader, writer, requests=None, answers=None):
    """Copies one direction. `requests` is there for the way to the server, `answers` for the way back; both are one list of
    the losses of this connection."""
    global loss
    on_its_way = asyncio.Queue()
    arrival = asyncio.create_task(arrive(on_its_way, writer))
    try:
        while data := await reader.read(65536):
            if requests is not None and loss and loss[0] in data:
                requests.append(loss[1])
                loss = None
            if answers:
                if answers[0]:
                    passes.clear()
                return writer.transport.abort()
            on_its_way.put_nowait((asyncio.get_running_loop().time() + delay, data))
    except OSError:
        pass
    finally:
        on_its_way.put_nowait((asyncio.get_running_loop().time() + delay, None))
        await arrival


async def arrive(on_its_way, writer):
    """What is sent meanwhile is on its way at the same time: a slow network has no less room."""
    try:
        while True:
            at, data = await on_its_way.get()
            await asyncio.sleep(max(0, at - asyncio.get_running_loop().time()))
            await passes.wait()
            if data is None:
                break
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer):
    await passes.wait()
    try:
        server_reader, server_writer = await asyncio.open_unix_connection(server_socket)
    except OSError:
        return writer.close()
    pair = (writer, server_writer)
    pairs.add(pair)
    losses = []
    await asyncio.gather(
        copy(reader, server_writer, requests=losses), copy(server_reader, writer, answers=losses), return_exceptions=True)
    pairs.discard(pair)


def obey(word, argument):
    global delay, server_socket, loss
    match word:
        case "cut":
            passes.clear()
        case "heal":
            passes.set()
        case "drop":
            for pair in list(pairs):
                for writer in pair:
                    writer.transport.abort()
            passes.set()
        case "slow":
            delay = float(argument)
        case "lead":
            server_socket = argument
        case "lose" | "last":
            loss = (argument.encode(), word == "last")


async def main():
    passes.set()
    server = await asyncio.start_unix_server(serve, sys.argv[1])
    print("ready", flush=True)
    async with server:
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            obey(*line.split(" ", 1) if " " in line else (line, None))
            print(line, flush=True)


asyncio.run(main())
