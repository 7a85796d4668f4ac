package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"berth/api"
)

// Plain is a session's fields that are set, as JSON shows them, with the values of secret names hidden. What a
// notification is sent to is hidden too: such addresses let anyone who has them send.
func (s Session) Plain() map[string]any {
	return plainer{hide: true}.fields(reflect.ValueOf(s))
}

// plainer makes plain values; hide says that secret ones are hidden.
type plainer struct{ hide bool }

// secret says that the value of a field or a key isn't shown. The headers of an MCP server carry its token.
func (p plainer) secret(name string) bool {
	return p.hide && (IsSecretName(name) || strings.EqualFold(name, "headers") || strings.EqualFold(name, "authorization"))
}

// hiddenFields are fields whose names don't say that their values are secret.
var hiddenFields = map[string]bool{"webhook": true, "url": true, "slack": true, "telegram": true, "ntfy": true}

func (p plainer) fields(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i, name := range fieldNames(v.Type()) {
		f := v.Field(i)
		if name == "-" || f.IsZero() {
			continue
		}
		if p.hide && v.Type() == reflect.TypeFor[Notify]() && hiddenFields[name] || p.secret(name) && f.Kind() == reflect.String {
			out[name] = api.Hidden
			continue
		}
		if value := p.value(f); value != nil {
			out[name] = value
		}
	}
	return out
}

func (p plainer) value(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case time.Duration:
		return x.String()
	case Processors:
		return float64(x) / 1000
	case fmt.Stringer:
		return x.String()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return p.value(v.Elem())
	case reflect.Struct:
		if fields := p.fields(v); len(fields) > 0 {
			return fields
		}
		return nil
	case reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			list = append(list, p.value(v.Index(i)))
		}
		return list
	case reflect.Map:
		out := map[string]any{}
		for _, key := range v.MapKeys() {
			if out[key.String()] = p.value(v.MapIndex(key)); p.secret(key.String()) {
				out[key.String()] = api.Hidden
			}
		}
		return out
	}
	return v.Interface()
}

// HasHidden says that a value is what Plain shows in place of a hidden one.
func (s Session) HasHidden() bool { return hides(plainer{}.fields(reflect.ValueOf(s))) }

// Digests are the fields that are set, each with a digest of its value. They tell whether the configuration has
// changed, without a copy of its secrets.
func (s Session) Digests() map[string]string {
	out := map[string]string{}
	for name, value := range (plainer{}).fields(reflect.ValueOf(s)) {
		text, err := json.Marshal(value) // with its keys in order
		if err != nil {
			text = []byte(err.Error())
		}
		sum := sha256.Sum256(text)
		out[name] = hex.EncodeToString(sum[:8])
	}
	return out
}

// hides says that a value is one that Plain shows in place of a hidden one.
func hides(v any) bool {
	switch x := v.(type) {
	case string:
		return x == api.Hidden
	case map[string]any:
		for _, one := range x {
			if hides(one) {
				return true
			}
		}
	case []any:
		for _, one := range x {
			if hides(one) {
				return true
			}
		}
	}
	return false
}
