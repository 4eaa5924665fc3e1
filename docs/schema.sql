-- The schema of a store, as a new file gets it; tests compare. Times are microseconds since 1970, durations are microseconds.
--
-- The version is in `PRAGMA user_version`, and what marks a file as Redial's in `PRAGMA application_id` ("RDIA").

-- Namespaces by number. Names of targets, labels, policies and idempotency keys are qualified by their namespace, so their tables
-- have no column for it.
CREATE TABLE namespaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO namespaces (id, name) VALUES (0, 'default');

-- Targets: the shard, and as JSON its record: what operators have set, its breaker if that is not closed, what its
-- pace has learned, and until when it asked to be left alone by Retry-After.
CREATE TABLE targets (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, shard INTEGER, record BLOB) STRICT;
CREATE INDEX targets_by_shard ON targets (shard);

-- What changes in the life of a call. What never changes is in `requests`: an update writes the whole row again, and rows of
-- 60 bytes let one page serve many updates (measured: a third less CPU and half the writes a call).
--
-- kind: 0 call, 1 webhook. state: 0 scheduled, 1 queued in the store, 2 in an engine's memory, 5 succeeded, 6 failed, 7 cancelled.
-- failure: why it failed (1 attempts exhausted, 2 deadline, 3 not retryable, 4 tripped, 5 blocked) in the lowest byte, and in the
-- others a hash of what it has in common with other failed calls, its target and its error (`IssueID.swift`).
-- previous_wait and total_wait: what a backoff needs to know of the waits before.
-- sum, here and in other tables: a CRC-32C of the row's other columns, with what the row belongs to (`Checksum.swift`); NULL for a row
-- of an earlier version, which is not checked.
CREATE TABLE calls (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, target_id INTEGER NOT NULL, created_at INTEGER NOT NULL,
  state INTEGER NOT NULL, due INTEGER NOT NULL, waiting INTEGER, attempts INTEGER NOT NULL,
  interruptions INTEGER NOT NULL, attempts_before INTEGER NOT NULL, round_started_at INTEGER NOT NULL,
  finished_at INTEGER, failure INTEGER, previous_wait INTEGER NOT NULL DEFAULT 0,
  total_wait INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 5, namespace INTEGER NOT NULL DEFAULT 0,
  sum INTEGER
) STRICT;
-- SQLite adds the row id, which is the call's, to every index: (namespace, kind, state) is ordered by age within.
CREATE INDEX calls_by_state ON calls (namespace, kind, state);
-- Without calls in an engine's memory. They are few, and `calls_by_state` finds them; with them here, each start of an attempt
-- would write a page for its target (measured: a quarter of all CPU with 40 targets).
CREATE INDEX calls_by_target ON calls (target_id, kind, state) WHERE state NOT IN (2, 3);
CREATE INDEX calls_due ON calls (namespace, due) WHERE state <= 1;
CREATE INDEX calls_finished ON calls (finished_at) WHERE state >= 5;
CREATE INDEX calls_failed ON calls (namespace, failure, id, finished_at) WHERE failure IS NOT NULL;
CREATE INDEX calls_queued ON calls (target_id, priority DESC) WHERE state = 1 AND waiting IS NOT 8;

-- The log: what commits have changed of calls in an engine's memory, a row for each commit. Calls are folded from here into the
-- tables, many at a time. A row has its number and that of the first row that was needed with it; other rows mean nothing, and
-- their places are used again.
CREATE TABLE call_log (place INTEGER PRIMARY KEY, changes BLOB NOT NULL) STRICT;

-- What was submitted. body_size is what the body inflates to, in bytes; NULL for one that is stored as it is. past: the attempts
-- that the call had when it came from the log, packed with checksums; no later one of the call is among them. sums: the checksum of
-- the spec in the upper half, that of the body in the lower one.
CREATE TABLE requests (id INTEGER PRIMARY KEY, spec BLOB NOT NULL, body BLOB, body_size INTEGER, past BLOB, sums INTEGER) STRICT;

