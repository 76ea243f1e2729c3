package handler

import (
	"github.com/getkin/kin-openapi/openapi3"

	"rebench/internal/rebench"
)

func uploadSchemas() fields {
	return with(mappingSchemas(), fields{
		"UploadedAttempt": object("one attempt of an upload", fields{
			"file": str("file that holds it, archive/member in an archive"), "line": count("line at which it starts; absent where lines mean nothing"),
			"attempt_id": str("attempt id"), "environment": environmentID(), "profile": enum("profile", append(profileNames(), string(rebench.ProfileTest))...),
			"agent": str("agent's name, human for people"), "revision": count("number of the attempt's revision"),
			"current": flag("false: kept as a revision that does not rank"), "score": maybe(num(score + "; null when it cannot be normalized")),
			"raw": maybe(num("raw score; null when unknown")), "unranked": str("why it is in no ranking"),
			"scorer_version": str("with environment and profile the group that the attempt is compared in"), "hardware_class": str("ranked apart by default; \"\" when unknown"),
			"quarantine": str("why a rule flags it as suspected until a person decides"),
			"stated":     str("flags that the file states and that are taken from it"),
		}, "line", "unranked", "quarantine", "stated"),
		"UploadCounts": object("how many attempts", fields{
			"created": count("new"), "revised": count("known, with other content"), "unchanged": count("known, with the same content"), "refused": count("faulty"),
		}),
		"UploadedFile": object("what one file was recognised as", fields{
			"file": str("name"), "format": str("format, told by content"), "bytes": count("size"), "attempts": count("attempts in it"),
			"redactions": count("secrets replaced before storing"), "needs_mapping": arrayOf(str("field"), "members of the mapping that it lacks"),
			"score_keys": arrayOf(str("key"), "what score_key can be"), "restated": arrayOf(str("sentence"), "how a METR file differs from what is known"),
			"warnings": arrayOf(ref("Fault"), "what is odd but stops nothing"), "errors": arrayOf(ref("Fault"), "faults"),
			"created": count("attempts"), "revised": count("attempts"), "unchanged": count("attempts"), "refused": count("attempts"),
		}, "score_keys", "restated"),
		"Fault": object("one thing wrong, or for a warning odd, in a file", fields{
			"file": str("file"), "line": count("line, from 1"), "column": count("byte column, from 1"), "field": str("field or sample"),
			"code": str("kind of fault, such as missing_mapping"), "detail": str("what was found and what was expected"), "hint": str("what to do"),
		}, "line", "column", "field", "hint"),
		"Upload": object("what an upload did or, with dry_run, would do", fields{
			"upload_id": str("id under which the upload is in the audit trail"), "dry_run": flag("nothing was done"), "data_revision": maybe(count("state of the database after it; null with dry_run")),
			"counts": ref("UploadCounts"), "held": flag("restated scores were kept back because their file is normalized differently"),
			"created": arrayOf(ref("UploadedAttempt"), "new attempts"), "revised": arrayOf(ref("UploadedAttempt"), "attempts with a new revision"),
			"unchanged": arrayOf(ref("UploadedAttempt"), "attempts that are known with this content"),
			"errors":    arrayOf(ref("Fault"), "faults of what was left out, with partial"), "files": arrayOf(ref("UploadedFile"), "the files"),
		}),
		"UploadProblem": object("an upload that was refused (RFC 9457)", fields{
			"type": str("about:blank"), "title": str("status in words"), "status": integer("HTTP status"), "detail": str("what is wrong"),
			"instance": str("path"), "request_id": str("to find the request in the server's log"), "code": str("code of the first fault"),
			"errors": arrayOf(ref("Fault"), "every fault"), "files": arrayOf(ref("UploadedFile"), "what the files were recognised as"),
		}, "code", "files"),
		"FlagAnswer": object("a statement as it was appended", fields{
			"attempt_id": str("attempt id"), "kind": enum("claim", texts(flagKinds)...), "set": flag("false lifted the flag"), "author": str("name of the token"),
			"data_revision": count("data revision that it made"),
		}),
		"CurrentAnswer": object("the revision that ranks now", fields{
			"attempt_id": str("attempt id"), "revision": count("its number"), "data_revision": count("data revision that it made"),
		}),
	})
}

// mappingSchemas describe the part `mapping` of an upload.
func mappingSchemas() fields {
	m := fields{
		"attempt_id": str("names the attempt for good, where the file does not"), "environment": environmentID(),
		"profile":    enum("profile", append(profileNames(), string(rebench.ProfileTest))...),
		"agent":      object("the AI agent", fields{"name": str("name"), "model": str("model"), "scaffold": str("scaffold")}, "model", "scaffold"),
		"human":      object("the human cohort, in place of an agent", fields{"cohort": str("cohort; no names of people"), "source": str("source")}, "source"),
		"started_at": str("start: RFC 3339, or local time in zone"), "zone": str("of the file's local times: IANA name, UTC offset, or unknown"),
		"score_key": str("scorer, dict key or scorer/key of an Inspect log"), "task": str("confirms that an Inspect log of a task with this name is of the environment"), "dataset": str("what identities are made in, where it is not the format's own"),
		"time_limit_s": num("time limit, s"),
		"scoring": object("known starting and reference scores; without them raw scores stay raw", fields{
			"direction": enum("which raw scores are better", "min", "max"), "start_raw": num("counts as 0"), "reference_raw": num("counts as 1"),
		}, "direction", "start_raw", "reference_raw"),
	}
	var optional []string
	for name := range m {
		optional = append(optional, name)
	}
	all := with(m, fields{"files": mapOf(openapi3.NewSchemaRef("", object("answers for one file", m, optional...).Value), "answers for single files, by name")})
	return fields{"Mapping": object("what files do not say themselves; every member is optional", all, append(optional, "files")...)}
}
