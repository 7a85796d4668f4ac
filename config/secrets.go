package config

import (
	"strings"

	"berth/api"
)

// secretWords mark a variable whose value is never shown.
var secretWords = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}

// IsSecretName says that values of that name must not be shown in info, events, audit or errors.
func IsSecretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, w := range secretWords {
		if strings.Contains(upper, w) {
			return true
		}
	}
	return false
}

// RedactMap is a copy of values by name, with the secret ones hidden.
func RedactMap(env map[string]string) map[string]string {
	out := make(map[string]string, len(env))
	for name, value := range env {
		if out[name] = value; IsSecretName(name) {
			out[name] = api.Hidden
		}
	}
	return out
}