-- Attempts and their answers, without the packed ones. An ordinary table with an index beside it: rows of up to 64 KiB do not belong in the interior pages
-- of a WITHOUT ROWID table (measured: bodies of 60 KB cost half as much again). sum is without the response, of which response_sum has
-- the checksum of the head in the upper half, and that of the body in the lower one.
CREATE TABLE attempts (
  id INTEGER PRIMARY KEY, call_id INTEGER NOT NULL, number INTEGER NOT NULL, started_at INTEGER NOT NULL,
  duration INTEGER NOT NULL, outcome INTEGER NOT NULL, status INTEGER, failure_code TEXT, failure_message TEXT,
  decision BLOB, truncated INTEGER, response_head BLOB, response_body BLOB, figures BLOB, response_body_size INTEGER, sum INTEGER,
  response_sum INTEGER,
  UNIQUE (call_id, number)
) STRICT;

-- Who had a call run at once or again, when and why.
CREATE TABLE retries (
  call_id INTEGER NOT NULL, at INTEGER NOT NULL, after_attempt INTEGER NOT NULL, actor TEXT, reason TEXT, sum INTEGER,
  PRIMARY KEY (call_id, at)
) STRICT, WITHOUT ROWID;

-- The labels of clients' calls. Those of a call that is removed are known by its spec.
CREATE TABLE labels (
  name TEXT NOT NULL, value TEXT NOT NULL, call_id INTEGER NOT NULL, PRIMARY KEY (name, value, call_id)
) STRICT, WITHOUT ROWID;

-- Calls with an ordering key that have not ended, and which of them has its turn. The unique index is the promise itself: no key
-- gives its turn to two calls.
CREATE TABLE turns (
  call_id INTEGER PRIMARY KEY, target_id INTEGER NOT NULL, key TEXT NOT NULL, has_turn INTEGER NOT NULL,
  namespace INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX turns_awaited ON turns (target_id, key) WHERE has_turn = 0;
CREATE INDEX turns_by_namespace ON turns (namespace) WHERE has_turn = 0;
CREATE UNIQUE INDEX turns_had ON turns (target_id, key) WHERE has_turn = 1;

-- What a repeated submission is known by.
CREATE TABLE idempotency_keys (
  key TEXT PRIMARY KEY, call_id INTEGER NOT NULL, fingerprint BLOB NOT NULL, created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, sum INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_expiry ON idempotency_keys (expires_at);
CREATE INDEX keys_by_call ON idempotency_keys (call_id);

-- API keys, webhook endpoints, versions of policies, bulk operations and statements about issues, as JSON: few.
--
-- kind: apiKey, webhookEndpoint, policy, operation, issue. A policy without a text was removed, and keeps its number from being used again.
CREATE TABLE documents (
  kind TEXT NOT NULL, id TEXT NOT NULL, content BLOB NOT NULL, sum INTEGER, PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- What the store itself has to remember, such as the secret that signs webhooks.
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- How many ended calls there are; kept, since counting them would read them all.
CREATE TABLE finished_counts (
  kind INTEGER NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (kind, state)
) STRICT, WITHOUT ROWID;

-- How calls ended and how attempts went, counted by namespace and step of time.
CREATE TABLE statistics (
  namespace INTEGER NOT NULL, step INTEGER NOT NULL, start INTEGER NOT NULL, counts TEXT NOT NULL,
  PRIMARY KEY (namespace, step, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX statistics_by_start ON statistics (step, start);

-- Who has which of the 64 shards. The time of a lease is its session's, so that one row is renewed. An expires_at of NULL means for as
-- long as its owner has the file.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, instance INTEGER NOT NULL UNIQUE, expires_at INTEGER
) STRICT;
CREATE TABLE leases (shard INTEGER PRIMARY KEY, owner INTEGER, epoch INTEGER NOT NULL) STRICT;
WITH RECURSIVE shards (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM shards WHERE shard < 63)
  INSERT INTO leases SELECT shard, NULL, 0 FROM shards;
