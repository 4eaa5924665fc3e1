"""Passes connections to a server on, as a process of its own, and becomes a broken network on command.

    database_proxy.py ADDRESS SERVER_ADDRESS

An address is the path of a socket, as for PostgreSQL, or a port of this machine. Reads lines from its input. Its output is the
same line for each, when it is done.

    cut             nothing passes in either direction, and no connection ends
    heal            everything that was held back passes
    drop            all connections end, and new ones pass
    refuse          all connections end, and new ones end at once, until "heal"
    slow SECONDS    everything is that long on its way, in each direction
    lead ADDRESS    new connections are to this server
    lose TEXT       the answer to the next request with this text is lost, and its connection ends
    last TEXT       the same, and then cut
"""

import asyncio
import sys

passes = asyncio.Event()
pairs = set()
delay = 0.0
refuses = False
server_address = sys.argv[2]
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
    if refuses:
        return writer.transport.abort()
    try:
        server_reader, server_writer = await (
            asyncio.open_unix_connection(server_address) if "/" in server_address
            else asyncio.open_connection("127.0.0.1", int(server_address)))
    except OSError:
        return writer.close()
    pair = (writer, server_writer)
    pairs.add(pair)
    losses = []
    await asyncio.gather(
        copy(reader, server_writer, requests=losses), copy(server_reader, writer, answers=losses), return_exceptions=True)
    pairs.discard(pair)


def obey(word, argument):
    global delay, refuses, server_address, loss
    match word:
        case "cut":
            passes.clear()
        case "heal":
            refuses = False
            passes.set()
        case "drop" | "refuse":
            refuses = word == "refuse"
            for pair in list(pairs):
                for writer in pair:
                    writer.transport.abort()
            passes.set()
        case "slow":
            delay = float(argument)
        case "lead":
            server_address = argument
        case "lose" | "last":
            loss = (argument.encode(), word == "last")


async def main():
    passes.set()
    address = sys.argv[1]
    server = await (asyncio.start_unix_server(serve, address) if "/" in address
                    else asyncio.start_server(serve, "127.0.0.1", int(address)))
    print("ready", flush=True)
    async with server:
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            obey(*line.split(" ", 1) if " " in line else (line, None))
            print(line, flush=True)


asyncio.run(main())
