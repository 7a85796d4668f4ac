package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path/filepath"

	"berth/agent"
	"berth/agent/userfiles"
)

// A session's own home shares the user's sign-in: a token that is renewed in one must be valid in
// the other. Claude renames a new file over the old one and locks its folder meanwhile, so it must
// know the user's folder itself. The first renewal would replace a link to the file, and then the
// user's own token would be void.
const (
	credentials    = ".credentials.json"
	credentialsDir = "CLAUDE_SECURESTORAGE_CONFIG_DIR"
)

// keyTail is how much of a key's end Claude keeps and shows, to recognize the key.
const keyTail = 20

// ownHome creates a session's own home. It answers the questions of an empty home in advance if
// Berth answers startup prompts, and only as far as the session says. It writes the file once,
// because Claude writes it itself later.
func ownHome(l *agent.Launch, s agent.Start, dir string) error {
	l.Folders = append(l.Folders, dir)
	l.Set = map[string]string{"CLAUDE_CONFIG_DIR": dir}
	// If the user has no credentials, a sign-in here must not create some in the user's home.
	if theirs := configDir(s.Env); s.Env[credentialsDir] == "" && there(s.Disk, filepath.Join(theirs, credentials)) {
		l.Set[credentialsDir] = theirs
	}
	if s.Groom != agent.GroomAuto {
		return nil
	}
	config := map[string]any{"hasCompletedOnboarding": true, "lastOnboardingVersion": Measured[0], "theme": "dark"}
	if key := s.Own[apiKey]; key != "" {
		config["customApiKeyResponses"] = map[string]any{"approved": []string{tail(key)}, "rejected": []string{}}
	}
	if s.Trust {
		config["projects"] = map[string]any{s.Cwd: map[string]any{"hasTrustDialogAccepted": true}}
	}
	seeds := map[string]map[string]any{".claude.json": config}
	if s.AcceptBypass {
		seeds["settings.json"] = map[string]any{"skipDangerousModePermissionPrompt": true}
	}
	for name, value := range seeds {
		file := filepath.Join(dir, name)
		if there(s.Disk, file) {
			continue
		}
		data, err := encode(value)
		if err != nil {
			return err
		}
		l.Files[file] = data
	}
	return nil
}

func there(disk fs.FS, path string) bool {
	_, err := fs.Stat(disk, userfiles.Name(path))
	return err == nil
}

const apiKey = "ANTHROPIC_API_KEY"

func tail(key string) string { return key[max(0, len(key)-keyTail):] }

// vouched is a digest of what the dialog shows of the key from the session's own environment.
func vouched(own map[string]string) map[string]string {
	if own[apiKey] == "" {
		return nil
	}
	return map[string]string{agent.SubtypeAPIKey: digest(tail(own[apiKey]))}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
