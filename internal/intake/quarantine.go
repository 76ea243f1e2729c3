package intake

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"rebench/internal/attemptlog"
	"rebench/internal/rebench"
	"rebench/internal/validity"
)

// extraFlags is the key of a log line under which a scorer's flags stand, a list of
// names.
const extraFlags = "flags"

// maxFlags bounds the flags that are kept of one entry.
const maxFlags = 32

var flagName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// keepFlags notes the flags of one scoring under the place of its entry. What is no
// list of names is left alone: the log keeps it.
func keepFlags(by *map[int64][]string, seq int64, x attemptlog.Extra) {
	raw := x.Get(extraFlags)
	if len(raw) == 0 {
		delete(*by, seq)
		return
	}
	var names []string
	if json.Unmarshal(raw, &names) != nil {
		return
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !flagName.MatchString(n) })
	if *by == nil {
		*by = map[int64][]string{}
	}
	(*by)[seq] = slices.Clone(names[:min(len(names), maxFlags)])
}

// quarantine keeps the scorer's flags of the entry that counts with the attempt, and
// returns the statement of the rules about it, if any.
func (b *builder) quarantine(a *rebench.Attempt, env rebench.Environment) ([]rebench.Flag, error) {
	rules, err := validity.Rules()
	if err != nil {
		return nil, err
	}
	if final := b.summary.Final(env.Selection); final != nil {
		flags := slices.Clone(b.flags[final.Seq])
		if final.Rescore != nil {
			flags = append(flags, b.rescoreFlags[final.Seq]...)
		}
		slices.Sort(flags)
		if flags = slices.Compact(flags); len(flags) > 0 {
			a.Extra[validity.ExtraScorerFlags] = strings.Join(flags, ", ")
		}
	}
	if b.sourceUnranked() != "" {
		return nil, nil // its raw score may be on another scale
	}
	flag, ok := validity.Flag(rules.CheckAttempt(a))
	if !ok {
		return nil, nil
	}
	return []rebench.Flag{flag}, nil
}
