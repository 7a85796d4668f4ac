package sessions

import (
	"bytes"

	"berth/agent"
	"berth/detect"
	"berth/detect/tail"
)

// streamLimit is the longest line of structured output that is read, in bytes.
const streamLimit = 256 << 10

// newStream begins to read what a program prints as lines that tell of it, where
// its driver says that they do.
func (c *core) newStream(d *detection, from tail.Place) {
	if c.spec.Stream {
		d.stream = tail.Assemble(from, streamLimit)
	}
}

// readStream takes in output that was printed at an offset. It makes facts of
// whole lines alone, so that what is read again makes the same ones.
func (c *core) readStream(data []byte, offset int64) {
	d := c.detection
	if d == nil || d.stream == nil {
		return
	}
	if d.stream.At() < offset {
		c.refill(d, offset)
	}
	if d.stream.At() != offset {
		return
	}
	d.stream.Take(data, func(line []byte, next int64) { c.applyStreamLine(d, line, next) })
}

// refill takes in what the assembler lacks: the beginning of a line whose end
// had not been printed at the last checkpoint. What is not kept any more is
// skipped to the next line's beginning.
func (c *core) refill(d *detection, upTo int64) {
	buf := buffers.Get().(*[batch]byte)
	defer buffers.Put(buf)
	for at := d.stream.At(); at < upTo; at = d.stream.At() {
		n, err := c.readOutput(buf[:min(upTo-at, batch)], at)
		if n == 0 || err != nil {
			d.stream = tail.Assemble(tail.Place{Offset: upTo, Inside: true, Skipped: d.stream.Place().Skipped + 1}, streamLimit)
			return
		}
		d.stream.Take(buf[:n], func([]byte, int64) {}) // whole ones were taken in before
	}
}

// applyStreamLine takes in one line. What a program prints for its terminal, and
// no JSON, says nothing.
func (c *core) applyStreamLine(d *detection, line []byte, next int64) {
	begin := bytes.IndexByte(line, '{')
	if c.detection != d || begin < 0 {
		return
	}
	facts, err := d.driver.Stream(line[begin:])
	if err != nil {
		return
	}
	at := &sourcePlace{Source: agent.SourceStream, Offset: next}
	told := c.streamTold.covers(at)
	var results []detect.Result
	for _, f := range facts {
		if !told {
			d.ids.opening = c.s.reg.events.LastSeq(c.s.id) + 1
		}
		f.Time = d.clock(c.now())
		turn := d.fold.Status().Turn
		result := d.fold.Apply(f)
		c.noteConversation(f, result)
		if !result.Foreign {
			d.meter.Take(turn, f, f.Kind == agent.TurnEnded)
		}
		c.listen(d.printed(f), result)
		results = append(results, result)
	}
	c.tellOnce(told, at, results)
}

// printed gives the end of a turn that is told without words the last that were
// printed before it.
func (d *detection) printed(f agent.Fact) agent.Fact {
	switch {
	case f.Agent != "":
	case f.Kind == agent.Acting && f.Text != "":
		d.words = f.Text
	case f.Kind == agent.TurnEnded && f.Text == "":
		f.Text, d.words = d.words, ""
	case f.Kind == agent.TurnStarted:
		d.words = ""
	}
	return f
}
