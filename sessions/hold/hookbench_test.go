package hold

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hookTells is how many hooks a round runs, a little below what a session may
// have recorded in a second.
const hookTells = 500

// toldAt is the payload of a timed hook: the wall clock just before its exec.
type toldAt struct {
	At int64 `json:"at"`
}

// runHooks runs `bin hook --tell` n times and prints how many microseconds each
// took from exec to end.
func runHooks(n int, bin string) int {
	for range n {
		r, w, err := os.Pipe()
		if err != nil {
			return 1
		}
		cmd := exec.Command(bin, "hook", "--tell", "Timed")
		cmd.Stdin = r
		began := time.Now()
		body, _ := json.Marshal(toldAt{At: began.UnixNano()})
		w.Write(body)
		w.Close()
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
			return 1
		}
		r.Close()
		fmt.Println(time.Since(began).Microseconds())
		time.Sleep(5 * time.Millisecond) // an agent's pace; and below the bound of a second
	}
	return 0
}

// buildHolder builds the binary itself, since what it carries costs its start.
func buildHolder(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), HookBinary)
	if out, err := exec.Command("go", "build", "-trimpath", "-o", bin, "berth/cmd/berth-hold").CombinedOutput(); err != nil {
		b.Fatalf("build berth-hold: %v\n%s", err, out)
	}
	return bin
}

// BenchmarkHookTell is `berth hook --tell` in a session: from exec to its end,
// and from exec to its record in the server's hands.
func BenchmarkHookTell(b *testing.B) {
	a := newAgentIn(b, b.TempDir())
	bin := buildHolder(b)
	l, err := Start(b.Context(), bin, a.spec, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer endHolder(b, l)
	var whole, seen []float64
	for b.Loop() {
		r := a.run("", exe(b), "program", "tells", strconv.Itoa(hookTells), bin)
		ended := make(chan outcome, 1)
		go func() { ended <- r.wait() }()
		seen = append(seen, watchTells(b, l, hookTells)...)
		for _, line := range strings.Fields(string((<-ended).Stdout)) {
			us, err := strconv.ParseFloat(line, 64)
			if err != nil {
				b.Fatalf("the agent said %q", line)
			}
			whole = append(whole, us)
		}
	}
	slices.Sort(whole)
	slices.Sort(seen)
	b.ReportMetric(whole[len(whole)/2], "process-p50-us")
	b.ReportMetric(whole[len(whole)*99/100], "process-p99-us")
	b.ReportMetric(seen[len(seen)/2], "seen-p50-us")
	b.ReportMetric(seen[len(seen)*99/100], "seen-p99-us")
	b.ReportMetric(0, "ns/op")
}

// watchTells waits for n timed hooks as a server does and gives their ages in
// microseconds.
func watchTells(b *testing.B, l *Link, n int) []float64 {
	var ages []float64
	f := follow(l, l.Welcome().Written)
	for deadline := time.After(patience); len(ages) < n; {
		select {
		case <-l.Wake():
		case <-deadline:
			b.Fatalf("%d of %d hooks", len(ages), n)
		}
		err := l.ReadControl(l.control.Last(), func(r Record) error {
			now := time.Now()
			var d HookData
			var at toldAt
			if r.Kind != KindHook || json.Unmarshal(r.Data, &d) != nil || json.Unmarshal(d.Payload, &at) != nil {
				return nil
			}
			ages = append(ages, float64(now.UnixNano()-at.At)/1e3)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		f.read(b)
	}
	return ages
}
