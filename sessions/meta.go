package sessions

import (
	"context"
	"maps"
	"slices"

	"berth/api"
)

// Retag adds and removes tags.
func (s *Session) Retag(ctx context.Context, by Actor, add, remove []string) error {
	return s.change(ctx, func(c *core) error {
		tags := slices.DeleteFunc(slices.Clone(c.spec.Tags), func(t string) bool { return slices.Contains(remove, t) })
		for _, t := range add {
			if !slices.Contains(tags, t) {
				tags = append(tags, t)
			}
		}
		if len(tags) > maxTags {
			return api.Errorf(api.CodeLimit, "%s would have %d tags: at most %d are kept", c.spec.Name, len(tags), maxTags)
		}
		slices.Sort(tags)
		return c.changeSpec(func(spec *Spec) { spec.Tags = tags }, func() { c.noteTags(by) })
	})
}

// SetMeta sets key-values; an empty value drops its key.
func (s *Session) SetMeta(ctx context.Context, by Actor, change map[string]string) error {
	return s.change(ctx, func(c *core) error {
		meta := maps.Clone(c.spec.Meta)
		if meta == nil {
			meta = map[string]string{}
		}
		for k, v := range change {
			if v == "" {
				delete(meta, k)
			} else {
				meta[k] = v
			}
		}
		if len(meta) > maxMetaKeys {
			return api.Errorf(api.CodeLimit, "%s would have %d meta keys: at most %d are kept", c.spec.Name, len(meta), maxMetaKeys)
		}
		return c.changeSpec(func(spec *Spec) { spec.Meta = meta }, func() { c.noteTags(by) })
	})
}

func (c *core) noteTags(by Actor) {
	meta := c.s.reg.options.Environment.Redact(c.spec.Meta) // every watcher sees events
	c.kernel.Emit.Paced(0, "tags", "tag", by.By(), tagsEvent{By: by.By(), Tags: noNil(c.spec.Tags), Meta: meta})
}
