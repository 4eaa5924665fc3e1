-- The schema of a store at version 22, as the migrations make it. Tests compare it.

CREATE TABLE attempts (
  id INTEGER PRIMARY KEY, call_id INTEGER NOT NULL, number INTEGER NOT NULL, started_at INTEGER NOT NULL,
  duration INTEGER NOT NULL, outcome INTEGER NOT NULL, status INTEGER, failure_code TEXT, failure_message TEXT,
  decision BLOB, truncated INTEGER, response_head BLOB, response_body BLOB, figures BLOB, response_body_size INTEGER, UNIQUE (call_id, number)
) STRICT;

CREATE TABLE calls (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, target_id INTEGER NOT NULL, created_at INTEGER NOT NULL,
  state INTEGER NOT NULL, due INTEGER NOT NULL, waiting INTEGER, attempts INTEGER NOT NULL,
  interruptions INTEGER NOT NULL, attempts_before INTEGER NOT NULL, round_started_at INTEGER NOT NULL,
  finished_at INTEGER, failure INTEGER
, previous_wait INTEGER NOT NULL DEFAULT 0, total_wait INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 5, namespace INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX calls_by_state ON calls (namespace, kind, state);
CREATE INDEX calls_by_target ON calls (target_id, kind, state) WHERE state NOT IN (2, 3);
CREATE INDEX calls_due ON calls (namespace, due) WHERE state <= 1;
CREATE INDEX calls_finished ON calls (finished_at) WHERE state >= 5;
CREATE INDEX calls_queued ON calls (target_id, priority DESC) WHERE state = 1 AND waiting IS NOT 8;

CREATE TABLE documents (
  kind TEXT NOT NULL, id TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE finished_counts (
  kind INTEGER NOT NULL, state INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (kind, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  key TEXT PRIMARY KEY, call_id INTEGER NOT NULL, fingerprint BLOB NOT NULL, created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_call ON idempotency_keys (call_id);
CREATE INDEX keys_by_expiry ON idempotency_keys (expires_at);

CREATE TABLE labels (
  name TEXT NOT NULL, value TEXT NOT NULL, call_id INTEGER NOT NULL, PRIMARY KEY (name, value, call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (shard INTEGER PRIMARY KEY, owner INTEGER, epoch INTEGER NOT NULL) STRICT;

CREATE TABLE namespaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE operations (
  id INTEGER PRIMARY KEY, request BLOB NOT NULL, created_at INTEGER NOT NULL, state INTEGER NOT NULL,
  finished_at INTEGER, matched INTEGER NOT NULL, done INTEGER NOT NULL, skipped INTEGER NOT NULL, cursor INTEGER
, namespace TEXT NOT NULL DEFAULT 'default') STRICT;

CREATE TABLE policies (
  name TEXT NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL, policy BLOB,
  PRIMARY KEY (name, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (id INTEGER PRIMARY KEY, spec BLOB NOT NULL, body BLOB, body_size INTEGER) STRICT;

CREATE TABLE retries (
  call_id INTEGER NOT NULL, at INTEGER NOT NULL, after_attempt INTEGER NOT NULL, actor TEXT, reason TEXT,
  PRIMARY KEY (call_id, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, instance INTEGER NOT NULL UNIQUE, expires_at INTEGER
) STRICT;

CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE statistics (
  namespace INTEGER NOT NULL, step INTEGER NOT NULL, start INTEGER NOT NULL, counts TEXT NOT NULL,
  PRIMARY KEY (namespace, step, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX statistics_by_start ON statistics (step, start);

CREATE TABLE targets (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, breaker_until INTEGER, breaker_trips INTEGER
, overrides BLOB, paused INTEGER NOT NULL DEFAULT 0, tripped INTEGER NOT NULL DEFAULT 0, shard INTEGER) STRICT;
CREATE INDEX targets_by_shard ON targets (shard);

CREATE TABLE turns (
  call_id INTEGER PRIMARY KEY, target_id INTEGER NOT NULL, key TEXT NOT NULL, has_turn INTEGER NOT NULL
, namespace INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX turns_awaited ON turns (target_id, key) WHERE has_turn = 0;
CREATE INDEX turns_by_namespace ON turns (namespace) WHERE has_turn = 0;
CREATE UNIQUE INDEX turns_had ON turns (target_id, key) WHERE has_turn = 1;

CREATE TABLE unfinished_counts (
  shard INTEGER NOT NULL, namespace INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (shard, namespace)
) STRICT, WITHOUT ROWID;
