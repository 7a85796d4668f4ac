package track

import (
	"bytes"

	"berth/agent"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/loop"
)

// StreamLimit is the longest line of structured output that is read, in bytes.
const StreamLimit = 256 << 10

// Output applies output from an offset. Only whole lines become facts, so that reading again makes the same
// facts.
func (t *Track) Output(data []byte, offset int64) {
	d := t.d
	if d == nil || d.stream == nil {
		return
	}
	if d.stream.At() < offset {
		t.refill(d, offset)
	}
	if d.stream.At() != offset {
		return
	}
	d.stream.Take(data, func(line []byte, next int64) { t.applyStreamLine(d, line, next) })
}

// refill reads what the assembler lacks: the start of a line whose end was not printed at the checkpoint. If
// the output is no longer kept, it skips to the start of the next line.
func (t *Track) refill(d *detection, upTo int64) {
	buf := loop.Buffers.Get().(*loop.Buffer)
	defer loop.Buffers.Put(buf)
	for at := d.stream.At(); at < upTo; at = d.stream.At() {
		n, err := t.env.ReadOutput(buf[:min(upTo-at, loop.Batch)], at)
		if n == 0 || err != nil {
			d.stream = tail.Assemble(tail.Place{Offset: upTo, Inside: true, Skipped: d.stream.Place().Skipped + 1}, StreamLimit)
			return
		}
		d.stream.Take(buf[:n], func([]byte, int64) {}) // whole lines were applied before
	}
}

// applyStreamLine applies one line. A line without JSON is for the terminal and is ignored.
func (t *Track) applyStreamLine(d *detection, line []byte, next int64) {
	begin := bytes.IndexByte(line, '{')
	if t.d != d || begin < 0 {
		return
	}
	facts, err := shallow(line[begin:], d.driver.Stream)
	if err != nil {
		return
	}
	at := &place{Source: agent.SourceStream, Offset: next}
	emitted := t.emitted.StreamTold.covers(at)
	var results []detect.Result
	for _, f := range facts {
		d.ids.at(t.env.Next(), emitted)
		f.Time = d.clock(t.env.Now())
		turn := d.streamTurn(f)
		result := d.fold.Apply(f)
		t.noteConversation(f, result)
		if !result.Foreign {
			d.meter.Take(turn, f, f.Kind == agent.TurnEnded)
		}
		end := d.printed(f)
		if end.Kind == agent.TurnEnded && end.Turn == "" {
			end.Turn = turn
		}
		t.listen(end, result)
		results = append(results, result)
	}
	t.emitOnce(emitted, at, results)
}

// streamTurn is the turn of a line, which doesn't name it. Claude Code 2.1.330 prints a result after the hook
// that ended its turn.
func (d *detection) streamTurn(f agent.Fact) string {
	turn := d.fold.Status().Turn
	if turn == "" && f.Kind == agent.TurnEnded && d.said != nil && d.said.Text == f.Text {
		return d.said.Turn
	}
	return turn
}
