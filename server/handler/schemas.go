package handler

import (
	"github.com/getkin/kin-openapi/openapi3"

	"rebench/internal/rebench"
)

const (
	ciLow  = "lower end of the nominal 95% interval, null when degenerate"
	ciHigh = "upper end of the nominal 95% interval, null when degenerate or open"
	score  = "normalized score: 0 = starting solution, 1 = reference"
)

func environmentID() *openapi3.SchemaRef {
	return enum("environment id", environmentNames()...)
}

func kind() *openapi3.SchemaRef {
	return enum("sort of solver", "agent", "human", "baseline", "published")
}

func badge(description string) *openapi3.SchemaRef {
	return enum(description, texts(rebench.Badges())...)
}

func interval() fields { return fields{"ci_low": maybe(num(ciLow)), "ci_high": maybe(num(ciHigh))} }

// viewFields are the members that say what a result was computed from.
func viewFields() fields {
	return fields{
		"profile":       enum("size and conditions of the environments", "paper", "gpu", "cpu"),
		"environments":  arrayOf(environmentID(), "environments averaged over"),
		"estimator":     enum("score@k estimator", "without", "with"),
		"convention":    enum("bootstrap convention", "centred", "metr"),
		"cohort":        enum("human attempts counted", "paper71", "all"),
		"flagged":       enum("suspected attempts", "exclude", "include"),
		"scorers":       mapOf(str("version"), "scorer version of each environment"),
		"hardware":      str("hardware class ranked, \"all\" when merged"),
		"cap":           num("scores above are cut to it"),
		"replicates":    count("bootstrap draws"),
		"data_revision": count("state of the database that the result was computed from"),
		"warnings":      arrayOf(str("sentence"), "what a reader must be told about this view"),
	}
}

// viewOptional are the members of a view that may be absent.
var viewOptional = []string{"cap", "warnings"}

func result(description string, f fields, optional ...string) *openapi3.SchemaRef {
	return object(description, with(viewFields(), f), append(optional, viewOptional...)...)
}

// schemas are the components of the API's document.
func schemas() openapi3.Schemas {
	out := openapi3.Schemas{}
	for _, part := range []fields{leaderboardSchemas(), curveSchemas(), compareSchemas(), environmentSchemas(), humanSchemas(),
		attemptSchemas(), methodologySchemas(), validitySchemas(), problemSchemas(), uploadSchemas(), liveSchemas()} {
		for name, s := range part {
			out[name] = s
		}
	}
	return out
}

func allocationFields() fields {
	return fields{
		"time_limit_s": integer("time limit of one attempt, s"),
		"k":            count("number of attempts"),
		"saturated":    flag("k is at least the number of attempts in some environment: the estimate cannot grow further"),
		"truncated":    flag("scores of longer attempts, read at the time limit"),

		"truncated_from_s": integer("time limit of those longer attempts, s"),
	}
}

