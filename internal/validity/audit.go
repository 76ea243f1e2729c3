package validity

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Winners is how many of the best attempts of one kind of solver can be drawn for audit in
// an environment.
const Winners = 10

// DefaultAuditShare is the share of winners that is drawn each month.
const DefaultAuditShare = 0.2

// Month names the month of a draw: 2026-12, in UTC.
func Month(at time.Time) string { return at.UTC().Format("2006-01") }

// Drawn reports whether an attempt is drawn for audit in a month. The draw is a
// uniform number of [0, 1) that follows from month and content alone,
//
//	first 8 bytes of SHA-256("rebench audit\n" month "\n" contentSHA256), big-endian, / 2^64
//
// and is drawn when below share, so that anybody can repeat it. Who can make many
// submissions of equal worth could choose one that this month's draw misses; the next
// month draws anew.
func Drawn(month, contentSHA256 string, share float64) bool {
	sum := sha256.Sum256([]byte(fmt.Sprintf("rebench audit\n%s\n%s", month, contentSHA256)))
	// 53 bits, so that the division is exact and below 1.
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < share
}
