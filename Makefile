# Berth's build. Go, OpenSSH's client and tmux are all that build and test need.

GO ?= go
BIN := bin/berth
PROGRAMS := ./cmd/berth ./cmd/berth-hold ./cmd/berth-fleet # side by side in bin/
# Without cgo the binary starts 0.7 ms sooner, which every hook of an agent pays;
# -trimpath keeps paths of the building machine out of the binary.
GOFLAGS_BUILD := -trimpath -buildvcs=false
AS_BUILT := CGO_ENABLED=0 $(GO) # with -trimpath: what vet and the tests compile serves the build, too
VERSION := $(shell packaging/version)
LDFLAGS := -X berth/api.release=$(VERSION) -X berth/api.commit=$(shell git rev-parse HEAD 2>/dev/null) \
	-X berth/api.committed=$(shell git show -s --format=%cI 2>/dev/null) $(STRIP)

.PHONY: all build dist dist-here image run fleet-demo test test-packages test-agents test-agents-ci test-claude-newer test-agents-latest test-gemini suites soak-agents soak-dialogs soak-shells soak-together soak-fleet test-together vet bench fuzz fuzz-edge clean

all: build

build:
	$(AS_BUILT) build $(GOFLAGS_BUILD) -ldflags "$(LDFLAGS)" -o $(dir $(BIN)) $(PROGRAMS)

# The archives and packages of a release; dist-here only those for this machine.
dist:
	packaging/dist linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
dist-here:
	packaging/dist $$($(GO) env GOOS)/$$($(GO) env GOARCH)

# A container image for this machine's processor, in a file for docker load, podman load or ctr. BASE is
# an image with agents to build on, as docker save writes it; else busybox is its shell.
IMAGE ?= dist/berth-image.tar
image:
	rm -rf $(IMAGE).work
	mkdir -p $(IMAGE).work
	GOOS=linux $(MAKE) -s build BIN=$(IMAGE).work/berth STRIP="-s -w"
	cd packaging && $(GO) build -o $(abspath $(IMAGE)).work/image ./image
	$(IMAGE).work/image -berth $(IMAGE).work/berth -hold $(IMAGE).work/berth-hold -fleet $(IMAGE).work/berth-fleet -arch $$($(GO) env GOARCH) -version $(VERSION) \
		-created $$(git show -s --format=%ct 2>/dev/null || echo 0) -base "$(BASE)" -out $(IMAGE)
	rm -rf $(IMAGE).work

# Start on 127.0.0.1:2222 with a session to try, letting in your own keys.
run: build
	@$(BIN) serve --demo

# A fleet's gateway and three hosts on this machine, with lines to try.
fleet-demo: build
	@BERTH=$(abspath $(BIN)) test/fleet-demo

vet:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(AS_BUILT) vet -trimpath ./...
	GOOS=darwin $(GO) vet ./...
	$(AS_BUILT) vet -trimpath -tags agents ./test/agents/...

# Everything that must be green. The race detector makes a test many times as long. It has nothing to find in
# the packages of SEQUENTIAL, which start no goroutine (test/layout sees to that).
SEQUENTIAL := agent/claude|agent/codex|agent/copilot|agent/gemini|agent/opencode|agent/qwen|detect/replay|render|terminal|test/layout
test: vet
	$(AS_BUILT) test -trimpath -timeout 10m $$($(GO) list ./... | grep -E '^berth/($(SEQUENTIAL))$$')
	$(GO) test -race -timeout 20m $$($(GO) list ./... | grep -vE '^berth/($(SEQUENTIAL))$$')

# What the packages do where they are installed: CI=true installs one on this machine. Their tools are a
# module of their own.
test-packages:
	cd packaging && $(GO) vet ./... && $(GO) test -v -count=1 -timeout 10m .

# What Debian's packages say of Berth: clients, terminals, scanners, Prometheus. It writes its figures into
# docs/conformance.md.
suites: build
	CI=$(CI) $(GO) run ./test/suites -berth $(BIN) -update

# The real agents, at pinned versions that npm installs into the cache folder,
# against model APIs on loopback. Where npm does not answer they say so. They wait
# more than they work: AGENTS_PARALLEL of them are what two processors follow. One agent's
# tests follow the other's (-p 1), so that what is measured has no neighbours.
AGENTS_PARALLEL ?= 4
AGENTS_TEST = $(GO) test -tags agents -v -p 1 -parallel $(AGENTS_PARALLEL)
# Gemini CLI takes twice a processor at its start: three of it at once are as many as
# two processors follow.
AGENTS_OTHERS = $$($(GO) list -tags agents ./test/agents/... | grep -v -e /gemini$$ -e /together$$)
test-agents:
	$(AGENTS_TEST) -count=1 -timeout 15m $(AGENTS_OTHERS)
	$(MAKE) test-claude-newer
	$(MAKE) test-gemini
	$(MAKE) test-together
