"""The clients that field.py starts, with the packages of field_requirements.txt: a publisher and a worker for each system.

  field_clients.py publish SYSTEM PLACE
  field_clients.py work SYSTEM PLACE

A job is the descriptor that Redial takes. A worker makes its request, removes the job after a 2xx, and otherwise has it again
later. Jobs of a worker that has crashed come again, too.
"""

import asyncio
import contextlib
import json
import random
import signal
import sys
import time
from datetime import timedelta

import aiohttp
import uvloop

OUTSTANDING = 64
MAX_ATTEMPTS = 8
# A job that a worker has had for so long without a result is given to another.
LOST_AFTER = 30
HEADERS = {"content-type": "application/json"}


def backoff(attempt):
    """Seconds before the attempt after this one, with jitter."""
    return random.uniform(0, min(60, 0.5 * 1.5 ** (attempt - 1)))


class Nats:
    STREAM, SUBJECT, WORKER = "CALLS", "calls", "worker"

    async def open(self, place):
        import nats
        self.connection = await nats.connect(place)
        self.stream = self.connection.jetstream()

    async def prepare(self):
        from nats.js import api
        await self.stream.add_stream(api.StreamConfig(
            name=self.STREAM, subjects=[self.SUBJECT], retention=api.RetentionPolicy.WORK_QUEUE,
            storage=api.StorageType.FILE))
        self.subscription = await self.stream.pull_subscribe(
            self.SUBJECT, durable=self.WORKER, config=api.ConsumerConfig(ack_wait=LOST_AFTER, max_deliver=MAX_ATTEMPTS))

    async def publish(self, job):
        await self.stream.publish(self.SUBJECT, job)

    async def take(self, room):
        try:
            messages = await self.subscription.fetch(room, timeout=1)
        except TimeoutError:
            return []
        return [(message, message.data, message.metadata.num_delivered) for message in messages]

    async def done(self, message):
        await message.ack()

    async def retry(self, message, job, attempt):
        await message.nak(delay=backoff(attempt))

    async def drop(self, message):
        await message.term()

    async def left(self):
        return (await self.stream.stream_info(self.STREAM)).state.messages

    async def close(self):
        await self.connection.close()


class Redis:
    STREAM, GROUP, WORKER, LATER = "calls", "workers", "worker", "later"
    # Moves what is due back to the stream.
    DUE = """
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 100)) do
  local attempt, job = entry:match('^(%d+) %S+ (.*)$')
  redis.call('XADD', KEYS[2], '*', 'job', job, 'attempt', attempt)
  redis.call('ZREM', KEYS[1], entry)
end
"""

    async def open(self, place):
        import redis.asyncio
        # A connection for each submission that waits for its answer, and those of the worker.
        self.connection = redis.asyncio.Redis.from_url(place, protocol=2, max_connections=OUTSTANDING + 8)
        self.finished, self.flush = [], None

    async def prepare(self):
        await self.connection.xgroup_create(self.STREAM, self.GROUP, id="0", mkstream=True)
        self.due = self.connection.register_script(self.DUE)
        self.tasks = [asyncio.create_task(self.repeat(0.1, self.move_due)),
                      asyncio.create_task(self.repeat(LOST_AFTER / 2, self.claim_lost))]
        self.claimed = []

    async def repeat(self, seconds, work):
        while True:
            await asyncio.sleep(seconds)
            await work()

    async def move_due(self):
        await self.due([self.LATER, self.STREAM], [time.time()])

    async def claim_lost(self):
        self.claimed += (await self.connection.xautoclaim(
            self.STREAM, self.GROUP, self.WORKER, LOST_AFTER * 1000, count=OUTSTANDING))[1]

    async def publish(self, job):
        await self.connection.xadd(self.STREAM, {"job": job, "attempt": 1})

    async def take(self, room):
        entries, self.claimed = self.claimed, []
        if not entries:
            answer = await self.connection.xreadgroup(
                self.GROUP, self.WORKER, {self.STREAM: ">"}, count=room, block=1000)
            entries = answer[0][1] if answer else []
        return [(entry, fields[b"job"], int(fields[b"attempt"])) for entry, fields in entries]

    async def done(self, entry):
        """Removes the entry. Those that end while others are removed go together."""
        self.finished.append(entry)
        if not self.flush or self.flush.done():
            self.flush = asyncio.create_task(self.remove_finished())

    async def remove_finished(self):
        while self.finished:
            entries, self.finished = self.finished, []
            async with self.connection.pipeline(transaction=True) as together:
                together.xack(self.STREAM, self.GROUP, *entries).xdel(self.STREAM, *entries)
                await together.execute()

    async def retry(self, entry, job, attempt):
        later = f"{attempt + 1} {entry.decode()} ".encode() + job
        async with self.connection.pipeline(transaction=True) as together:
            together.zadd(self.LATER, {later: time.time() + backoff(attempt)})
            together.xack(self.STREAM, self.GROUP, entry).xdel(self.STREAM, entry)
            await together.execute()

    async def drop(self, entry):
        await self.done(entry)

    async def left(self):
        return await self.connection.xlen(self.STREAM) + await self.connection.zcard(self.LATER)

    async def close(self):
        await self.connection.aclose()


