package attemptlog

import (
	"fmt"
	"time"

	"rebench/internal/rebench"
)

// object calls fn for every member of an object, with field names in faults
// prefixed by the object's. Null and other types are reported.
func (d *decoder) object(f member, fn func(member)) {
	if f.val.kind != kindObject {
		d.badType(f.val, string(f.key), "an object")
		return
	}
	var inner scanner
	members, err := inner.line(d.raw[f.val.start:f.val.end], nil)
	if err != nil { // the scanner has accepted it already
		d.fault(f.val, string(f.key), err.code, err.detail, "")
		return
	}
	outer := d.path
	d.path = outer + string(f.key) + "."
	for _, m := range members {
		m.val.start += f.val.start
		m.val.end += f.val.start
		fn(m)
	}
	d.path = outer
}

func (d *decoder) header() *Header {
	h := &Header{Clock: rebench.ClockUnknown}
	seen := make(map[string]bool, len(d.fields))
	for _, f := range d.fields {
		key := string(f.key)
		seen[key] = true
		switch key {
		case "format":
			d.oneOf(f, Format)
		case "version":
			d.version(f)
		case "attempt_id":
			h.AttemptID = d.name(f)
		case "environment":
			d.environment(f, &h.Environment)
		case "agent":
			h.Agent = d.agent(f)
		case "human":
			h.Human = d.human(f)
		case "time_limit_s":
			h.TimeLimitS = d.float(f, new(float64))
			d.notNegative(f, h.TimeLimitS)
		case "hardware":
			h.Hardware = d.hardware(f)
		case "seed":
			h.Seed = d.optInteger(f)
		case "started_at":
			h.StartedAt = d.time(f, new(time.Time))
		case "clock":
			h.Clock = rebench.Clock(d.oneOf(f, string(rebench.ClockActive), string(rebench.ClockWorking),
				string(rebench.ClockWall), string(rebench.ClockUnknown)))
		case "scoring":
			d.scoring(f, &h.Scoring)
		case "tool":
			d.tool(f, &h.Tool)
		case "imported":
			h.Imported = d.imported(f)
		case "type", "seq", "prev":
		default:
			h.Extra = d.extra(h.Extra, f)
		}
	}
	for _, key := range []string{"format", "version", "attempt_id", "environment", "clock"} {
		d.require(seen[key], key)
	}
	if (h.Agent == nil) == (h.Human == nil) && !d.failed {
		d.fault(value{start: len(d.raw)}, "agent", CodeMissingField, "found both or neither of agent and human, expected exactly one", "")
	}
	return h
}

func (d *decoder) version(f member) {
	if n, ok := d.integer(f, 0); ok && n != Version {
		d.fault(f.val, "version", CodeUnsupported, fmt.Sprintf("found version %d, expected %d", n, Version), "")
	}
}

// name reads a string that must not be empty.
func (d *decoder) name(f member) string {
	s := d.str(f)
	if s == "" && f.val.kind == kindString {
		d.fault(f.val, string(f.key), CodeBadValue, "found an empty string, expected a name", "")
	}
	return s
}

// required reports which of the keys an object lacks.
func (d *decoder) required(f member, seen map[string]bool, keys ...string) {
	if f.val.kind != kindObject {
		return
	}
	for _, key := range keys {
		if !seen[key] {
			d.fault(f.val, string(f.key)+"."+key, CodeMissingField, "found no "+key+", expected one", "")
		}
	}
}

func (d *decoder) environment(f member, e *Environment) {
	seen := map[string]bool{}
	d.object(f, func(m member) {
		key := string(m.key)
		seen[key] = true
		switch key {
		case "id":
			e.ID = d.name(m)
		case "version":
			e.Version = d.optStr(m)
		case "profile":
			e.Profile = d.name(m)
		default:
			e.Extra = d.extra(e.Extra, m)
		}
	})
	d.required(f, seen, "id", "profile")
}

func (d *decoder) agent(f member) *Agent {
	if f.val.kind == kindNull {
		return nil
	}
	a := &Agent{}
	seen := map[string]bool{}
	d.object(f, func(m member) {
		key := string(m.key)
		seen[key] = true
		switch key {
		case "name":
			a.Name = d.name(m)
		case "model":
			a.Model = d.optStr(m)
		case "scaffold":
			a.Scaffold = d.optStr(m)
		default:
			a.Extra = d.extra(a.Extra, m)
		}
	})
	d.required(f, seen, "name")
	return a
}

func (d *decoder) human(f member) *Human {
	if f.val.kind == kindNull {
		return nil
	}
	h := &Human{}
	d.object(f, func(m member) {
		switch string(m.key) {
		case "cohort":
			h.Cohort = d.optStr(m)
		case "source":
			h.Source = d.optStr(m)
		default:
			h.Extra = d.extra(h.Extra, m)
		}
	})
	return h
}

func (d *decoder) hardware(f member) *Hardware {
	if f.val.kind == kindNull {
		return nil
	}
	h := &Hardware{}
	d.object(f, func(m member) {
		switch string(m.key) {
		case "gpu":
			h.GPU = d.optStr(m)
		case "gpu_count":
			h.GPUCount = d.optInteger(m)
		case "cpus":
			h.CPUs = d.optInteger(m)
		case "ram_gb":
			h.RAMGB = d.float(m, new(float64))
		default:
			h.Extra = d.extra(h.Extra, m)
		}
	})
	return h
}

func (d *decoder) scoring(f member, s *Scoring) {
	if f.val.kind == kindNull {
		return
	}
	d.object(f, func(m member) {
		switch string(m.key) {
		case "direction":
			if m.val.kind != kindNull {
				s.Direction = rebench.Direction(d.oneOf(m, string(rebench.Minimize), string(rebench.Maximize)))
			}
		case "start_raw":
			s.StartRaw = d.float(m, new(float64))
		case "reference_raw":
			s.ReferenceRaw = d.float(m, new(float64))
		case "calibration_id":
			s.CalibrationID = d.optStr(m)
		default:
			s.Extra = d.extra(s.Extra, m)
		}
	})
}

func (d *decoder) tool(f member, t *Tool) {
	if f.val.kind == kindNull {
		return
	}
	d.object(f, func(m member) {
		switch string(m.key) {
		case "name":
			t.Name = d.optStr(m)
		case "version":
			t.Version = d.optStr(m)
		default:
			t.Extra = d.extra(t.Extra, m)
		}
	})
}

func (d *decoder) imported(f member) *Imported {
	if f.val.kind == kindNull {
		return nil
	}
	i := &Imported{}
	d.object(f, func(m member) {
		switch string(m.key) {
		case "format":
			i.Format = d.optStr(m)
		case "sha256":
			i.SHA256 = d.digest(m, "")
		case "native_id":
			i.NativeID = d.optStr(m)
		default:
			i.Extra = d.extra(i.Extra, m)
		}
	})
	return i
}
