package handler

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"rebench/web/view"
)

// apiRoute is one operation of the API.
type apiRoute struct {
	path     string // Gin's, below /api/v1
	id       string // operation id
	summary  string
	schema   string   // component of the 200 response; "" for another media type
	media    string   // of the 200 response, application/json when ""
	takes    []string // query parameters
	required []string // of takes
	handle   handlerFunc
}

// apiPrefix is where the API of this version lives.
const apiPrefix = "/api/v1"

// openAPI describes the routes as an OpenAPI 3.0 document.
func openAPI(routes []apiRoute) *openapi3.T {
	doc := &openapi3.T{
		OpenAPI: "3.0.3",
		Info: &openapi3.Info{Title: "rebench", Version: "1", Description: "Results of RE-Bench (arXiv 2411.15114). Scores are normalized: " +
			"0 = starting solution, 1 = reference. Every result names the data revision that it was computed from. " +
			"Pages serve the same results with the suffixes .json (with a member meta), .csv and .svg. " +
			"A CSV table has one header row; its last columns (view_title, view_axes, view_n, data_revision, rebench_version, view_url) say in every row what the table is about, " +
			"and a text that a spreadsheet would run as a formula begins with an apostrophe."},
		Servers:    openapi3.Servers{{URL: apiPrefix}},
		Paths:      openapi3.NewPaths(),
		Components: &openapi3.Components{Schemas: schemas()},
	}
	for _, r := range routes {
		path, names := openAPIPath(r.path)
		op := &openapi3.Operation{OperationID: r.id, Summary: r.summary, Responses: responses(r, len(names) > 0)}
		for _, name := range names {
			op.Parameters = append(op.Parameters, &openapi3.ParameterRef{Value: openapi3.NewPathParameter(name).WithSchema(openapi3.NewStringSchema())})
		}
		for _, name := range r.takes {
			op.Parameters = append(op.Parameters, &openapi3.ParameterRef{Value: queryParameter(r, name)})
		}
		doc.Paths.Set(path, &openapi3.PathItem{Get: op})
	}
	addWrites(doc)
	return doc
}

// openAPIPath turns :id into {id} and names the path's parameters.
func openAPIPath(path string) (string, []string) {
	var names []string
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if name, ok := strings.CutPrefix(p, ":"); ok {
			parts[i] = "{" + name + "}"
			names = append(names, name)
		}
	}
	return strings.Join(parts, "/"), names
}

func queryParameter(r apiRoute, name string) *openapi3.Parameter {
	p := parameterFor(name, r.takes)
	description := p.expected
	if d := view.Default(strings.TrimSuffix("/"+r.id, "/"), name); d != "" && !slices.Contains(r.required, name) {
		description += "; default " + d
	}
	schema := openapi3.NewStringSchema()
	if !p.list {
		for _, v := range p.allowed {
			schema.Enum = append(schema.Enum, v)
		}
	}
	out := openapi3.NewQueryParameter(name).WithSchema(schema).WithDescription(description)
	out.Required = slices.Contains(r.required, name)
	return out
}

func responses(r apiRoute, hasPath bool) *openapi3.Responses {
	ok := openapi3.NewResponse().WithDescription("The result.")
	if r.schema != "" {
		ok = ok.WithJSONSchemaRef(ref(r.schema))
	} else {
		ok.Content = openapi3.NewContentWithSchema(openapi3.NewStringSchema(), []string{r.media})
	}
	out := openapi3.NewResponses(openapi3.WithStatus(http.StatusOK, &openapi3.ResponseRef{Value: ok}))
	problem := func(status int, description string) {
		v := openapi3.NewResponse().WithDescription(description)
		v.Content = openapi3.NewContentWithSchemaRef(ref("Problem"), []string{"application/problem+json"})
		out.Set(fmt.Sprint(status), &openapi3.ResponseRef{Value: v})
	}
	problem(http.StatusBadRequest, "A parameter is wrong; errors names it and what is allowed.")
	if hasPath || slices.Contains(r.takes, "asof") {
		problem(http.StatusNotFound, "Nothing has that id or data revision.")
	}
	out.Set("304", &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("Unchanged since the entity tag in If-None-Match.")})
	problem(http.StatusInternalServerError, "The server failed.")
	return out
}

// openAPIJSON writes the document. Tests validate it.
func openAPIJSON(routes []apiRoute) ([]byte, error) {
	b, err := json.MarshalIndent(openAPI(routes), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return b, nil
}

func (s *Server) serveOpenAPI(c *gin.Context) error {
	c.Header("Cache-Control", "no-cache")
	c.Data(http.StatusOK, "application/json", s.openapi)
	return nil
}

// openValue is any JSON value.
func openValue() *openapi3.SchemaRef { return openapi3.NewSchemaRef("", openapi3.NewSchema()) }
