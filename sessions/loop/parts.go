package loop

import (
	"encoding/json"
	"slices"
	"time"

	"berth/sessions/events"
	"berth/sessions/hold"
)

// Parts are those of a session. A record goes to them in their order, and so does a turn of the
// loop.
type Parts []Named

// Named is a part with the name that the checkpoint has for what it saves.
type Named struct {
	Name string
	// Own says that the part saves among the checkpoint's own fields, as it did before there were
	// parts.
	Own bool
	Part
}

// Begin is Part.Begin of each.
func (ps Parts) Begin(at time.Time) {
	for _, part := range ps {
		part.Begin(at)
	}
}

// End is Part.End of each.
func (ps Parts) End() {
	for _, part := range ps {
		part.End()
	}
}

// Record takes a record to the parts and gives what follows from it, for one step.
func (ps Parts) Record(r hold.Record) (told Outcome, err error) {
	for _, part := range ps {
		more, err := part.Record(r)
		if err != nil {
			return told, err
		}
		told.Events = append(told.Events, more.Events...)
		told.Results = append(told.Results, more.Results...)
	}
	return told, nil
}

// dueAfter is a part whose deadline the others change after its Tick.
type dueAfter interface {
	Due(now time.Time) (next time.Time)
}

// Tick lets the parts do what is due, and gives when something is next; zero: never.
func (ps Parts) Tick(now time.Time) (next time.Time) {
	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, part := range ps {
		sooner(part.Tick(now))
	}
	for _, part := range ps {
		if after, ok := part.Part.(dueAfter); ok {
			sooner(after.Due(now))
		}
	}
	return next
}

// Save puts into the checkpoint what the parts save. Trouble is called for one that fails.
func (ps Parts) Save(into *Checkpoint, trouble func(what string, err error)) {
	into.Parts = map[string]json.RawMessage{}
	for _, part := range ps {
		data, err := part.Save()
		switch {
		case err != nil:
			trouble("save the "+part.Name, err)
		case part.Own:
			into.own = slices.Concat(into.own, []byte(","), data[1:len(data)-1])
		default:
			into.Parts[part.Name] = data
		}
	}
}

// Restore has the parts take up what the checkpoint keeps of them. One of an older version has it
// among its own fields. Trouble is called for one that fails: it begins anew then, with the program
// that is still followed.
func (ps Parts) Restore(from Checkpoint, trouble func(what string, err error)) {
	for _, part := range ps {
		data, ok := from.Parts[part.Name]
		if !ok {
			data = from.line
		}
		if len(data) == 0 {
			data = []byte("{}") // there is no checkpoint
		}
		if err := part.Restore(data, from.Followed()); err != nil {
			trouble("restore the "+part.Name, err)
			if from.Followed() {
				part.Begin(from.Taken.Time)
			}
		}
	}
}

// Recall is Part.Recall of each.
func (ps Parts) Recall(line events.Line) {
	for _, part := range ps {
		part.Recall(line)
	}
}
