-- +goose Up
-- A fourth kind of statement: a person looked at the attempt. It excludes nothing.
CREATE TABLE flags_new (
  id            INTEGER PRIMARY KEY,
  attempt_pk    INTEGER NOT NULL REFERENCES attempts (pk),
  kind          TEXT NOT NULL CHECK (kind IN ('suspected', 'invalid', 'retracted', 'audited')),
  is_set        INTEGER NOT NULL, -- 0 lifts the flag; both rows stay
  author        TEXT NOT NULL,
  reason        TEXT NOT NULL CHECK (reason <> ''),
  at_ms         INTEGER NOT NULL,
  data_revision INTEGER NOT NULL REFERENCES data_revisions (id)
);
INSERT INTO flags_new SELECT id, attempt_pk, kind, is_set, author, reason, at_ms, data_revision FROM flags;
DROP TABLE flags;
ALTER TABLE flags_new RENAME TO flags;
CREATE INDEX flags_by_attempt ON flags (attempt_pk);