# What CI runs of these in its half hour, of which the other tests take 17 minutes. All
# of Claude Code's take 13 minutes, Codex's and the newer Claude Code's 2 each, and Gemini
# CLI's 10. So it leaves out what measures delays, which a busy machine makes longer; of
# TestWays the two ways without hooks, and seven dialogs that others of it are like; of
# TestInAShell the one without hooks; scenarios about which Claude Code has tests of its own;
# what shows Claude Code alone (its start and its errors); five tests of chance; and one of
# hidden text that takes 85 s and that agent/claude has many of. Of the
# other agents it runs a core, of three at a time.
NOT_CI := ^TestDelays$$|^TestWays$$/by_(keys|none)$$|^TestWays$$/^(write|MCP_tool|form_without_fields|three_questions|mixed_questions|previews|several_to_tick)_by_hook$$|^TestInAShell$$/^plain$$|^TestForgedHooks$$/killed_false$$|^Test(ByOthersInAShell|NudgeAgainstADialog|NudgesInACrowd|HiddenText|NudgesInAShell|QueuedNudge|RespondRaces|Errors|FirstRun|FirstRunByEnter|KeyAccepted|KeyRefused|NoKey|BypassAccepted|BypassRefused)$$|^TestScenarios$$/^(errors|gate|kill|no-hooks|queue|restart|start-context)$$
NEWER_CORE := ^(TestVersion|TestRespondPlan|TestRespondQuestions)$$|^TestScenarios$$/^(small-window|odd-commands)$$
CODEX_CORE := ^(TestPermissionByKeys|TestQuestion)$$|^TestScenarios$$/^(turn|permission|messages)$$
GEMINI_CORE := ^TestTrust$$|^TestScenarios$$/^turn$$
OTHERS_CORE := ^TestScenarios$$/^(turn|permission|killed-at-a-prompt)$$
test-agents-ci:
	$(AGENTS_TEST) -count=1 -timeout 15m -skip '$(NOT_CI)' ./test/agents/claude
	$(AGENTS_TEST) -count=1 -timeout 5m -run '$(CODEX_CORE)' ./test/agents/codex
	AGENT_VERSION=2.1.330 $(AGENTS_TEST) -count=1 -timeout 5m -run '$(NEWER_CORE)' ./test/agents/claude
	$(AGENTS_TEST) -count=1 -timeout 5m -run '$(GEMINI_CORE)' ./test/agents/gemini
	$(AGENTS_TEST) -p 3 -parallel 2 -count=1 -timeout 5m -run '$(OTHERS_CORE)' ./test/agents/opencode ./test/agents/copilot ./test/agents/qwen
	$(AGENTS_TEST) -count=1 -timeout 5m -run 'TestClient$$' ./test/agents/mcpclient
# Of Claude Code's tests those that are green on a newer version as well, at that one:
# the messages, the dialogs of a turn and of a start, and what only that version has.
# TestRespondNotices and the scenario person-first are too, but not on a machine with many
# times its work: 2.1.330 takes no notice of a person's key that comes early.
NEWER := TestVersion$$|TestInbox$$|TestMessagesByLog|TestScenarios$$/^(messages|odd-commands|permission|small-window|two-in-a-row)$$|TestTwoInARow|TestKeysTwoInARow|TestQuestions|TestPlan$$|TestSubagents|TestPermission|TestRespondPermission|TestRespondTrustRefused|TestRespondPlan|TestRespondQuestions|TestRespondSetup|TestRespondEachSetup|TestRespondHeldBack|TestAutoMode|TestHiddenFirstFrame|TestHiddenSubagent|TestStrayLeft|TestNote$$|TestNextSkill|TestWorkflow$$|TestHiddenText|TestFormAskedAgain|TestFormDrawn|TestEditsAreRewritten|TestJapanese
test-claude-newer:
	AGENT_VERSION=2.1.330 $(AGENTS_TEST) -count=1 -timeout 10m -run '$(NEWER)' ./test/agents/claude
	AGENT_VERSION=2.1.330 $(AGENTS_TEST) -count=1 -timeout 5m -run 'TestDelays$$/allowed' ./test/agents/claude
