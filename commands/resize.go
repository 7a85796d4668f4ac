package commands

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"berth/api"
	"berth/keys"
	"berth/sessions"
)

// Resized is the answer of the verb resize.
type Resized struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Seq     uint64 `json:"seq"`
}

func resizeVerb() *Verb {
	return &Verb{
		Name: "resize", Group: "drive", Synopsis: "S COLSxROWS [--wait-lock D] [--takeover] [--lease G]", Short: "set the size of a session's terminal",
		Examples: []Example{
			{"resize alpha 120x40", "120 columns and 40 rows"},
		},
		Need: keys.Operator, MinArgs: 2, MaxArgs: 2, Answer: Resized{}, Run: resize, Flags: claimFlags,
	}
}

func resize(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	cols, rows, err := parseSize(c.Args[1])
	if err != nil {
		return err
	}
	if err := s.Resize(ctx, c.claim("resize", keys.Operator, s), cols, rows); err != nil {
		return err
	}
	st := s.Status()
	done := Resized{Session: st.Name, ID: st.ID, Cols: cols, Rows: rows, Seq: st.Seq}
	return c.answer(done, func(w io.Writer) { fmt.Fprintf(w, "%s is %dx%d\n", done.Session, cols, rows) })
}

// parseSize reads COLSxROWS.
func parseSize(word string) (cols, rows int, err error) {
	left, right, ok := strings.Cut(word, "x")
	cols, errCols := strconv.Atoi(left)
	rows, errRows := strconv.Atoi(right)
	if !ok || errCols != nil || errRows != nil {
		return 0, 0, api.Errorf(api.CodeUsage, "%s isn't a valid size: give COLSxROWS such as 120x40", api.Quote(word))
	}
	return cols, rows, sessions.CheckSize(cols, rows)
}
