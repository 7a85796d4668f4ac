package hold

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/api"
)

func TestTypedIsAnsweredWithoutEcho(t *testing.T) {
	l := start(t, testSpec(t, "/bin/sh", "-c", "stty -echo; echo ready; exec cat >/dev/null"))
	f := follow(l, 0)
	f.untilText(t, "ready")
	answers := make(chan error, 100)
	for i := range cap(answers) {
		if err := l.Type(make([]byte, i%3+1), json.RawMessage(`{"by": "one"}`), func(err error) { answers <- err }); err != nil {
			t.Fatal(err)
		}
	}
	for range cap(answers) {
		select {
		case err := <-answers:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no answer")
		}
	}
	typed := 0
	if err := ReadControl(l.dir, 0, func(r Record) error {
		if r.Kind != KindInput {
			return nil
		}
		var d InputData
		err := json.Unmarshal(r.Data, &d)
		if string(d.Mark) != `{"by":"one"}` {
			t.Errorf("mark %s", d.Mark)
		}
		typed += d.Bytes
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if typed != 199 {
		t.Errorf("%d bytes on record, 199 typed", typed)
	}
	refused := make(chan error, 1)
	if err := l.Type([]byte("x"), json.RawMessage(`{"by`), func(err error) { refused <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; !errors.Is(err, ErrBadRequest) {
		t.Errorf("a mark that isn't JSON: %v", err)
	}
}

func TestRecordOfInputIsAsAnyOther(t *testing.T) {
	for _, mark := range []string{"", "{}", `{"by": {"identity":"<&>\u2028 ü"},` + "\n" + `"typed":true}`, "7"} {
		d := InputData{Bytes: 12, Mark: json.RawMessage(mark)}
		r := Record{N: 7, Time: api.At(time.Now()), Offset: 1 << 40, Kind: KindInput}
		got, ok := encodeInput(r, d)
		if r.Data, _ = encodePlain(d); !ok {
			t.Fatalf("mark %q: not encoded", mark)
		}
		if want, err := encodeRecord(r); err != nil || string(got) != string(want) {
			t.Errorf("mark %q: %q, want %q (%v)", mark, got, want, err)
		}
		back, ok := decodeInput(got)
		if !ok || back.N != r.N || !back.Time.Equal(r.Time.Truncate(time.Millisecond)) || back.Offset != r.Offset || back.Kind != r.Kind {
			t.Errorf("mark %q: read as %+v, %t", mark, back, ok)
		}
		if read, err := back.Input(); err != nil || read.Bytes != d.Bytes || (len(read.Mark) == 0) != (mark == "") {
			t.Errorf("mark %q: read as %+v, %v", mark, read, err)
		}
	}
	if _, ok := encodeInput(Record{N: 1, Time: api.At(time.Now()), Kind: KindInput}, InputData{Mark: json.RawMessage("{")}); ok {
		t.Error("a mark that isn't JSON was encoded")
	}
}

func TestPaceKeepsWakesApart(t *testing.T) {
	l := start(t, testSpec(t, "/bin/sh", "-c", "while :; do echo line; sleep 0.005; done"))
	const pace = 200 * time.Millisecond
	l.Pace(pace)
	wakes := func(enough func(n int, took time.Duration) bool) (n int, took time.Duration) {
		deadline := time.After(20 * time.Second)
		for began := time.Now(); !enough(n, took); took = time.Since(began) {
			select {
			case <-l.Wake():
				n++
				offset, _ := l.Written()
				l.Consumed(offset)
			case <-deadline:
				t.Fatalf("%d wakes in 20 s", n)
			}
		}
		return n, took
	}
	n, took := wakes(func(_ int, took time.Duration) bool { return took > 2*time.Second })
	if most := 2 + paceBurst + int(took/pace)*3/2; n > most {
		t.Errorf("%d wakes in %s, at most %d expected", n, took, most)
	}
	l.Pace(0)
	for round := 0; ; round++ { // a busy machine prints slowly
		n, took = wakes(func(n int, _ time.Duration) bool { return n >= 50 })
		if took < 50*pace/4 {
			return
		}
		if round == 5 {
			t.Fatal(fmt.Sprintf("still %d wakes in %s", n, took))
		}
	}
}

// TestEndOfAStreamIsToldAtPace has far more wakes come than the pace allows.
func TestEndOfAStreamIsToldAtPace(t *testing.T) {
	l := start(t, testSpec(t, "/bin/sh", "-c", "stty -echo; echo ready; read _; head -c 20000000 /dev/zero; echo; sleep 0.1; echo end; exec cat"))
	f := follow(l, 0)
	f.untilText(t, "ready")
	l.Pace(maxPace)
	if err := l.Input(t.Context(), []byte("\n"), nil); err != nil {
		t.Fatal(err)
	}
	o := OpenOutput(l.dir)
	defer o.Close()
	printed := make(chan time.Time, 1)
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			if _, next, err := o.Range(); err != nil || next >= 20_000_000+int64(len("ready\r\n\r\nend\r\n")) {
				printed <- time.Now()
				return
			}
		}
	}()
	f.untilText(t, "end")
	if took := time.Since(<-printed); took > 3*maxPace {
		t.Errorf("the end was reported %s after it was printed", took)
	}
}
