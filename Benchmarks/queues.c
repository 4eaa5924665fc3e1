// The queues in PostgreSQL that the store is compared with in the same run, and what the store's fence costs.
//
// lean: one table with the two indexes that job queues such as River and Oban have: for fetching, and for removing what has
// ended. Each instance is a process with a connection that inserts 100 jobs with one statement, fetches 100 with SKIP LOCKED
// with another, and completes them with a third. single: the same, job by job, by several processes an instance.
// They make no requests: all that their processes do is to wait for the database. Prints seconds, jobs, and the CPU of the
// processes in seconds.
//
//   queues lean|single CONNINFO PROCESSES JOBS PAYLOAD_BYTES
//
// fence: makes a small change alone, and behind the store's fence, in alternating rounds; behind the fence with the statement
// that shortens the ledger after each thousand. Prints the CPU of the server process for one change, in microseconds, without
// and with the fence. Nothing waits for the disk, because only the CPU is of interest. The tables are the store's.
//
//   queues fence CONNINFO ROUNDS FILE_WITH_THE_FENCE FILE_WITH_THE_TRIM
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 100, FENCED = 200, INT8 = 20, BYTEA = 17 };

static const char *insert_many =
    "INSERT INTO jobs (payload) SELECT * FROM unnest($1::bytea[])";
static const char *fetch =
    "WITH locked AS (SELECT id FROM jobs WHERE state = 0 AND queue = 'default' AND scheduled_at <= now()"
    "  ORDER BY priority, scheduled_at, id LIMIT $1::int8 FOR UPDATE SKIP LOCKED)"
    " UPDATE jobs SET state = 1, attempt = attempt + 1, attempted_at = now(), attempted_by = pg_backend_pid()"
    " FROM locked WHERE jobs.id = locked.id RETURNING jobs.id, jobs.payload";
static const char *complete =
    "UPDATE jobs SET state = 2, finished_at = now() WHERE id = ANY($1::int8[]) AND state = 1";

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static PGconn *connected(const char *where) {
  PGconn *connection = PQconnectdb(where);
  if (PQstatus(connection) != CONNECTION_OK) {
    fprintf(stderr, "queues: %s", PQerrorMessage(connection));
    exit(1);
  }
  return connection;
}

static PGresult *checked(PGconn *connection, PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    fprintf(stderr, "queues: %s", PQerrorMessage(connection));
    exit(1);
  }
  return result;
}

static void run(PGconn *connection, const char *text) { PQclear(checked(connection, PQexec(connection, text))); }

static void prepare(PGconn *connection, const char *name, const char *text) {
  PQclear(checked(connection, PQprepare(connection, name, text, 0, 0)));
}

// Runs a prepared statement with arguments in binary.
static PGresult *made(PGconn *connection, const char *name, int count, const char *const *values, const int *lengths) {
  static const int binary[3] = {1, 1, 1};
  return checked(connection, PQexecPrepared(connection, name, count, values, lengths, binary, 1));
}

// ---- Arrays as `array_recv` reads them: dimensions, whether there are NULLs, type, count, lower bound, elements.

struct array {
  char *bytes;
  size_t size;
};

static void put(struct array *array, const void *bytes, size_t size) {
  memcpy(array->bytes + array->size, bytes, size);
  array->size += size;
}

static void put_number(struct array *array, uint32_t number) {
  number = htonl(number);
  put(array, &number, sizeof number);
}

static struct array begun(uint32_t type, uint32_t count, size_t element) {
  struct array array = {malloc(20 + count * (4 + element)), 0};
  uint32_t head[5] = {1, 0, type, count, 1};
  for (int i = 0; i < 5; i++) put_number(&array, head[i]);
  return array;
}

static struct array payloads(uint32_t count, size_t size) {
  char *payload = malloc(size);
  // It does not compress well, as descriptors with identities do not.
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < size; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    payload[i] = (char)(' ' + state % 95);
  }
  struct array array = begun(BYTEA, count, size);
  for (uint32_t i = 0; i < count; i++) {
    put_number(&array, (uint32_t)size);
    put(&array, payload, size);
  }
  free(payload);
  return array;
}

