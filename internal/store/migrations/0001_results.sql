-- +goose Up
-- Results, append-only: a restated attempt gets a new row in revisions and, when
-- it becomes current, a new row in current_revisions. Times are UTC milliseconds,
-- durations milliseconds. A score that does not exist is NULL, never 0.

-- One row for each committed change of what readers see; the id is what ?asof= pins.
CREATE TABLE data_revisions (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms   INTEGER NOT NULL,
  author  TEXT NOT NULL,
  reason  TEXT NOT NULL
);

CREATE TABLE agents (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  model    TEXT NOT NULL,
  scaffold TEXT NOT NULL,
  kind     TEXT NOT NULL CHECK (kind IN ('agent', 'human', 'baseline')),
  UNIQUE (name, model, scaffold, kind)
);

-- A version of an environment's scoring: what makes two raw scores comparable.
CREATE TABLE scorers (
  id            INTEGER PRIMARY KEY,
  environment   TEXT NOT NULL,
  profile       TEXT NOT NULL,
  version       TEXT NOT NULL,
  sha256        TEXT NOT NULL DEFAULT '',
  start_raw     REAL,
  reference_raw REAL,
  note          TEXT NOT NULL DEFAULT '',
  UNIQUE (environment, profile, version)
);

-- Starting and reference solution measured on one machine (design: a runtime
-- score means nothing without it).
CREATE TABLE calibrations (
  id               TEXT PRIMARY KEY,
  environment      TEXT NOT NULL,
  profile          TEXT NOT NULL,
  scorer_sha256    TEXT NOT NULL,
  assets_sha256    TEXT NOT NULL,
  hardware_json    TEXT NOT NULL,
  hardware_class   TEXT NOT NULL,
  start_median     REAL NOT NULL,
  start_spread     REAL NOT NULL,
  start_n          INTEGER NOT NULL,
  reference_median REAL NOT NULL,
  reference_spread REAL NOT NULL,
  reference_n      INTEGER NOT NULL,
  at_ms            INTEGER NOT NULL,
  extra_json       TEXT NOT NULL DEFAULT '{}'
);

-- What an upload brought: the provenance of every revision.
CREATE TABLE uploads (
  id        INTEGER PRIMARY KEY,
  at_ms     INTEGER NOT NULL,
  author    TEXT NOT NULL,
  file_name TEXT NOT NULL,
  format    TEXT NOT NULL,
  sha256    TEXT NOT NULL,
  bytes     INTEGER NOT NULL,
  note      TEXT NOT NULL DEFAULT ''
);

CREATE TABLE attempts (
  pk          INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  dataset     TEXT NOT NULL,
  native_id   TEXT NOT NULL,
  environment TEXT NOT NULL,
  profile     TEXT NOT NULL,
  UNIQUE (dataset, native_id)
);
CREATE INDEX attempts_by_environment ON attempts (environment, profile);

CREATE TABLE revisions (
  id               INTEGER PRIMARY KEY,
  attempt_pk       INTEGER NOT NULL REFERENCES attempts (pk),
  number           INTEGER NOT NULL,
  content_sha256   TEXT NOT NULL,
  log_head         TEXT NOT NULL, -- SHA-256 of the log's last line, '' without a log
  log_bytes        INTEGER NOT NULL,
  data_revision    INTEGER NOT NULL REFERENCES data_revisions (id),
  at_ms            INTEGER NOT NULL,
  author           TEXT NOT NULL,
  note             TEXT NOT NULL,
  upload_id        INTEGER REFERENCES uploads (id),
  source_file      TEXT NOT NULL,
  source_line      INTEGER NOT NULL,
  source_sha256    TEXT NOT NULL,
  agent_id         INTEGER NOT NULL REFERENCES agents (id),
  cohort           TEXT NOT NULL,
  person_id        TEXT NOT NULL,
  scorer_version   TEXT NOT NULL,
  scorer_sha256    TEXT NOT NULL,
  calibration_id   TEXT NOT NULL,
  hardware_json    TEXT NOT NULL,
  hardware_class   TEXT NOT NULL,
  time_limit_ms    INTEGER,
  duration_ms      INTEGER,
  started_at_ms    INTEGER,
  zone_unknown     INTEGER NOT NULL,
  ended_at_ms      INTEGER,
  end_reason       TEXT NOT NULL,
  clock            TEXT NOT NULL,
  seed             INTEGER,
  cost_usd         REAL,
  tokens           INTEGER,
  badge            TEXT NOT NULL,
  start_raw        REAL,
  reference_raw    REAL,
  final_normalized REAL,
  final_raw        REAL,
  basis            TEXT NOT NULL,
  n_entries        INTEGER NOT NULL,
  n_valid          INTEGER NOT NULL,
  has_log          INTEGER NOT NULL, -- entries with known times exist
  unranked         TEXT NOT NULL,    -- why it is in no ranking, '' when it is
  extra_json       TEXT NOT NULL,
  UNIQUE (attempt_pk, number)
);
CREATE INDEX revisions_by_agent ON revisions (agent_id);

CREATE TABLE current_revisions (
  attempt_pk    INTEGER NOT NULL REFERENCES attempts (pk),
  data_revision INTEGER NOT NULL REFERENCES data_revisions (id),
  revision_id   INTEGER NOT NULL REFERENCES revisions (id),
  PRIMARY KEY (attempt_pk, data_revision)
) WITHOUT ROWID;

CREATE TABLE score_entries (
  revision_id         INTEGER NOT NULL REFERENCES revisions (id),
  seq                 INTEGER NOT NULL,
  t_ms                INTEGER,
  at_ms               INTEGER,
  raw                 REAL,
  normalized          REAL,
  basis               TEXT NOT NULL,
  valid               INTEGER NOT NULL,
  reason              TEXT NOT NULL,
  message             TEXT NOT NULL,
  submission_sha256   TEXT NOT NULL,
  scorer_sha256       TEXT NOT NULL,
  rescored_raw        REAL,
  rescored_normalized REAL,
  PRIMARY KEY (revision_id, seq)
) WITHOUT ROWID;

-- The attempt log v1 itself, in chunks that are each compressed with zstd.
CREATE TABLE attempt_logs (
  revision_id INTEGER NOT NULL REFERENCES revisions (id),
  chunk       INTEGER NOT NULL,
  log         BLOB NOT NULL,
  PRIMARY KEY (revision_id, chunk)
) WITHOUT ROWID;

CREATE TABLE flags (
  id            INTEGER PRIMARY KEY,
  attempt_pk    INTEGER NOT NULL REFERENCES attempts (pk),
  kind          TEXT NOT NULL CHECK (kind IN ('suspected', 'invalid', 'retracted')),
  is_set        INTEGER NOT NULL, -- 0 lifts the flag; both rows stay
  author        TEXT NOT NULL,
  reason        TEXT NOT NULL CHECK (reason <> ''),
  at_ms         INTEGER NOT NULL,
  data_revision INTEGER NOT NULL REFERENCES data_revisions (id)
);
CREATE INDEX flags_by_attempt ON flags (attempt_pk);
