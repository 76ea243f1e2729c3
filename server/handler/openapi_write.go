package handler

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
)

// writeOperation is an operation of the API that changes data or watches it change.
type writeOperation struct {
	method            string // POST when ""
	path, id, summary string
	scope             string // of the token, "" where none is needed
	body              *openapi3.RequestBody
	query             []*openapi3.Parameter
	results           map[int]string // component of each status that is no problem
	problems          map[int]string // what each other status means
	limited           bool           // changes a minute are
	problem           string         // component of 422, "" for Problem
	conflict          string         // component of 409, "" for Problem
	empty             string         // what 204 means, "" where there is none
	media             string         // of a 200 response that no component describes
}

// bearerScheme names the way in which tokens are sent.
const bearerScheme = "bearer"

func writeOperations() []writeOperation {
	return []writeOperation{uploadOperation(), {
		path: "/attempts/:id/flags", id: "flag", scope: "admin", limited: true,
		summary: "Flag an attempt, or lift a flag: appended with author, reason and time, never removed",
		body: jsonBody(object("a statement about the attempt", fields{
			"kind": enum("claim", texts(flagKinds)...), "set": flag("false lifts the flag; default true"), "reason": str("why, 1 to 2000 characters"),
		}, "set")),
		results:  map[int]string{http.StatusCreated: "FlagAnswer"},
		problems: map[int]string{http.StatusBadRequest: "A member is wrong.", http.StatusNotFound: "There is no such attempt.", http.StatusConflict: "The flag is set, or not set, already."},
	}, {
		path: "/attempts/:id/current", id: "current", scope: "admin", limited: true,
		summary: "Make a revision of an attempt the one that ranks: appended, the others stay",
		body: jsonBody(object("the revision", fields{
			"revision": value(openapi3.NewIntegerSchema().WithMin(1), "its number"), "reason": str("why, at most 2000 characters"),
		}, "reason")),
		results:  map[int]string{http.StatusCreated: "CurrentAnswer"},
		problems: map[int]string{http.StatusBadRequest: "A member is wrong.", http.StatusNotFound: "There is no such attempt or revision.", http.StatusConflict: "The revision is current already."},
	}}
}

func uploadOperation() writeOperation {
	file := openapi3.NewStringSchema().WithFormat("binary")
	form := openapi3.NewObjectSchema()
	form.Properties = openapi3.Schemas{
		"file":    arrayOf(openapi3.NewSchemaRef("", file), "the files, or zip archives of them; the name of each part is shown and never used as a path"),
		"mapping": openapi3.NewSchemaRef("", &openapi3.Schema{Type: &openapi3.Types{"string"}, Description: "what the files do not say, as JSON: the component Mapping"}),
	}
	form.Required = []string{"file"}
	body := openapi3.NewRequestBody().WithRequired(true).WithContent(openapi3.NewContentWithSchema(form, []string{"multipart/form-data"}))
	key := openapi3.NewHeaderParameter("Idempotency-Key").WithSchema(openapi3.NewStringSchema().WithMaxLength(maxText)).
		WithDescription("The same key with the same content is answered again without doing it again. Ignored with dry_run.")
	query := []*openapi3.Parameter{key}
	for _, p := range []struct{ name, what string }{
		{"dry_run", "1 says what an import would do, and does nothing"},
		{"partial", "1 imports the valid attempts although others are faulty"},
		{"make_current", "1 lets restated scores become current although they are normalized differently"},
	} {
		query = append(query, openapi3.NewQueryParameter(p.name).WithDescription(p.what).WithSchema(openapi3.NewStringSchema().WithEnum("0", "1")))
	}
	return writeOperation{
		path: "/uploads", id: "upload", scope: "upload", limited: true, body: body, query: query,
		summary: "Import attempt logs, or files that are converted to them: all or, when something is faulty, nothing",
		results: map[int]string{http.StatusOK: "Upload", http.StatusCreated: "Upload"}, problem: "UploadProblem",
		problems: map[int]string{
			http.StatusBadRequest:            "A parameter or part is unknown, or the request broke off.",
			http.StatusConflict:              "The Idempotency-Key belongs to another request, or to one that is still under way.",
			http.StatusRequestEntityTooLarge: fmt.Sprintf("More than %d bytes or %d files.", int64(MaxUploadBytes), MaxUploadFiles),
			http.StatusUnsupportedMediaType:  "The request is no multipart/form-data.",
			http.StatusUnprocessableEntity:   "The content is faulty; errors lists every fault, and nothing was imported.",
		},
	}
}