class PgQueuer:
    """A pool of connections, so that a submission need not wait for others. The worker is PgQueuer's own."""

    async def open(self, place):
        import asyncpg
        from pgqueuer import AsyncpgPoolDriver, Queries
        self.pool = await asyncpg.create_pool(place, min_size=4, max_size=OUTSTANDING)
        self.queries = Queries(AsyncpgPoolDriver(self.pool))

    async def publish(self, job):
        await self.queries.enqueue("call", job)

    async def left(self):
        return await self.pool.fetchval("SELECT count(*) FROM pgqueuer")

    async def close(self):
        await self.pool.close()

    async def work(self, deliver, stopped):
        import pgqueuer
        if not await self.queries.has_table("pgqueuer"):
            await self.queries.install()
        worker = pgqueuer.PgQueuer.from_asyncpg_pool(self.pool)

        @worker.entrypoint("call")
        async def call(job):
            if not await deliver(job.payload):
                if job.attempts + 1 >= MAX_ATTEMPTS:
                    raise RuntimeError("no attempts are left")
                raise pgqueuer.RetryRequested(timedelta(seconds=backoff(job.attempts + 1)))

        print("ready", flush=True)
        running = asyncio.create_task(worker.run(
            batch_size=OUTSTANDING, dequeue_timeout=timedelta(seconds=1), heartbeat_timeout=timedelta(seconds=LOST_AFTER)))
        await stopped.wait()
        worker.shutdown.set()
        await running


class Redial:
    """Only a publisher: the service makes the requests."""

    async def open(self, place):
        self.place = place
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=OUTSTANDING))

    async def publish(self, job):
        async with self.session.post(f"{self.place}/v1/calls", data=job, headers=HEADERS) as answer:
            await answer.read()
            if answer.status != 202:
                sys.exit(f"a submission got {answer.status}")

    async def left(self):
        async with self.session.get(f"{self.place}/metrics") as answer:
            values = dict(line.rsplit(" ", 1) for line in (await answer.text()).splitlines() if line[:1] != "#")
        ended = sum(float(value) for name, value in values.items() if name.startswith("redial_calls_finished_total"))
        return float(values["redial_calls_accepted_total"]) - ended

    async def close(self):
        await self.session.close()


class PgQueuerBatches(PgQueuer):
    """Submissions that come while others are stored go together, as in a publisher that has many jobs at hand."""

    async def open(self, place):
        await super().open(place)
        self.waiting, self.storing = [], None

    async def publish(self, job):
        stored = asyncio.get_running_loop().create_future()
        self.waiting.append((job, stored))
        if not self.storing or self.storing.done():
            self.storing = asyncio.create_task(self.store())
        await stored

    async def store(self):
        while self.waiting:
            together, self.waiting = self.waiting, []
            await self.queries.enqueue(["call"] * len(together), [job for job, _ in together], [0] * len(together))
            for _, stored in together:
                stored.set_result(None)


SYSTEMS = {"nats": Nats, "redis": Redis, "pgqueuer": PgQueuer, "pgqueuer-batches": PgQueuerBatches, "redial": Redial}


async def publish_loads(system):
    """For each load, a line of input, submits jobs and prints how many and how long each took. After another line it waits until
    the system has none left, and says so."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await publish(system, **json.loads(line))), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        while await system.left():
            await asyncio.sleep(0.02)
        print("none left", flush=True)


async def publish(system, job, prefix, seconds, rate):
    """Submits jobs at a rate, or, if that is 0, as fast as it goes."""
    before, after = job.split("JOB")
    times, count = [], 0

    async def submit():
        nonlocal count
        number, count = count, count + 1
        # The target logs this name, by which field.py knows that the job has arrived, and when.
        job = f"{before}{prefix}-{number}-{time.time():.4f}{after}".encode()
        began = time.perf_counter()
        await system.publish(job)
        times.append(time.perf_counter() - began)

    async def submit_always():
        while time.perf_counter() < end:
            await submit()

    began, first = time.perf_counter(), time.time()
    end = began + seconds
    async with asyncio.TaskGroup() as tasks:
        if rate:
            due = began
            while (due := due + random.expovariate(rate)) < end:
                await asyncio.sleep(due - time.perf_counter())
                tasks.create_task(submit())
        else:
            for _ in range(OUTSTANDING):
                tasks.create_task(submit_always())
    took = time.perf_counter() - began
    times.sort()
    return {"accepted": count, "began": first, "rate": count / took, "p50": times[count // 2] * 1000,
            "p99": times[count * 99 // 100] * 1000}


async def work(system):
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=OUTSTANDING), timeout=aiohttp.ClientTimeout(sock_connect=10, sock_read=10))

    async def deliver(job):
        """Makes the request of a job, and returns whether it was answered with a 2xx."""
        job = json.loads(job)
        try:
            async with session.request(job["method"], job["url"], headers=job["headers"], data=job["body"]) as answer:
                await answer.read()
                return 200 <= answer.status < 300
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def run(handle, job, attempt):
        if await deliver(job):
            await system.done(handle)
        elif attempt < MAX_ATTEMPTS:
            await system.retry(handle, job, attempt)
        else:
            await system.drop(handle)

    async with session:
        if isinstance(system, PgQueuer):
            await system.work(deliver, stopped)
            return
        await system.prepare()
        print("ready", flush=True)
        running = set()
        while not stopped.is_set():
            # Waits until a quarter is free, so that jobs are not taken one by one.
            while (room := OUTSTANDING - len(running)) < OUTSTANDING // 4:
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for handle, job, attempt in await system.take(room):
                task = asyncio.create_task(run(handle, job, attempt))
                running.add(task)
                task.add_done_callback(running.discard)
        if running:
            await asyncio.wait(running)


async def main():
    what, name, place = sys.argv[1:]
    system = SYSTEMS[name]()
    await system.open(place)
    if what == "work":
        await work(system)
    else:
        await publish_loads(system)
    await system.close()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(main())
