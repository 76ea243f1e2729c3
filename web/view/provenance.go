package view

import (
	"slices"

	"rebench/internal/rebench"
)

// rung is the place of a badge on the ladder, from 0.
func rung(b rebench.Badge) int { return max(0, slices.Index(rebench.Badges(), b)) }

// badgeWords says what a rung means and what it rests on.
func badgeWords(b rebench.Badge) string {
	switch b {
	case rebench.BadgeArtefacts:
		return "With artefacts: the log was written as the attempt went, and its entry that counts names the submission and the scorer by their SHA-256, so that whoever holds them can check the score."
	case rebench.BadgeRescored:
		return "Re-scored: beyond that, a machine of this server's operators scored the submission again on fresh draws, and that score counts."
	case rebench.BadgeReproduced:
		return "Reproduced: beyond that, another machine of theirs scored the same submission with the same scorer in an attempt of its own, and the scores agree within 0.05."
	}
	return "Self-reported: the score is as its source states it; nothing here checks it."
}

// nextRungWords says what the next rung would need.
func nextRungWords(b rebench.Badge) string {
	switch b {
	case rebench.BadgeArtefacts:
		return "Re-scored would need the submission to be scored again by a machine of this server's operators."
	case rebench.BadgeRescored:
		return "Reproduced would need a second, agreeing attempt with the same submission from another of their machines."
	case rebench.BadgeReproduced:
		return ""
	}
	return "With artefacts would need an attempt log whose entry that counts names submission and scorer by hash."
}
