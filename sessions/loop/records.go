package loop

import (
	"fmt"

	"berth/sessions/hold"
	"berth/terminal"
)

type lossEvent struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Records int    `json:"records"`
	Why     string `json:"why"`
}

// output takes in output. Live says that it was printed to this server.
func (k *Kernel) output(data []byte, live bool) {
	offset := k.Screen.Offset()
	k.live = live
	k.Screen.Write(data)
	if !k.reviewing {
		if k.env.Read != nil {
			k.env.Read.Add(int64(len(data)))
		}
		k.observer.Output(data, offset)
		if live {
			k.lastOut = k.env.Now()
		}
	}
	k.observer.Printed()
	k.Moved()
}

// skip goes over output that is gone.
func (k *Kernel) skip(to int64) {
	from := k.Screen.Skip(to)
	k.Changed()
	k.env.Log.Warn("output is gone", "from", from, "to", to)
}

func (k *Kernel) title(title string) {
	k.Changed()
	k.observer.Title(title)
}

func (k *Kernel) notice(n terminal.Notice) {
	if !k.reviewing {
		k.observer.Notice(n.OSC, n.Payload)
	}
}

// clipboard passes on what the program writes to the clipboard now. What it wrote to the clients of a
// server before isn't for those of this one.
func (k *Kernel) clipboard(write string) {
	if !k.reviewing && k.live {
		k.env.Clipboard(write)
	}
}

// Record applies a control record: to the screen and to the parts always. The events that follow are
// appended only if the record has none yet. While the journal is read for the screen alone, the parts
// don't get it.
func (k *Kernel) Record(r hold.Record) {
	var err error
	if r.Kind == hold.KindInput {
		k.markRecalled(r.Time.Time)
		k.turns.typedAt = r.Offset
	}
	switch {
	case k.reviewing:
		k.review(r)
	case r.Kind == hold.KindReply:
		err = k.replyRecord(r)
	case r.Kind == hold.KindLoss:
		err = k.lossRecord(r)
	default:
		err = k.partsRecord(r)
	}
	if err != nil {
		k.Problem.Trouble(fmt.Sprintf("read control record %d (%s)", r.N, r.Kind), err)
	}
	k.applied = r.N
	if !k.reviewing {
		k.env.Applied(r)
	}
}

// review does what a record means for the screen alone.
func (k *Kernel) review(r hold.Record) {
	switch r.Kind {
	case hold.KindStarted:
		if d, err := Decode[hold.StartedData](r); err == nil {
			k.Screen.Begin(r.N == 1, d.Cols, d.Rows)
		}
	case hold.KindResize:
		if d, err := Decode[hold.ResizeData](r); err == nil {
			k.Screen.Resize(d.Cols, d.Rows)
		}
	}
}

func (k *Kernel) replyRecord(r hold.Record) error {
	d, err := Decode[hold.ReplyData](r)
	if err == nil {
		k.Screen.Answer(d.At)
	}
	return err
}

func (k *Kernel) lossRecord(r hold.Record) error {
	d, err := Decode[hold.LossData](r)
	if err != nil {
		return err
	}
	k.losses += d.To - d.From
	k.env.Gather()
	k.Emit.Event(r, "output_lost", lossEvent{From: d.From, To: d.To, Records: d.Records, Why: d.Why})
	return nil
}

// partsRecord gives a record to the parts, and appends the events that follow from it in one step: a
// kill leaves all of them or none.
func (k *Kernel) partsRecord(r hold.Record) error {
	told, err := k.Parts.Record(r)
	if err != nil || len(told.Events) == 0 && len(told.Results) == 0 {
		return err
	}
	k.env.Gather()
	if k.Emit.Written(r.N) {
		k.observer.Reapply(told.Results)
		return nil
	}
	if len(told.Events) > 0 {
		k.Emit.Write(r.N)
	}
	k.observer.Emit(told.Results, told.Events...)
	return nil
}

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{"output_lost": lossEvent{}}
