-- +goose Up
-- Who may write, what was written, and the state of uploads and live attempts.

CREATE TABLE tokens (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  scope        TEXT NOT NULL CHECK (scope IN ('upload', 'admin')),
  hash         TEXT NOT NULL UNIQUE, -- hex SHA-256 of the token; the token itself is not kept
  created_ms   INTEGER NOT NULL,
  revoked_ms   INTEGER,
  last_used_ms INTEGER
);

-- Append-only: every change and every refused attempt to change.
CREATE TABLE audit_events (
  id     INTEGER PRIMARY KEY,
  at_ms  INTEGER NOT NULL,
  actor  TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  detail TEXT NOT NULL
);

-- Answers to repeat for an Idempotency-Key. A row without a response is an
-- upload in progress or one that died with the server.
CREATE TABLE idempotency_keys (
  token_id       INTEGER NOT NULL REFERENCES tokens (id),
  key            TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  at_ms          INTEGER NOT NULL,
  status         INTEGER,
  response       BLOB,
  PRIMARY KEY (token_id, key)
) WITHOUT ROWID;

-- Mappings that uploaders saved under a name.
CREATE TABLE mappings (
  name       TEXT PRIMARY KEY,
  author     TEXT NOT NULL,
  at_ms      INTEGER NOT NULL,
  mapping    TEXT NOT NULL
);

-- Attempts that a runner is streaming: whole lines, acknowledged one by one. At
-- the end the log becomes a revision; the lines stay until then.
CREATE TABLE live_attempts (
  id         TEXT PRIMARY KEY,
  token_id   INTEGER NOT NULL REFERENCES tokens (id),
  started_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  seq        INTEGER NOT NULL, -- of the last line
  head       TEXT NOT NULL,    -- SHA-256 of the last line
  ended      INTEGER NOT NULL
);

CREATE TABLE live_lines (
  attempt_id TEXT NOT NULL REFERENCES live_attempts (id),
  seq        INTEGER NOT NULL,
  line       BLOB NOT NULL,
  at_ms      INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, seq)
) WITHOUT ROWID;

-- Attempts that somebody asked a runner to make.
CREATE TABLE runs (
  id           INTEGER PRIMARY KEY,
  at_ms        INTEGER NOT NULL,
  author       TEXT NOT NULL,
  environment  TEXT NOT NULL,
  profile      TEXT NOT NULL,
  agent        TEXT NOT NULL,
  time_limit_s INTEGER NOT NULL,
  attempts     INTEGER NOT NULL,
  parallel     INTEGER NOT NULL,
  seed         INTEGER NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('queued', 'claimed', 'running', 'done', 'failed', 'cancelled')),
  claimed_by   TEXT NOT NULL DEFAULT '',
  updated_ms   INTEGER NOT NULL,
  message      TEXT NOT NULL DEFAULT '',
  attempt_ids  TEXT NOT NULL DEFAULT '[]'
);
