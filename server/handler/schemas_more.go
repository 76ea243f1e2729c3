package handler

import "rebench/internal/analysis"

func environmentSchemas() fields {
	summary := fields{
		"id": environmentID(), "title": str("as in the paper"), "metr_family": str("task family in METR's files"),
		"direction": enum("which raw scores are better", "min", "max"), "selection": enum("which valid entry counts", "best", "last"),
		"formula": str("raw score, in words"), "task": str("what the solver is asked to do"), "rules": str("what is not allowed"),
		"hardware": str("the paper's hardware"), "start_raw": maybe(num("raw score of the starting solution")),
		"reference_raw": maybe(num("raw score of the reference solution")), "ceiling": maybeRef("Ceiling", "null where scores are not on the published scale"),
		"n_attempts": count("attempts of agents"), "n_human": count("attempts of humans"),
		"scorers": arrayOf(ref("ScorerGroup"), "comparability groups"), "groups": arrayOf(ref("AttemptGroup"), "by agent and time limit"),
	}
	return fields{
		"Ceiling": object("the authors' estimate of the best reachable score (Table 8)", fields{
			"low": num("on the scale of the published scores"), "high": num("the same, high"),
			"raw": str("raw, as printed"), "printed": str("normalized, as printed: in gpt2_qa with another reference"),
		}),
		"ScorerGroup": object("attempts that are comparable", fields{
			"profile": str("profile"), "scorer_version": str("version"), "hardware_class": str("class, \"\" when unknown"), "n": count("attempts"),
		}),
		"AttemptGroup": object("one agent's attempts at one time limit", fields{
			"agent": str("label"), "kind": kind(), "time_limit_s": integer("s"), "n": count("attempts"),
			"zeros": count("attempts at or below the starting solution, up to 1e-5"), "flagged": count("suspected attempts"), "mean": num(score), "median": num(score), "best": num(score),
			"scores": arrayOf(num(score), "ascending"), "score_at_k": arrayOf(ref("AtK"), "by k; of a single environment only"),
		}, "score_at_k"),
		"EnvironmentSummary": object("one environment", summary),
		"Environments": result("the environments of a view", fields{
			"environments": arrayOf(ref("EnvironmentSummary"), "in the suite's order"),
		}),
		"KnownFlaw": object("documented defect of an official task", fields{
			"id": str("id"), "flaw": str("what is wrong"), "kind": str("data, docs, package, scorer or security"), "source": str("where it is documented"),
			"ours": str("what the scorer of this project does about it"),
		}, "ours"),
		"KnownHack": object("documented way in which a task was gamed", fields{
			"id": str("id"), "model": str("model"), "kind": str("kind"), "count": str("how often"), "mechanism": str("how"),
			"status": str("status"), "source": str("source"), "ours": str("what the scorer of this project does about it"),
		}, "ours"),
		"Environment": object("one environment with what is on record about its scorer", with(summary, fields{
			"view": result("what the result was computed from", nil), "known_flaws": arrayOf(ref("KnownFlaw"), "flaws"),
			"reward_hacks":  arrayOf(ref("KnownHack"), "hacks"),
			"repeatability": arrayOf(ref("Measurement"), "repeated scorings of one submission by the scorer of this project"),
			"example_runs":  arrayOf(ref("ExampleRun"), "scorings of all example solutions by the scorer of this project"),
		})),
		"Measurement": object("one submission scored again and again on one machine", fields{
			"environment": str("id"), "profile": str("profile"), "solution": str("below the environment's solutions"), "date": str("day"), "machine": str("machine"),
			"start": num("calibrated raw score of the starting solution"), "reference": num("calibrated raw score of the reference"),
			"raw": arrayOf(num("raw score"), "in the order measured"),
		}),
	}
}

func humanSchemas() fields {
	return fields{
		"Percentiles": result("percentile curve of human final scores", fields{
			"n_attempts": count("attempts"), "n_by_environment": mapOf(count("attempts"), "by environment"),
			"percentile": arrayOf(count("1..100"), "percentiles"), "mean": arrayOf(num(score), "H(p), averaged over environments"),
			"ci_low": arrayOf(num(score), "lower ends"), "ci_high": arrayOf(num(score), "upper ends"),
			"by_environment": mapOf(arrayOf(num(score), "by percentile"), "by environment"),
		}),
		"CohortCell": object("one environment of a cohort", fields{
			"n": count("attempts"), "non_zero": count("attempts above 0"), "at_reference": count("attempts at 1 or above"),
			"mean": num(score), "median": num(score), "best": num(score),
		}),
		"CohortSummary": object("one set of human attempts", with(interval(), fields{
			"cohort": str("paper71 or all"), "n": count("attempts"), "score": num(score), "run_weighted_mean": num(score),
			"non_zero": count("attempts above 0"), "at_reference": count("attempts at 1 or above"),
			"by_environment": mapOf(ref("CohortCell"), "by environment"),
		})),
		"Humans": result("what is known about the human attempts", fields{
			"attempts": arrayOf(ref("AttemptRow"), "of every cohort"), "cohorts": arrayOf(ref("CohortSummary"), "cohorts"),
			"percentiles": maybeRef("Percentiles", "null when there are no human attempts"), "placeholders": count("rows of the published file that are no attempts"),
			"over_8h": count("attempts that ran longer than 8 h"), "shortest_s": integer("s"), "longest_s": integer("s"),
		}),
	}
}

