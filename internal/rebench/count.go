package rebench

import (
	"fmt"
	"strings"
)

// Count writes a number with its noun: 1 attempt, 3 attempts, 2 entries. Nouns in y
// are taken for ones like entry.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
