package handler

import "rebench/internal/validity"

// validitySchemas are of the catalogue of defences and the rules of quarantine.
func validitySchemas() fields {
	action := func() fields {
		return fields{"action": enum("quarantine flags the attempt as suspected until a person decides; note is a fact on its page",
			string(validity.Quarantine), string(validity.Note))}
	}
	state := func(description string) fields {
		return fields{"state": enum(description, texts(validity.States())...)}
	}
	return fields{
		"Validity": result("what is done about gamed and wrong scores", fields{
			"filter":     object("what was asked for", with(state("state of mechanisms"), fields{"environment": environmentID()}), "environment", "state"),
			"mechanisms": arrayOf(ref("Mechanism"), "that match the filter"), "total": count("mechanisms without the filter"),
			"states": arrayOf(ref("StateCount"), "counts over all mechanisms"), "records": arrayOf(ref("ValidityRecord"), "all public records"),
			"attacks": count("example solutions that attack a scorer, scored by tests"), "rules": ref("ValidityRules"),
			"example_runs": arrayOf(ref("ExampleRun"), "last scorings of all example solutions in a profile that measures"),
			"reached":      arrayOf(ref("ReachedAttempt"), "attempts that bounds and steps say something of"), "attempts_checked": count("attempts that were checked"),
		}),
		"Mechanism": object("one way in which scores were or could be gamed or wrong", with(state("how far the defence goes"), fields{
			"id": str("id"), "title": str("in a few words"), "mechanism": str("how it works"),
			"environments": arrayOf(str("environment id, or all"), "where it could apply to scorers of this project"),
			"defence":      str("what is done, \"\" for nothing"), "reason": str("why it is accepted, not applicable or open, else \"\""),
			"records": arrayOf(str("id"), "public records that it covers"), "tests": arrayOf(ref("ValidityTest"), "what proves the defence"),
		})),
		"ValidityTest": object("a test or an example solution", fields{
			"name": str("as the catalogue writes it"), "kind": enum("kind", string(validity.GoTest), string(validity.PythonTest), string(validity.Example)),
			"path": str("file, package or directory in the repository"), "function": str("name of the test; of an example invalid or flagged"),
			"subtest": str("part of the test"), "command": str("command that runs it"),
		}, "subtest"),
		"ExampleRun": object("one scoring of every example solution of an environment", fields{
			"environment": environmentID(), "profile": str("profile"), "date": str("day"), "machine": str("machine"), "scorer_sha256": str("digest of the scorer"),
			"examples": arrayOf(object("verdict on one example", fields{
				"name": str("below the environment's solutions"), "valid": flag("it has a score"), "reason": str("why it is invalid, else \"\""),
				"message": str("what a solver is told, in one line"),
				"flags":   arrayOf(str("flag"), "flags of the scorer"), "raw": maybe(num("raw score")),
				"normalized": maybe(num("not floored; 0 is the start and 1 the reference of a calibration of that machine or of this run")), "wall_s": num("s that the scoring took"),
			}), "verdicts"),
		}),
		"StateCount": object("mechanisms of one state", with(state("state"), fields{"mechanisms": count("mechanisms"), "records": count("records that they cover")})),
		"ValidityRecord": object("one public record", fields{
			"id": str("id"), "task": str("task as the source calls it"), "kind": str("kind"), "what": str("what was done or is wrong"),
			"source": str("where it is documented"), "file": str("file of data/published"), "mechanism": str("id of the mechanism that covers it"),
		}),
		"ValidityRules": object("rules of quarantine", fields{
			"bounds": arrayOf(object("a value that a ranked score should not pass", with(action(), fields{
				"name": str("rule"), "environment": environmentID(), "beyond": enum("side on which a score is too good", "below", "above"),
				"value": num("in the unit"), "unit": str("what the bound measures"), "profiles": arrayOf(str("profile"), "where it holds; empty is everywhere"),
				"derivation": str("why"), "source": str("from where"), "paper": str("id in paper_numbers.csv"),
			}), "paper"), "bounds"),
			"steps": arrayOf(object("raw scores that are whole multiples of a step", with(action(), fields{
				"name": str("rule"), "environment": environmentID(), "scorers": arrayOf(str("scorer version"), "where it holds"),
				"denominator": num("1 / step"), "derivation": str("why"), "source": str("from where"),
			})), "steps"),
			"scales": arrayOf(object("a scorer version with a published scale", with(action(), fields{
				"name": str("rule"), "scorer": str("scorer version"), "profile": str("profile"), "tolerance": num("of reference - start"),
				"derivation": str("why"), "source": str("from where"),
			})), "scales"),
			"scorer_flags": mapOf(object("a flag of a scorer", with(action(), fields{"means": str("what it means")})), "by flag"),
		}),
		"Signals": object("facts of the score log, no verdicts", fields{
			"score_calls": count("entries, 0 without a log"), "invalid": count("entries without a valid score"), "calls_per_hour": maybe(num("of charged time")),
			"paper_calls_per_hour": arrayOf(object("a rate that the paper prints", fields{"who": str("who"), "per_hour": num("score calls an hour")}), "section 5.1"),
			"chosen":               maybe(num(score + " when the entry that counts was chosen")), "rescored": maybe(num(score + " when it was scored again")),
			"regression": maybe(num("chosen - rescored")), "later_invalid": flag("an invalid submission came after the last valid one, which counts"),
			"findings": arrayOf(ref("Finding"), "what rules say"), "standing": maybeRef("Standing", "null with fewer than 8 peers"),
		}),
		"Standing": object("a score among the other attempts of its agent, environment, scorer and time limit", fields{
			"n": count("peers"), "median": num(score), "best": num(score), "far_out": flag("above the third quartile by more than three interquartile ranges"),
		}),
		"Draw": object("an attempt was drawn for audit", fields{"month": str("YYYY-MM"), "outcome": maybe(object("what a person noted", fields{
			"author": str("who"), "note": str("what was found"), "at": when("when"),
		}))}),
		"Finding": object("what a rule says of an attempt", with(action(), fields{"rule": str("name of the rule"), "reason": str("what was found, and the bound")})),
		"ReachedAttempt": object("an attempt of which a rule says something", with(action(), fields{
			"attempt_id": str("attempt id"), "environment": environmentID(), "profile": str("profile"), "agent": str("label"), "score": maybe(num(score)),
			"raw": maybe(num("raw score")), "suspected": flag("the flag stands"), "excluded": flag("invalid or retracted"),
			"rule": str("name of the rule"), "reason": str("what was found, and the bound"),
		})),
	}
}