// ---- The queue.

// Inserts, fetches and completes until so many jobs are done. Another process may fetch what this one has inserted.
static void work(const char *where, long jobs, int batch, size_t size) {
  PGconn *connection = connected(where);
  // A warm server knows that the index has the order; one that has no statistics yet would sort.
  run(connection, "SET enable_sort = off");
  run(connection, "SET enable_bitmapscan = off");
  run(connection, "SET enable_seqscan = off");
  prepare(connection, "insert", insert_many);
  prepare(connection, "fetch", fetch);
  prepare(connection, "complete", complete);
  struct array new = payloads((uint32_t)batch, size);
  uint64_t limit = htobe64((uint64_t)batch);
  const char *inserted[1] = {new.bytes}, *limited[1] = {(char *)&limit};
  int inserted_size[1] = {(int)new.size}, limited_size[1] = {sizeof limit};
  for (long done = 0; done < jobs;) {
    PQclear(made(connection, "insert", 1, inserted, inserted_size));
    PGresult *rows = made(connection, "fetch", 1, limited, limited_size);
    int count = PQntuples(rows);
    if (count > 0) {
      struct array ids = begun(INT8, (uint32_t)count, 8);
      for (int i = 0; i < count; i++) {
        put_number(&ids, 8);
        put(&ids, PQgetvalue(rows, i, 0), 8);
      }
      const char *fetched[1] = {ids.bytes};
      int fetched_size[1] = {(int)ids.size};
      PQclear(made(connection, "complete", 1, fetched, fetched_size));
      free(ids.bytes);
    }
    PQclear(rows);
    done += count;
  }
  PQfinish(connection);
}

static void queue(const char *where, int processes, long jobs, int batch, size_t size) {
  PGconn *connection = connected(where);
  run(connection, "SET client_min_messages = warning");
  run(connection,
      "CREATE TABLE IF NOT EXISTS jobs (id bigserial PRIMARY KEY, state int2 NOT NULL DEFAULT 0,"
      " queue text NOT NULL DEFAULT 'default', priority int2 NOT NULL DEFAULT 1, attempt int2 NOT NULL DEFAULT 0,"
      " max_attempts int2 NOT NULL DEFAULT 25, created_at timestamptz NOT NULL DEFAULT now(),"
      " scheduled_at timestamptz NOT NULL DEFAULT now(), attempted_at timestamptz, attempted_by int4,"
      " finished_at timestamptz, payload bytea NOT NULL)");
  run(connection, "CREATE INDEX IF NOT EXISTS jobs_fetching ON jobs (state, queue, priority, scheduled_at, id)");
  run(connection, "CREATE INDEX IF NOT EXISTS jobs_finished ON jobs (state, finished_at) WHERE finished_at IS NOT NULL");
  PQfinish(connection);
  double began = seconds(CLOCK_MONOTONIC);
  for (int i = 0; i < processes; i++) {
    pid_t child = fork();
    if (child < 0) perror("queues: fork"), exit(1);
    if (child == 0) work(where, jobs / processes, batch, size), exit(0);
  }
  int status;
  while (wait(&status) > 0)
    if (status != 0) exit(1);
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
               + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  printf("%f %ld %f\n", seconds(CLOCK_MONOTONIC) - began, jobs / processes * processes, cpu);
}

// ---- The fence.

