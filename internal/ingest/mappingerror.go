package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"rebench/internal/rebench"
)

// MappingError says what is wrong with one field of a mapping.
type MappingError struct {
	Field  string // mapping, mapping.agent.name, mapping.files["x"].zone
	Detail string
}

func (e *MappingError) Error() string { return e.Field + ": " + e.Detail }

// Unwrap gives the error its code.
func (e *MappingError) Unwrap() error {
	return &rebench.Error{Code: rebench.CodeInvalid, Message: e.Error()}
}

// decodeMapping reads a mapping's JSON and names the field that cannot be read.
func decodeMapping(b []byte, m *Mapping) error {
	var raw json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		if d := json.NewDecoder(strings.NewReader(string(b))); d.Decode(&raw) == nil {
			return &MappingError{"mapping", "found more than one JSON value, expected one object"}
		}
		return &MappingError{"mapping", "found no JSON object: " + err.Error()}
	}
	if err := knownFields(raw, reflect.TypeFor[Mapping](), "mapping"); err != nil {
		return err
	}
	err := json.Unmarshal(b, m)
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &MappingError{strings.TrimSuffix("mapping."+t.Field, "."), fmt.Sprintf("found a JSON %s, expected %s", t.Value, jsonKind(t.Type))}
	}
	if err != nil {
		return &MappingError{"mapping", err.Error()}
	}
	return nil
}

// knownFields refuses members that the type does not have: a misspelt one would
// silently map nothing.
func knownFields(raw json.RawMessage, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var members map[string]json.RawMessage
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map || json.Unmarshal(raw, &members) != nil {
		return nil // a wrong type is told when the value is read
	}
	fields := map[string]reflect.Type{}
	var names []string
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields[name] = f.Type
			names = append(names, name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		inner, ok := fields[key]
		at := path + "." + key
		if t.Kind() == reflect.Map {
			inner, ok, at = t.Elem(), true, path+"["+quote(key)+"]"
		}
		if !ok {
			return &MappingError{path, fmt.Sprintf("found the unknown field %s, expected some of %s", quote(key), strings.Join(names, ", "))}
		}
		if err := knownFields(members[key], inner, at); err != nil {
			return err
		}
	}
	return nil
}

func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Float64, reflect.Float32, reflect.Int64, reflect.Int:
		return "a number"
	case reflect.Bool:
		return "true or false"
	}
	return "an object"
}
