package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"berth/terminal/paint"
	"berth/test/screens"
)

var update = flag.Bool("update", false, "draw the pictures in docs/screens anew")

// picture draws what a person's terminal shows of the model.
func picture(m *Model, cols, rows int, light bool) string {
	return screens.SVG(shoot(m, cols, rows, paint.Depth256, light), light)
}

// TestCardPictures draws one card of each kind, at a phone's size and beside the list, and compares
// them with the pictures in docs/screens. -update draws these anew.
func TestCardPictures(t *testing.T) {
	for _, kind := range []string{"edit", "write", "command", "tool", "plan", "question", "long"} {
		for _, size := range []struct{ cols, rows int }{{40, 20}, {120, 30}} {
			m := cardScene(t, kind, size.cols, size.rows)
			path := filepath.Join("../docs/screens", fmt.Sprintf("card-%s-%d.svg", kind, size.cols))
			got := picture(m, size.cols, size.rows, false)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(path); err != nil || string(want) != got {
				t.Errorf("%s isn't what the dashboard draws (%v): look at it, and run go test ./tui -run TestCardPictures -update\n%s", path, err, drawn(m))
			}
		}
	}
}
