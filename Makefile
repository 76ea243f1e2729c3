# Every check of the project. Nothing is skipped: a tool that is missing fails the run.

# Packages whose tests also run with the race detector.
RACE := ./server/app ./server/handler ./internal/analysis ./internal/live ./internal/store ./internal/upload
PYTHON := /usr/bin/python3

# Stamping the commit fails in a checkout of another user, and tests need none.
export GOFLAGS := -buildvcs=false $(GOFLAGS)

# How long each fuzz test runs.
FUZZTIME ?= 30s

.PHONY: test test-full tools generated format vet go pure race python bench fuzz

# Cheap checks first.
test: tools format generated vet go pure race python

# What the tests need, installed where that is possible.
tools:
	.ci/tools

format:
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; \
	if [ -n "$$unformatted" ]; then echo "gofmt -w these files:"; echo "$$unformatted"; exit 1; fi

# Generated code is committed and must be what the generator writes.
generated:
	go tool templ generate
	git diff --exit-code -- '*_templ.go'

vet:
	go vet ./...

# Sandboxes and timings are tested one package at a time: they must not disturb
# each other.
go:
	go test -timeout 20m $$(go list ./... | grep -v -e /runner -e /environments)
	go test -timeout 20m -p 1 ./runner/... ./environments/...

# No C compiler may be needed to build or to serve.
pure:
	CGO_ENABLED=0 go build -o /dev/null ./server
	CGO_ENABLED=0 go vet ./...
	CGO_ENABLED=0 go test -timeout 20m ./internal/store ./internal/upload ./server/app

race:
	go test -race -timeout 20m $(RACE)

# The environments' own tests.
python:
	$(PYTHON) -m pytest -q -p no:cacheprovider environments

# Every example solution in the cpu profile: about an hour, or minutes with
# ENVIRONMENT=optimize_kernel or another. Verdicts go to data/validity/examples, which
# /validity shows; commit them.
test-full:
	REBENCH_EXAMPLES_PROFILE=cpu REBENCH_EXAMPLES_RECORD=$(CURDIR)/data/validity/examples go test -v -timeout 12h ./environments -run 'Examples/$(ENVIRONMENT)'

# Every fuzz test for FUZZTIME.
fuzz:
	@set -e; for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for name in $$(grep -rhoE '^func Fuzz[A-Za-z0-9_]*' "$$package"/*_test.go | cut -d' ' -f2); do \
			go test "$$package" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME); \
		done; \
	done

bench:
	go test -run '^$$' -bench . -benchmem ./internal/... ./server/...