func jsonBody(s *openapi3.SchemaRef) *openapi3.RequestBody {
	return openapi3.NewRequestBody().WithRequired(true).WithJSONSchemaRef(s)
}

// addWrites documents the operations that change data.
func addWrites(doc *openapi3.T) {
	doc.Components.SecuritySchemes = openapi3.SecuritySchemes{bearerScheme: &openapi3.SecuritySchemeRef{Value: openapi3.NewSecurityScheme().
		WithType("http").WithScheme("bearer").WithDescription("A token that `server token create` printed.")}}
	for _, w := range append(writeOperations(), liveOperations()...) {
		path, names := openAPIPath(w.path)
		op := &openapi3.Operation{OperationID: w.id, Summary: w.summary, Responses: w.responses()}
		if w.scope != "" {
			op.Description = "Needs a token with scope " + w.scope + "."
			op.Security = openapi3.NewSecurityRequirements().With(openapi3.NewSecurityRequirement().Authenticate(bearerScheme))
		}
		if w.body != nil {
			op.RequestBody = &openapi3.RequestBodyRef{Value: w.body}
		}
		for _, name := range names {
			op.Parameters = append(op.Parameters, &openapi3.ParameterRef{Value: openapi3.NewPathParameter(name).WithSchema(openapi3.NewStringSchema())})
		}
		for _, p := range w.query {
			op.Parameters = append(op.Parameters, &openapi3.ParameterRef{Value: p})
		}
		item := doc.Paths.Value(path)
		if item == nil {
			item = &openapi3.PathItem{}
			doc.Paths.Set(path, item)
		}
		item.SetOperation(cmp.Or(w.method, http.MethodPost), op)
	}
}

func (w writeOperation) responses() *openapi3.Responses {
	out := openapi3.NewResponses()
	out.Delete("default")
	for status, schema := range w.results {
		out.Set(fmt.Sprint(status), &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("The result.").WithJSONSchemaRef(ref(schema))})
	}
	if w.empty != "" {
		out.Set(fmt.Sprint(http.StatusNoContent), &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription(w.empty)})
	}
	if w.media != "" {
		out.Set(fmt.Sprint(http.StatusOK), &openapi3.ResponseRef{Value: openapi3.NewResponse().WithDescription("The result.").
			WithContent(openapi3.NewContentWithSchema(openapi3.NewStringSchema(), []string{w.media}))})
	}
	problems := map[int]string{http.StatusInternalServerError: "The server failed."}
	if w.scope != "" {
		problems[http.StatusUnauthorized], problems[http.StatusForbidden] = "No token, or one that is unknown or revoked.", "The token's scope does not suffice."
	}
	if w.limited {
		problems[http.StatusTooManyRequests] = fmt.Sprintf("More than %d changes a minute with one token.", changesPerMinute)
	}
	for status, words := range w.problems {
		problems[status] = words
	}
	for status, words := range problems {
		schema := "Problem"
		switch status {
		case http.StatusUnprocessableEntity:
			schema = cmp.Or(w.problem, schema)
		case http.StatusConflict:
			schema = cmp.Or(w.conflict, schema)
		}
		v := openapi3.NewResponse().WithDescription(words)
		v.Content = openapi3.NewContentWithSchemaRef(ref(schema), []string{"application/problem+json"})
		out.Set(fmt.Sprint(status), &openapi3.ResponseRef{Value: v})
	}
	return out
}
