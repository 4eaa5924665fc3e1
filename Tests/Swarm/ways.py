"""What lies between the service and others: ways that can be cut, and a proxy (SOCKS 5, RFC 1928) to all targets."""

import asyncio
import socket

from networks import Network, PeerNetwork, Way
from processes import free_port


class Ways:
    """To the database and to the other instances, for each instance, and to the first target, for all: by their names."""

    def __init__(self, database, instances, target_port):
        self.database, self.by_name, self.target_port = database, {}, free_port()
        self.by_name["target"] = Way(self.target_port, target_port)
        for number in range(instances if database else 0):
            self.by_name[f"database {number}"], self.by_name[f"peer {number}"] = Network(database), PeerNetwork()

    def location(self, number):
        return self.by_name[f"database {number}"].url if self.database else None

    def peer(self, number, port):
        """The flags of an instance that others reach by its way."""
        if not self.database:
            return []
        self.by_name[f"peer {number}"].tell("lead", port)
        return ["--peer-url", self.by_name[f"peer {number}"].url]

    def lead_to(self, database):
        """New connections are to this database."""
        for name, way in self.by_name.items():
            if name.startswith("database"):
                way.lead_to(database)

    @property
    def pids(self):
        return [way.process.pid for way in self.by_name.values()]

    def end(self):
        for way in self.by_name.values():
            way.end()


class Proxy:
    """A proxy for the protocol that knows nothing of HTTP: each connection names its own target."""

    def __init__(self, loop):
        self.port, self.seen = free_port(), []
        self.server = asyncio.run_coroutine_threadsafe(asyncio.start_server(self.serve, "127.0.0.1", self.port), loop).result()

    @property
    def url(self):
        return f"socks5h://127.0.0.1:{self.port}"

    async def serve(self, reader, writer):
        try:
            await reader.readexactly((await reader.readexactly(2))[1])
            writer.write(b"\x05\x00")
            _, command, _, kind = await reader.readexactly(4)
            host = await reader.readexactly(4 if kind == 1 else 16 if kind == 4 else (await reader.readexactly(1))[0])
            port = int.from_bytes(await reader.readexactly(2), "big")
            name = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, host) if kind in (1, 4) else host.decode()
            target_reader, target_writer = await asyncio.open_connection(name, port)
        except (OSError, asyncio.IncompleteReadError):
            # Not allowed by the rules; the target is not there.
            writer.write(b"\x05\x05\x00\x01" + bytes(6))
            return writer.close()
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await asyncio.gather(self.copy(reader, target_writer, self.seen), self.copy(target_reader, writer, []))

    async def copy(self, reader, writer, seen):
        try:
            while data := await reader.read(65536):
                seen.append(data)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    def end(self):
        self.server.get_loop().call_soon_threadsafe(self.server.close)