func attemptSchemas() fields {
	row := fields{
		"id": str("attempt id"), "environment": environmentID(), "profile": str("profile"), "scorer_version": str("version"),
		"agent": str("label"), "kind": kind(), "cohort": str("of humans"), "time_limit_s": integer("s, 0 when unknown"),
		"duration_s": integer("s, 0 when unknown"), "score": maybe(num(score + "; null when it cannot be normalized")),
		"raw": maybe(num("raw score; null when unknown")), "cost_usd": maybe(num("US dollars; null when unknown")),
		"suspected": flag("suspected reward hack"), "excluded": flag("invalid or retracted"), "unranked": str("why it is not ranked"),
		"has_log": flag("score entries with known times exist"), "badge": badge("rung of the provenance ladder"),
	}
	filter := fields{
		"environment": environmentID(), "agent": str("label"), "kind": enum("sort of solver", "agent", "human", "baseline", "published", analysis.NotHuman), "cohort": str("cohort"), "time_limit_s": integer("s"),
		"text": str("part of id or label"), "flagged": enum("flags", "only", "none", "exclude", "include", "suspected"), "with_log": flag("only with a score log"), "environments": arrayOf(environmentID(), "of these environments"), "sort": enum("order", analysis.AttemptOrders()...),
	}
	return with(attemptParts(), fields{
		"AttemptRow": object("one attempt in a list", row, "cohort", "unranked"),
		"Attempts": result("one page of attempts", fields{
			"filter":   object("what was asked for", filter, "environment", "agent", "kind", "cohort", "time_limit_s", "text", "flagged", "sort", "with_log", "environments"),
			"attempts": arrayOf(ref("AttemptRow"), "attempts"), "total": count("attempts that match, on all pages"),
			"next_page_token": str("for page_token; absent on the last page"),
		}, "next_page_token"),
	})
}

func attemptParts() fields {
	sum := func(what string) fields { return fields{what: maybe(str("SHA-256, hexadecimal; null when unknown"))} }
	return fields{
		"Attempt": object("one attempt with everything known about it", fields{
			"id": str("attempt id"), "environment": environmentID(), "profile": str("profile"), "scorer_version": str("version"),
			"agent": str("label"), "name": str("agent's name"), "model": str("model"), "scaffold": str("scaffold"), "kind": kind(),
			"cohort": str("of humans, else \"\""), "dataset": str("dataset"), "native_id": str("id within the dataset"), "person_id": str("pseudonym, \"\" when unknown"),
			"time_limit_s": maybe(num("s")), "duration_s": maybe(num("s")), "score": maybe(num(score)), "raw": maybe(num("raw score")),
			"start_raw": maybe(num("raw score that counts as 0")), "reference_raw": maybe(num("raw score that counts as 1")),
			"basis": str("where the normalized score comes from: raw, normalized or derived"), "cost_usd": maybe(num("US dollars")),
			"tokens": maybe(integer("tokens")), "seed": maybe(integer("seed")), "started_at": maybe(when("start")), "ended_at": maybe(when("end")),
			"zone_unknown": flag("the source gave times without a zone"), "end_reason": str("why it ended, \"\" while open"), "clock": str("what elapsed times measure"),
			"hardware": maybe(mapOf(openValue(), "as logged")), "hardware_class": str("class that it is grouped by, \"\" when unknown"),
			"hardware_assumed": flag("the class follows from the profile alone: no source names the hardware"), "calibration": str("calibration id, \"\" when unknown"),
			"badge": badge("rung of the provenance ladder"), "source": ref("Source"), "extra": mapOf(str("text"), "facts of the source without a field of their own"),
			"suspected": flag("suspected reward hack"), "excluded": flag("invalid or retracted"), "unranked": str("why it is not ranked, \"\" when it is"),
			"rank": count("place among the n attempts of its cell, 0 when unranked"), "n": count("attempts of its cell"),
			"log": maybeRef("LogFacts", "null when there is no log"), "pauses": arrayOf(ref("Pause"), "pauses"), "entries": arrayOf(ref("ScoreEntry"), "score log"),
			"flags": arrayOf(ref("Flag"), "oldest first; append-only"), "revisions": arrayOf(ref("Revision"), "oldest first; append-only"),
			"data_revision": count("state of the database"), "signals": maybeRef("Signals", "null while the attempt runs"),
			"draw": maybeRef("Draw", "null unless drawn for audit this month"),
		}),
		"Source":   object("file that the attempt came from", with(sum("sha256"), fields{"file": str("name"), "line": count("line, 0 when unknown")})),
		"LogFacts": object("raw attempt log", with(sum("head"), fields{"bytes": count("size"), "url": str("where it is")})),
		"Pause":    object("a stretch that does not count", fields{"at_s": num("elapsed time, s"), "length_s": num("s"), "reason": str("reason")}),
		"ScoreEntry": object("one scoring", with(sum("submission_sha256"), sum("scorer_sha256"), fields{
			"seq": count("place in the log"), "elapsed_s": maybe(num("when scoring began, s; null when unknown")), "at": maybe(when("time")),
			"raw": maybe(num("raw score")), "normalized": maybe(num(score)), "basis": str("raw, normalized or derived"), "valid": flag("counts"),
			"reason": str("why it does not count, \"\" when it does"), "message": str("what the solver saw"),
			"rescored_raw": maybe(num("raw score on fresh draws")), "rescored": maybe(num("the same, normalized")),
		})),
		"Flag": object("one statement about the attempt", fields{
			"kind": enum("claim", "suspected", "invalid", "retracted", "audited"), "set": flag("false lifts the flag"), "author": str("who"), "reason": str("why"),
			"at": when("when"), "data_revision": count("data revision that it made"),
		}),
		"Revision": object("one version of the attempt's content", fields{
			"number": count("1, 2, ..."), "content_sha256": str("hash of the content"), "at": when("when"), "author": str("who"), "note": str("why"),
			"data_revision": count("data revision that it came with"), "current": flag("ranks"), "score": maybe(num(score)), "raw": maybe(num("raw score")),
		}),
	}
}

