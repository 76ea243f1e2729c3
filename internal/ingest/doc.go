// Package ingest decodes files that evaluation teams have into canonical attempt
// logs (package attemptlog) with an identity, and says exactly what is wrong with
// those it cannot decode. It is pure: no database, no network.
//
// Open tells a file's format from its content, never from its name:
//
//   - attempt log v1, one or several one after another (also the JSON lines
//     export, where a State stands before its log);
//   - the CSV export of WriteCSV;
//   - METR's runs.jsonl, early and later form;
//   - METR's task-protected-scoring score.log, CSV and JSON lines;
//   - Vivaria score logs: agent's, users' and raw view;
//   - Inspect AI .json and .eval logs;
//   - zip archives of such files.
//
// MLE-bench reports and Git LFS pointers are recognised and refused.
//
// File.Attempts yields each attempt with its header and the lines of its log.
// Content is never guessed: a score that is not a finite number is an invalid
// entry with a reason and its raw text, a raw score without known starting and
// reference scores stays raw, and what a file does not say (Attempt.NeedsMapping)
// is asked of the uploader in a Mapping. Every fault of a file is reported at
// once, up to MaxFaults. Secrets are redacted before anybody sees the lines.
//
// Line formats stream in bounded memory whatever their size; so do Inspect logs,
// of which one sample's scores are held at a time. The limits of all formats are
// the constants of this package.
//
// An attempt's identity is (Dataset, NativeID). The head of its canonical log is
// the identity of its content: equal heads mean that nothing changed. Facts of the
// source that say nothing of the attempt (weights, names of files) are therefore
// not in the log but in Attempt.Source.
package ingest
