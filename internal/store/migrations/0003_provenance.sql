-- +goose Up
-- What the provenance ladder rests on, and the name that an upload was answered with.

-- 1: a machine of this server's operators, whose re-scoring counts as done here.
ALTER TABLE tokens ADD COLUMN trusted INTEGER NOT NULL DEFAULT 0;

-- Submission of the entry that gives the final score, hex SHA-256, '' when unknown.
ALTER TABLE revisions ADD COLUMN submission_sha256 TEXT NOT NULL DEFAULT '';
CREATE INDEX revisions_by_submission ON revisions (submission_sha256) WHERE badge = 're-scored';

-- The upload_id of the answer, '' for what came otherwise.
ALTER TABLE uploads ADD COLUMN ref TEXT NOT NULL DEFAULT '';
