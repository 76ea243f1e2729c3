package sandbox

// TierName names a way to enforce limits.
type TierName string

// The tiers, strongest first.
const (
	TierCgroup2 TierName = "cgroup2"
	TierCgroup1 TierName = "cgroup1"
	TierRlimit  TierName = "rlimit"
	TierFake    TierName = "fake"
)

// Tier says how limits and users are enforced on this machine. It is recorded
// in every attempt and calibration.
type Tier struct {
	Name TierName `json:"name"`
	// SeparateUsers: agent, submission and scorer run as different host users.
	SeparateUsers bool `json:"separate_users"`
	// Controllers in use, e.g. memory, pids, cpu, freezer, devices.
	Controllers []string `json:"controllers"`
	// Gaps lists, in words, what this tier does not contain.
	Gaps []string `json:"gaps"`
}
