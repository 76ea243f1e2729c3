package ingest

import (
	"bytes"
	"strings"
)

// Format is a kind of file, told by its content.
type Format string

// Formats that are recognised. The last group is recognised to be refused with
// a reason.
const (
	FormatAttemptLog  Format = "attempt-log"     // one attempt log v1, or several one after another
	FormatAttemptCSV  Format = "attempt-csv"     // WriteCSV's export
	FormatMETRRuns    Format = "metr-runs"       // METR runs.jsonl, early and later form
	FormatScoreLog    Format = "score-log"       // METR task-protected-scoring score.log, CSV
	FormatScoreLogNew Format = "score-log-jsonl" // the same since it writes JSON lines
	FormatVivaria     Format = "vivaria"         // Vivaria getScoreLog, agent's, users' and raw views
	FormatInspectJSON Format = "inspect-json"    // Inspect AI .json log
	FormatInspectEval Format = "inspect-eval"    // Inspect AI .eval log (a zip archive)
	FormatArchive     Format = "archive"         // zip archive of files of the other formats

	FormatEmpty    Format = "empty"
	FormatLFS      Format = "git-lfs-pointer"
	FormatMLEBench Format = "mle-bench"
	FormatPacked   Format = "packed" // gzip, zstd, xz, tar and the like
	FormatUnknown  Format = "unknown"
)

// zip archives are told apart by their directory, which Open reads.
const formatZip Format = "zip"

// Detect tells a file's format from its first bytes; 64 KiB are enough. For a
// zip archive it returns FormatArchive: only its directory, which Open reads,
// tells an Inspect log from an archive of files.
func Detect(head []byte) Format {
	f := detect(head)
	if f == formatZip {
		return FormatArchive
	}
	return f
}

func detect(head []byte) Format {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if f := detectMagic(head); f != "" {
		return f
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(text) == 0:
		return FormatEmpty
	case bytes.HasPrefix(text, []byte("version https://git-lfs.github.com/spec/")):
		return FormatLFS
	case text[0] == '{':
		return detectObject(text)
	case text[0] == '[':
		return detectArray(text)
	}
	return detectCSV(text)
}

func detectMagic(head []byte) Format {
	for _, m := range []struct {
		magic  string
		format Format
	}{
		{"PK\x03\x04", formatZip}, {"PK\x05\x06", formatZip}, {"PK\x07\x08", formatZip},
		{"\x1f\x8b", FormatPacked}, {"\x28\xb5\x2f\xfd", FormatPacked}, {"\xfd7zXZ\x00", FormatPacked},
		{"BZh", FormatPacked}, {"7z\xbc\xaf\x27\x1c", FormatPacked}, {"Rar!\x1a\x07", FormatPacked},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.format
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return FormatPacked
	}
	return ""
}

// keys are the top-level keys of an object as far as the head shows them, with
// the text of their string values.
type keys map[string]string

func (k keys) has(names ...string) bool {
	for _, n := range names {
		if _, ok := k[n]; !ok {
			return false
		}
	}
	return true
}

func (k keys) any(names ...string) bool {
	for _, n := range names {
		if _, ok := k[n]; ok {
			return true
		}
	}
	return false
}

// topKeys reads an object that may be cut off.
func topKeys(text []byte) keys {
	var j jsonReader
	j.resetBytes(text, 1)
	k := keys{}
	j.object(func(key string) {
		k[key] = ""
		if j.peek() == '"' {
			k[key], _ = j.str(256)
		}
	})
	return k
}

func detectObject(text []byte) Format {
	k := topKeys(text)
	switch {
	case k["format"] == "attempt-log" || k.has("type", "seq", "prev") || k["type"] == stateType:
		return FormatAttemptLog
	case k.has("task_id") && k.any("run_id", "task_family") && k.any("score", "score_cont", "score_binarized", "alias"):
		return FormatMETRRuns
	case k.has("competition_reports") || k.has("competition_id", "submission_exists"):
		return FormatMLEBench
	case k.has("eval") && k.any("status", "version", "plan", "samples") || k.has("version", "status"):
		return FormatInspectJSON
	case k.has("timestamp", "score"):
		return FormatScoreLogNew
	case k.any("scoredAt", "elapsedSeconds", "elapsedTime", "scoreLog") || k.has("result"):
		return FormatVivaria
	}
	return FormatUnknown
}

func detectArray(text []byte) Format {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	if len(rest) == 0 {
		return FormatUnknown
	}
	switch rest[0] {
	case ']': // the score log of a branch that has not started
		return FormatVivaria
	case '{':
		switch f := detectObject(rest); f {
		case FormatVivaria, FormatMLEBench:
			return f
		}
		if topKeys(rest).has("score", "message") {
			return FormatVivaria
		}
	}
	return FormatUnknown
}

func detectCSV(text []byte) Format {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	header := strings.TrimRight(strings.ReplaceAll(string(line), `"`, ""), "\r")
	switch {
	case header == "timestamp,score,message,details" || strings.HasPrefix(header, "timestamp,score,message,details,"):
		return FormatScoreLog
	case strings.HasPrefix(header, strings.Join(csvColumns[:4], ",")):
		return FormatAttemptCSV
	}
	return FormatUnknown
}