func leaderboardSchemas() fields {
	return fields{
		"Allocation":      object("time limit and number of attempts that spend a total time", allocationFields(), "truncated", "truncated_from_s"),
		"AllocationScore": object("score of one allocation", with(allocationFields(), fields{"score": num(score)}), "truncated", "truncated_from_s"),
		"Cell": object("one agent in one environment", with(interval(), fields{
			"score": num(score), "n": count("attempts"), "zeros": count("attempts at or below the starting solution, up to 1e-5"),
			"saturated": flag("k >= n"), "flagged": count("suspected attempts left out, or counted when included"),
		})),
		"HiddenAgent": object("an agent that this view cannot rank", fields{
			"agent": str("label"), "reason": str("why, in words"),
			"missing": arrayOf(environmentID(), "environments without attempts"),
			"common":  arrayOf(environmentID(), "environments on which it could be ranked"),
		}, "missing", "common"),
		"FlaggedAttempt": object("a suspected attempt", fields{
			"attempt_id": str("id"), "agent": str("label"), "environment": environmentID(), "score": num(score),
		}),
		"LeaderboardRow": object("one agent", with(interval(), fields{
			"agent": str("label"), "model": str("model, \"\" when unknown"), "scaffold": str("scaffold, \"\" when unknown"), "kind": kind(),
			"score":                 num(score + "; mean over the environments at the highest-scoring allocation"),
			"score_honest":          maybe(num("cross-fitted score: chosen on one half of the attempts, scored on the rest; null when not estimable")),
			"honest_note":           str("why score_honest is null or equal to score"),
			"rank_low":              count("1 + number of rows significantly above"),
			"rank_high":             count("rows - number of rows significantly below"),
			"p_rank1":               num("share of bootstrap draws in which this row is first"),
			"allocation":            ref("Allocation"),
			"allocations":           arrayOf(ref("AllocationScore"), "every allocation considered"),
			"human_percentile":      maybe(num("matched human percentile 1..100; 0 means below the 1st, 101 above the 100th; null for humans or when there are none")),
			"human_percentile_low":  maybe(num("lower end of its 95% interval, on the same scale")),
			"human_percentile_high": maybe(num("upper end of its 95% interval, on the same scale")),
			"n_attempts":            count("attempts behind the score"), "cost_usd": maybe(num("mean cost of one allocation, US dollars; null when unknown")),
			"environments":    mapOf(ref("Cell"), "by environment id"),
			"missing":         arrayOf(environmentID(), "environments without attempts"),
			"badge":           badge("weakest rung of the provenance ladder among the attempts behind the row"),
			"constant_cells":  count("environments in which every attempt has the same score: they add no width"),
			"non_zero_bound":  num("upper 95% bound on the probability of a score above the starting solution, when no attempt has one"),
			"with_flagged":    num("score with suspected attempts counted, when this view leaves them out and it differs"),
			"without_flagged": num("score with suspected attempts left out, when this view counts them and it differs"),

			"other_allocation":       ref("Allocation"),
			"other_allocation_score": num("this view's score of other_allocation, which is that of with_flagged or without_flagged where it differs from allocation"),
		}), "honest_note", "non_zero_bound", "with_flagged", "without_flagged", "other_allocation", "other_allocation_score"),
		"Leaderboard": result("agents ranked at one total time", fields{
			"budget_s": integer("total time, s"), "rows": arrayOf(ref("LeaderboardRow"), "best first"),
			"hidden":           arrayOf(ref("HiddenAgent"), "agents that cannot be ranked, with the reason"),
			"coverage":         str("how often such intervals hold the truth"),
			"flagged_left_out": arrayOf(ref("FlaggedAttempt"), "suspected attempts left out"),
		}),
		"Sensitivity": result("scores under other choices", fields{
			"budget_s": integer("total time, s"), "rows": arrayOf(ref("SensitivityRow"), "agents"),
		}),
		"SensitivityRow": object("one agent under other choices; null where not available", fields{
			"agent": str("label"), "score": num(score), "flagged_included": maybe(num(score)), "flagged_excluded": maybe(num(score)),
			"capped_at_1": maybe(num(score)), "other_estimator": maybe(num(score)), "other_cohort": maybe(num(score)),
			"hours_7_to_9": maybe(num(score)), "zero_share": num("share of attempts at or below the starting solution"),
			"influence": num("largest change of the score when one attempt is left out"), "influence_of": str("id of that attempt"),
		}),
	}
}