// CPU that a process has taken, in microseconds.
static double taken(int process) {
  char path[64];
  unsigned long long nanoseconds = 0;
  snprintf(path, sizeof path, "/proc/%d/schedstat", process);
  FILE *file = fopen(path, "r");
  if (!file || fscanf(file, "%llu", &nanoseconds) != 1) perror(path), exit(1);
  fclose(file);
  return (double)nanoseconds / 1000;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Sends statements as one transaction, as the store does, and waits for its end. Sequence 0: without a fence.
static void transact(PGconn *connection, uint64_t sequence) {
  uint64_t one = htobe64(1), place = htobe64(sequence);
  const char *values[3] = {(char *)&one, (char *)&one, (char *)&place};
  int lengths[3] = {8, 8, 8}, binary[3] = {1, 1, 1}, sent = 1;
  if (sequence > 0) sent &= PQsendQueryPrepared(connection, "fence", 3, values, lengths, binary, 1);
  sent &= PQsendQueryPrepared(connection, "change", 0, 0, 0, 0, 1);
  if (sequence > 0 && sequence % 1000 == 0)
    sent &= PQsendQueryPrepared(connection, "trim", 2, values + 1, lengths, binary, 1);
  if (!sent || !PQpipelineSync(connection)) {
    fprintf(stderr, "queues: %s", PQerrorMessage(connection));
    exit(1);
  }
  for (int synced = 0; !synced;) {
    PGresult *result = PQgetResult(connection);
    if (!result) continue;
    synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    if (!synced) checked(connection, result);
    PQclear(result);
  }
}

static void prepare_file(PGconn *connection, const char *name, const char *path) {
  static char text[16384];
  FILE *file = fopen(path, "r");
  size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (size == 0) perror(path), exit(1);
  fclose(file);
  text[size] = 0;
  prepare(connection, name, text);
}

static void fence(const char *where, int rounds, const char *fence_path, const char *trim_path) {
  PGconn *connection = connected(where);
  run(connection, "SET search_path = redial");
  run(connection, "SET synchronous_commit = off");
  run(connection, "CREATE TABLE public.changes (n int8)");
  run(connection, "INSERT INTO sessions (id, instance, conn, version) VALUES (1, 1000000, 1, '')");
  run(connection, "INSERT INTO commits (session, seq) VALUES (1, 0)");
  prepare_file(connection, "fence", fence_path);
  prepare_file(connection, "trim", trim_path);
  prepare(connection, "change", "INSERT INTO public.changes VALUES (1)");
  int process = PQbackendPID(connection);
  double *costs[2] = {calloc((size_t)rounds, sizeof(double)), calloc((size_t)rounds, sizeof(double))};
  uint64_t sequence = 0;
  PQenterPipelineMode(connection);
  // The round before the first is not counted: it makes the plans.
  for (int i = -1; i < rounds; i++) {
    for (int fenced = 0; fenced < 2; fenced++) {
      double before = taken(process);
      for (int n = 0; n < FENCED; n++) transact(connection, fenced ? ++sequence : 0);
      if (i >= 0) costs[fenced][i] = (taken(process) - before) / FENCED;
    }
  }
  PQexitPipelineMode(connection);
  run(connection, "DROP TABLE public.changes");
  run(connection, "DELETE FROM commits WHERE session = 1");
  run(connection, "DELETE FROM sessions WHERE id = 1");
  PQfinish(connection);
  for (int fenced = 0; fenced < 2; fenced++) {
    qsort(costs[fenced], (size_t)rounds, sizeof(double), ascending);
    printf("%f%c", costs[fenced][rounds / 2], fenced ? '\n' : ' ');
  }
}

int main(int count, char **arguments) {
  if (count == 6 && strcmp(arguments[1], "lean") == 0) {
    queue(arguments[2], atoi(arguments[3]), atol(arguments[4]), BATCH, (size_t)atol(arguments[5]));
  } else if (count == 6 && strcmp(arguments[1], "single") == 0) {
    queue(arguments[2], atoi(arguments[3]), atol(arguments[4]), 1, (size_t)atol(arguments[5]));
  } else if (count == 6 && strcmp(arguments[1], "fence") == 0) {
    fence(arguments[2], atoi(arguments[3]), arguments[4], arguments[5]);
  } else {
    fprintf(stderr, "usage: queues lean|single CONNINFO PROCESSES JOBS BYTES, or queues fence CONNINFO ROUNDS FILE FILE\n");
    return 2;
  }
  return 0;
}