# Each agent's tests at the newest version that npm gives, or at AGENT_VERSION. It reports what fails there,
# and ends with 0. LATEST="-agent claude -run TestPlan" narrows it.
test-agents-latest:
	$(GO) run ./test/agents/latest $(LATEST)
test-gemini: AGENTS_PARALLEL = 3
test-gemini:
	$(AGENTS_TEST) -count=1 -timeout 15m ./test/agents/gemini
# Each of them this often (BERTH_SOAK=5 in the environment makes those of chance
# five times as long), with the server away for a minute where it is away.
SOAK ?= 20
soak-agents:
	BERTH_LAB_AWAY=1m $(AGENTS_TEST) -count=$(SOAK) -timeout 5h ./test/agents/...

# Of the real Claude Code's tests those that answer dialogs, this often.
DIALOGS := TestWays|TestScenarios$$/^(killed-at-a-prompt|odd-commands|permission|person-first|small-window|two-in-a-row)$$|TestRespond|TestKeys|TestHooksEnd|TestForeignHooks|TestPermission|TestFilesAndPages|TestTwoInARow|TestQuestions|TestPlan$$|TestSubagents|TestAskedWhileAway|TestGroom|TestSignIn|TestFirstRun|TestNoWayOut|TestKey|TestNoKey|TestTrustRefused|TestBypass|TestStates|TestDialogStates|TestNote$$|TestNextSkill|TestFormAskedAgain|TestJapanese
soak-dialogs:
	$(AGENTS_TEST) -count=$(SOAK) -timeout 5h -run '$(DIALOGS)' ./test/agents/claude

# Agents that people start in shells: in each way, and with 100 messages.
soak-shells:
	BERTH_SOAK=20 $(AGENTS_TEST) -count=1 -timeout 2h -run 'InAShell' ./test/agents/claude ./test/agents/codex ./test/agents/gemini

# Several real agents on one server, and the clients of others with real agents.
test-together:
	$(AGENTS_TEST) -count=1 -timeout 20m ./test/agents/together

# Messages between sessions while the server is killed, this many; and this many prompts by three at once.
MESSAGES ?= 1000
PROMPTS ?= 200
soak-together:
	BERTH_SOAK_MESSAGES=$(MESSAGES) $(GO) test ./test/faults -run TestMessagesKilled -count=1 -v -timeout 1h
	BERTH_SOAK=12 BERTH_SOAK_PROMPTS=$(PROMPTS) $(AGENTS_TEST) -count=1 -timeout 1h -run 'TestShared$$' ./test/agents/together

# A fleet of this many hosts and sessions on this machine: how long things take. The same with stand-ins for this many
# hosts. Then this many kills of its gateway,
# hosts and NATS server, and a host that is cut off for so long.
FLEET ?= 50x20
HOSTS ?= 1000
KILLS ?= 100
soak-fleet:
	BERTH_FLEET=$(FLEET) $(GO) test ./test -run TestFleetFigures -count=1 -v -timeout 20m
	BERTH_FLEET_HOSTS=$(HOSTS) $(GO) test ./test -run TestFleetOfMany -count=1 -v -timeout 20m
	BERTH_SOAK_KILLS=$(KILLS) BERTH_SOAK_PARTITION=30s $(GO) test ./test -run 'TestFleetKilled|TestFleetPartition' -count=1 -v -timeout 1h

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

# Of these, those that read what strangers and agents send: key lines, certificates,
# revocations, the command line, hooks, and the holder's protocol. By name, so that
# one that is renamed is missed. Two at a time.
EDGE := keys:FuzzParse keys:FuzzCertificate keys:FuzzRevoked commands/words:FuzzSplit commands/words:FuzzParseTail \
	sessions/hold:FuzzFrames sessions/hold:FuzzHook sessions/hold:FuzzAnswer sessions/hold:FuzzHookFrames sessions/hold:FuzzControlLine \
	agent/claude:FuzzHook agent/codex:FuzzHook agent/copilot:FuzzLog agent/gemini:FuzzHook agent/generic:FuzzHook agent/opencode:FuzzHook agent/qwen:FuzzHook
fuzz-edge:
	@echo $(EDGE) | tr ' ' '\n' | GO=$(GO) xargs -P 2 -I{} .ci/fuzz {} $(FUZZTIME)

clean:
	rm -rf bin dist