func methodologySchemas() fields {
	return fields{
		"PaperCheck": object("a number printed in the paper beside the one computed here", fields{
			"id": str("id"), "environment": str("as the paper calls it"), "quantity": str("quantity"), "printed": str("printed value"), "unit": str("unit"),
			"locator": str("where in the paper"), "computed": str("computed value, \"\" when it cannot be"), "verdict": enum("verdict", "agrees", "differs", "cannot be checked"),
			"reason": str("why it differs or cannot be checked"),
		}),
		"FigureCheck": object("a digitised point beside the one computed here", with(interval(), interval(), fields{
			"series": str("name in the figure"), "kind": kind(), "total_time_s": integer("s"), "allocation": str("as the paper gives it"), "score": num(score),
			"cost_usd": maybe(num("US dollars")), "figure": str("figure"), "note": str("what to know"), "computed": maybe(num(score)),
			"computed_ci_low": maybe(num(ciLow)), "computed_ci_high": maybe(num(ciHigh)),
			"verdict": enum("verdict", "agrees", "differs", "cannot be checked"), "reason": str("why"),
		})),
		"CoverageRow": object("how often nominal 95% intervals held the truth in simulations", fields{
			"regime": str("in words"), "low": num("average coverage, low"), "high": num("average coverage, high"), "worst": num("worst"), "runs": count("simulated data sets"),
		}),
		"Methodology": result("printed numbers against computed ones", fields{
			"numbers": arrayOf(ref("PaperCheck"), "numbers"), "figures": arrayOf(ref("FigureCheck"), "points of figures"), "coverage": arrayOf(ref("CoverageRow"), "coverage"),
			"n_agent_attempts": count("published rows of agents"), "n_human_attempts": count("published rows of humans"), "n_placeholders": count("rows left out"),
		}),
	}
}

func problemSchemas() fields {
	return fields{
		"ParameterFault": object("one thing wrong with the parameters", fields{
			"parameter": str("name"), "code": enum("kind of fault", "unknown_parameter", "unknown_value", "malformed", "repeated", "missing"),
			"found": str("what was given"), "expected": str("what was expected, in words"), "allowed": arrayOf(str("value"), "values that are allowed"), "hint": str("what may help"),
		}, "found", "allowed", "hint"),
		"Problem": object("an error (RFC 9457)", fields{
			"type": str("about:blank"), "title": str("status in words"), "status": integer("HTTP status"), "detail": str("what is wrong"),
			"instance": str("path"), "request_id": str("to find the request in the server's log"), "errors": arrayOf(ref("ParameterFault"), "every fault of the parameters"),
		}, "errors"),
	}
}
