# Turnwise: what you can make. `make help` lists it.

GO     ?= go
BIN    := bin
ARGS   ?=

# Where `make load` and `make fuzz` may be turned up or down.
FUZZTIME ?= 10s
SESSIONS ?= 2000
DURATION ?= 2m
EVERY    ?= 10s
BENCH    ?= .
COUNT    ?= 1

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: run
run: build ## build, and serve the table booking demo on http://localhost:8080 (no key needed); ARGS="--addr :9090" adds flags
	exec $(BIN)/turnwise serve $(ARGS)

.PHONY: build
build: ## build bin/turnwise, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/turnwise ./cmd/turnwise

.PHONY: test
test: ## everything CI runs: set up, lint, all tests with the race detector
	scripts/setup-test.sh
	$(MAKE) --no-print-directory lint
	scripts/test.sh

.PHONY: lint
lint: ## gofmt, go vet, staticcheck, govulncheck
	scripts/lint.sh

.PHONY: fmt
fmt: ## format all Go files
	gofmt -s -w $$(git ls-files '*.go')

.PHONY: bench
bench: ## all benchmarks with allocations; BENCH=Hop COUNT=6 narrow and repeat
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 30m ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (10s) each
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: load
load: ## SESSIONS (2000) chat sessions for DURATION (2m), a turn EVERY 10s, against a server of its own
	$(GO) test ./test/load -run TestLoad -count 1 -v -timeout 30m -args -sessions $(SESSIONS) -duration $(DURATION) -every $(EVERY)

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN) test/interop/dist
