package commands

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"berth/detect/replay"
	"berth/sessions"
)

func exportFlags(f *pflag.FlagSet) {
	f.Bool("cast", false, "as an asciicast v2 file")
}

// castHeader is the first line of an asciicast v2 file.
type castHeader struct {
	Version   int               `json:"version"`
	Width     int               `json:"width"`
	Height    int               `json:"height"`
	Timestamp int64             `json:"timestamp"`
	Title     string            `json:"title"`
	Env       map[string]string `json:"env"`
}

func export(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	if cast, _ := c.flags.GetBool("cast"); !cast {
		return Lookup("export").usage(errors.New("name the format: --cast"))
	}
	out := bufio.NewWriterSize(c.Out, 32<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var start time.Time
	at := 0.0 // of the last event, in seconds since the start
	err = s.Recording(ctx, func(part sessions.Part) error {
		if start.IsZero() {
			start = part.Time
			return enc.Encode(castHead(s, start, part.Cols, part.Rows)) // the first part is the size
		}
		at = max(part.Time.Sub(start).Seconds(), 0)
		kind, data := "o", string(part.Data)
		if part.Resize {
			kind, data = "r", fmt.Sprintf("%dx%d", part.Cols, part.Rows)
		}
		return enc.Encode([]any{json.Number(fmt.Sprintf("%.6f", at)), kind, data})
	})
	if err == nil && !start.IsZero() && s.Status().Running() {
		// Else a reader of the file takes its last output for the program's end.
		err = enc.Encode([]any{json.Number(fmt.Sprintf("%.6f", max(c.Now().Sub(start).Seconds(), at))), "m", replay.StillRunning})
	}
	if err == nil && start.IsZero() { // nothing was printed yet: an empty recording is one too
		st := s.Status()
		err = enc.Encode(castHead(s, st.Created.Time, st.Cols, st.Rows))
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

func castHead(s *sessions.Session, start time.Time, cols, rows int) castHeader {
	return castHeader{Version: 2, Width: cols, Height: rows, Timestamp: start.Unix(), Title: s.Status().Name, Env: map[string]string{"TERM": "xterm-256color"}}
}
