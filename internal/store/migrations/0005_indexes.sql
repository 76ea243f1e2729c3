-- +goose Up
-- Nothing asks for attempts by environment or for revisions by agent: all are read,
-- and what is not asked for need not be kept in order.
DROP INDEX attempts_by_environment;
DROP INDEX revisions_by_agent;
