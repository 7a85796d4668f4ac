package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path/filepath"

	"berth/agent"
	"berth/agent/userfiles"
)

// A home of a session's own shares the user's sign-in: a token renewed here holds
// there. Claude renames a new file over the old one and locks its folder
// meanwhile, so it has to know the folder itself: a link to the file would be
// replaced by the first renewal, after which the user's own token is void.
const (
	credentials    = ".credentials.json"
	credentialsDir = "CLAUDE_SECURESTORAGE_CONFIG_DIR"
)

// keyTail is how much of a key's end Claude keeps, and shows, to know it again.
const keyTail = 20

// ownHome makes a home for a session of its own. What Claude asks an empty one
// is answered beforehand where the session grooms, and only as far as it says:
// Claude writes the file itself later, so that it is written once.
func ownHome(l *agent.Launch, s agent.Start, dir string) error {
	l.Folders = append(l.Folders, dir)
	l.Set = map[string]string{"CLAUDE_CONFIG_DIR": dir}
	// Where there are none, a sign-in here must not make some there.
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

// vouched says which key comes from the session's own environment, by a digest
// of what the dialog shows of it.
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
