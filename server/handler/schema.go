package handler

import (
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// A few words to write JSON schemas with. Objects are closed: a member that is not
// documented fails the tests, which validate every response.

type fields map[string]*openapi3.SchemaRef

func ref(name string) *openapi3.SchemaRef {
	return openapi3.NewSchemaRef("#/components/schemas/"+name, nil)
}

func value(s *openapi3.Schema, description string) *openapi3.SchemaRef {
	s.Description = description
	return openapi3.NewSchemaRef("", s)
}

func str(description string) *openapi3.SchemaRef {
	return value(openapi3.NewStringSchema(), description)
}
func flag(description string) *openapi3.SchemaRef {
	return value(openapi3.NewBoolSchema(), description)
}
func num(description string) *openapi3.SchemaRef {
	return value(openapi3.NewFloat64Schema(), description)
}
func count(description string) *openapi3.SchemaRef {
	return value(openapi3.NewIntegerSchema().WithMin(0), description)
}
func integer(description string) *openapi3.SchemaRef {
	return value(openapi3.NewInt64Schema(), description)
}
func when(description string) *openapi3.SchemaRef {
	return value(openapi3.NewDateTimeSchema(), description)
}

func enum(description string, values ...string) *openapi3.SchemaRef {
	s := openapi3.NewStringSchema()
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return value(s, description)
}

// maybe makes a schema accept null.
func maybe(s *openapi3.SchemaRef) *openapi3.SchemaRef {
	s.Value.Nullable = true
	return s
}

// maybeRef accepts null or the named schema.
func maybeRef(name, description string) *openapi3.SchemaRef {
	return value(&openapi3.Schema{Nullable: true, AllOf: openapi3.SchemaRefs{ref(name)}}, description)
}

func arrayOf(items *openapi3.SchemaRef, description string) *openapi3.SchemaRef {
	s := openapi3.NewArraySchema()
	s.Items = items
	return value(s, description)
}

// mapOf is an object from names to values.
func mapOf(v *openapi3.SchemaRef, description string) *openapi3.SchemaRef {
	s := openapi3.NewObjectSchema()
	s.AdditionalProperties = openapi3.AdditionalProperties{Schema: v}
	return value(s, description)
}

// object is a closed object. Members are required except the optional ones.
func object(description string, f fields, optional ...string) *openapi3.SchemaRef {
	s := openapi3.NewObjectSchema().WithoutAdditionalProperties()
	s.Properties = openapi3.Schemas(f)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(optional, name) {
			s.Required = append(s.Required, name)
		}
	}
	return value(s, description)
}

// with joins members; a later one replaces an earlier one of the same name.
func with(parts ...fields) fields {
	out := fields{}
	for _, p := range parts {
		maps.Copy(out, p)
	}
	return out
}
