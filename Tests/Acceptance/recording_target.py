"""A target, as a process of its own, that writes down every request before it answers.

    recording_target.py RECORD SEED FAIL_RATE FAIL_STATUS

A line of the record is: time, path, call, attempt, webhook id, status, seconds until the answer, CRC-32 of the body; "-" for
what a request did not have. The first line of its output is its port. It answers after 0 to 20 ms, some requests with the
status of a failure, and each 50th not at all for a while.
"""

import asyncio
import os
import random
import sys
import time
import zlib

record = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
chance = random.Random(int(sys.argv[2]))
fail_rate = float(sys.argv[3])
fail_status = int(sys.argv[4])


async def serve(reader, writer):
    try:
        while True:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            at = time.monotonic()
            fields = {n.lower(): v.strip() for n, _, v in (l.partition(":") for l in lines[1:] if l)}
            body = await reader.readexactly(int(fields.get("content-length", 0)))
            is_hook = lines[0].split(" ")[1].startswith("/hook/")
            # Webhooks are retried from 5 s on, which would make the test too long.
            status = fail_status if not is_hook and chance.random() < fail_rate else 200
            pause = 0.3 if chance.random() < 0.02 else chance.uniform(0, 0.02)
            words = [f"{at:.6f}", lines[0].split(" ")[1], fields.get("idempotency-key", "-"),
                     fields.get("redial-attempt", "-"), fields.get("webhook-id", "-"), str(status), f"{pause:.6f}",
                     str(zlib.crc32(body))]
            os.write(record, (" ".join(words) + "\n").encode())
            await asyncio.sleep(pause)
            writer.write(f"HTTP/1.1 {status} .\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