func curveSchemas() fields {
	point := with(interval(), allocationFields(), fields{
		"total_time_s": integer("k * time_limit_s"), "score": num(score), "n_min": count("fewest attempts in an environment"),
		"cost_usd": maybe(num("US dollars; null when unknown")),
	})
	atK := with(interval(), fields{"k": count("number of attempts"), "score": num(score), "saturated": flag("k >= n")})
	return fields{
		"CurvePoint": object("score at one total time", point, "truncated", "truncated_from_s"),
		"Series": object("one agent under one way of spending its time", fields{
			"agent": str("label"), "kind": kind(), "allocation": str("time limit such as 1800s, or best"), "label": str("in words"),
			"points": arrayOf(ref("CurvePoint"), "by total time"),
		}),
		"PublishedMark": object("digitised point of the paper's figures", with(interval(), fields{
			"series": str("name in the figure"), "kind": kind(), "total_time_s": integer("s"), "allocation": str("as the paper gives it"),
			"score": num(score), "cost_usd": maybe(num("US dollars")), "figure": str("figure"), "note": str("what to know about it"),
		})),
		"Curves": result("score against total time", fields{
			"statistic": enum("what a point shows", "best_of_k", "mean", "median"), "series": arrayOf(ref("Series"), "curves"),
			"published": arrayOf(ref("PublishedMark"), "the paper's own points"), "hidden": arrayOf(ref("HiddenAgent"), "agents not drawn"),
			"coverage": str("how often such intervals hold the truth"), "notes": arrayOf(str("sentence"), "what the curves do not show"),
		}),
		"AtK": object("score@k", atK),
		"EnvironmentAtK": object("score@k in one environment", fields{
			"environment": environmentID(), "n": count("attempts"), "points": arrayOf(ref("AtK"), "by k"),
		}),
		"MeanAtK": object("mean score@k over environments", with(atK, fields{
			"n_environments": count("environments averaged over"), "missing": arrayOf(environmentID(), "environments without attempts"),
		})),
		"ScoreAtK": result("score@k of one agent at one time limit", fields{
			"agent": str("label"), "time_limit_s": integer("s"), "environments": arrayOf(ref("EnvironmentAtK"), "by environment"),
			"mean": arrayOf(ref("MeanAtK"), "mean over environments"),
		}),
	}
}

func differenceFields() fields {
	return with(interval(), fields{
		"a": num("score of A"), "b": num("score of B"), "difference": num("A - B"),
		"p_a_greater": num("share of bootstrap draws with A above B, ties counted half: support, not a probability of truth"),
	})
}

func compareSchemas() fields {
	return fields{
		"Difference": object("A against B", differenceFields()),
		"EnvironmentDiff": object("A against B in one environment", with(differenceFields(), fields{
			"environment": environmentID(), "n_a": count("attempts of A"), "n_b": count("attempts of B"),
		})),
		"BudgetDiff": object("A against B at one total time", with(differenceFields(), fields{
			"budget_s": integer("total time, s"), "k_a": count("attempts of A"), "k_b": count("attempts of B"),
		})),
		"ComparedAgent": object("one side", fields{
			"agent": str("label"), "kind": kind(), "allocation": maybeRef("Allocation", "null when there is none"), "n_attempts": count("attempts"),
		}),
		"Crossover": object("where the curves cross", fields{
			"budgets_s": arrayOf(num("s"), "total times at which the sign of A - B changes"),
			"low_s":     maybe(num("start of the times whose interval holds 0; null where it meets the end of the range")),
			"high_s":    maybe(num("end of those times; null where it meets the end of the range")),
			"verdict":   enum("outcome", "crosses", "none in range", "undetermined"), "words": str("the verdict in a sentence"),
			"from_s": integer("start of the common unsaturated range, s"), "to_s": integer("its end, s"),
		}),
		"Comparison": result("two agents at equal total time", fields{
			"budget_s": integer("total time, s"), "a": ref("ComparedAgent"), "b": ref("ComparedAgent"),
			"overall": maybeRef("Difference", "null when an agent has no allocation"), "empty": str("why overall is null"),
			"environments_detail": arrayOf(ref("EnvironmentDiff"), "by environment"), "over_time": arrayOf(ref("BudgetDiff"), "by total time"),
			"crossover": maybeRef("Crossover", "null when there is no common range"), "coverage": str("how often such intervals hold the truth"),
		}, "empty"),
	}
}
