package claude

import (
	"os"
	"path/filepath"

	"berth/test/agents/host"
)

// Seed is what has been set up in a home before Claude Code first starts there: each
// false field leaves a dialog to be answered.
type Seed struct {
	Onboarded      bool // theme and security notes
	KeyApproved    bool // the API key of the environment
	Trusted        bool // the workspace
	BypassAccepted bool // the warning about bypassed permissions
	NoHooks        bool // the user has turned hooks off

	Hooks map[string]string // the user's own: commands by event
}

// Ready is the seed of a home that goes straight to the prompt.
func Ready() Seed {
	return Seed{Onboarded: true, KeyApproved: true, Trusted: true, BypassAccepted: true}
}

// Home is a home folder with Claude Code's own files and a workspace.
type Home struct {
	Dir       string // $HOME
	Config    string // $CLAUDE_CONFIG_DIR
	Workspace string // where it starts
	Key       string // the API key, which only looks like one
}

// NewHome makes a home below dir, which exists.
func NewHome(dir string, seed Seed) (*Home, error) {
	dir, err := filepath.EvalSymlinks(dir) // projects are known by their real path
	if err != nil {
		return nil, err
	}
	h := &Home{
		Dir: filepath.Join(dir, "home"), Config: filepath.Join(dir, "config"), Workspace: filepath.Join(dir, "ws"),
		Key: "sk-ant-lab-0123456789-abcdefghijklmnopqrst",
	}
	for _, d := range []string{h.Dir, h.Config, h.Workspace} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(h.Workspace, "sample.txt"), []byte("hello\n"), 0o644); err != nil {
		return nil, err
	}
	return h, h.seed(seed)
}

// Reset sets the home up anew from another seed. No program may run in it.
func (h *Home) Reset(seed Seed) error {
	if err := os.RemoveAll(h.Config); err != nil {
		return err
	}
	if err := os.Mkdir(h.Config, 0o700); err != nil {
		return err
	}
	return h.seed(seed)
}

// keyTail is how much of a key's end Claude Code keeps to know it again.
const keyTail = 20

func (h *Home) seed(seed Seed) error {
	config := map[string]any{}
	if seed.Onboarded {
		config["hasCompletedOnboarding"] = true
		config["lastOnboardingVersion"] = Version
		config["theme"] = "dark"
	}
	if seed.KeyApproved {
		config["customApiKeyResponses"] = map[string]any{"approved": []string{h.Key[len(h.Key)-keyTail:]}, "rejected": []string{}}
	}
	if seed.Trusted {
		config["projects"] = map[string]any{h.Workspace: map[string]any{"hasTrustDialogAccepted": true}}
	}
	if len(config) > 0 {
		if err := host.WriteJSON(filepath.Join(h.Config, ".claude.json"), config); err != nil {
			return err
		}
	}
	// The renderer is set because it depends on the terminal otherwise.
	settings := map[string]any{"tui": "default"}
	if seed.BypassAccepted {
		settings["skipDangerousModePermissionPrompt"] = true
	}
	if seed.NoHooks {
		settings["disableAllHooks"] = true
	}
	hooks := map[string]any{}
	for event, command := range seed.Hooks {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}
	}
	if len(hooks) > 0 {
		settings["hooks"] = hooks
	}
	return host.WriteJSON(filepath.Join(h.Config, "settings.json"), settings)
}

// Env is the environment to add for Claude Code: its home, the model API in
// place of Anthropic's, and no other traffic. Other requests go to the model API as to
// a proxy, which refuses them and reports them to the test.
func (h *Home) Env(api string) map[string]string {
	env := map[string]string{
		"HOME": h.Dir, "CLAUDE_CONFIG_DIR": h.Config,
		"CLAUDE_CODE_TMPDIR": h.Dir, // of background tasks; /tmp/claude-UID otherwise
		"ANTHROPIC_API_KEY":  h.Key, "ANTHROPIC_BASE_URL": api,
		"HTTPS_PROXY": api, "HTTP_PROXY": api, "NO_PROXY": "127.0.0.1,localhost",
		"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_BUG_COMMAND": "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		// What the setting above leaves: a git clone from the network at the start.
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
		"CLAUDE_CODE_FORCE_SYNC_OUTPUT":                        "1",
		"LANG":                                                 "C.UTF-8",
	}
	if os.Geteuid() == 0 {
		env["IS_SANDBOX"] = "1" // bypassed permissions are refused to root otherwise
	}
	return env
}
