# Berth's build. Go, OpenSSH's client and tmux are all that build and test need.

GO ?= go
BIN := bin/berth
# Without cgo the binary starts 0.7 ms sooner, which every hook of an agent pays;
# -trimpath keeps paths of the building machine out of the binary.
GOFLAGS_BUILD := -trimpath
REVISION := $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: all build run test test-agents soak-agents vet bench fuzz clean

all: build

build:
	CGO_ENABLED=0 $(GO) build $(GOFLAGS_BUILD) -ldflags "-X main.revision=$(REVISION)" -o $(BIN) ./cmd/berth

# Start on 127.0.0.1:2222 with a session to try, letting in your own keys.
run: build
	@$(BIN) serve --demo

vet:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) vet -tags agents ./test/agents/...

# Everything that must be green.
test: vet
	$(GO) test -race -timeout 20m ./...

# The real agents, at pinned versions that npm installs into the cache folder,
# against model APIs on loopback. Where npm does not answer they say so.
test-agents:
	$(GO) test -tags agents -v -count=1 -timeout 15m ./test/agents/...

# Each of them this often (BERTH_SOAK=5 in the environment makes those of chance
# five times as long), with the server away for a minute where it is away.
SOAK ?= 20
soak-agents:
	BERTH_LAB_AWAY=1m $(GO) test -tags agents -v -count=$(SOAK) -timeout 5h ./test/agents/...

# Side by side with sshd and tmux, as ratios; needs Debian's openssh-server and tmux.
bench: build
	$(GO) run ./test/bench -berth $(BIN)

# Each fuzz target for a short while; FUZZTIME=5m for a long one.
FUZZTIME ?= 10s
fuzz:
	@for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -parallel 2 $$pkg || exit 1; \
		done; \
	done

clean:
	rm -rf bin
