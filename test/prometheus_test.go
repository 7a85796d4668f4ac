package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// startPrometheus starts Prometheus for the rest of the script. It scrapes the server's
// listen_metrics five times a second; promql asks it.
func startPrometheus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: prometheus")
	}
	written, err := os.ReadFile(filepath.Join(stageOf(ts).dir, "server.log"))
	ts.Check(err)
	target := regexp.MustCompile(`listen_metrics=(\S+)`).FindSubmatch(written)
	if target == nil {
		ts.Fatalf("the server listens for no scrapes:\n%s", written)
	}
	dir, err := os.MkdirTemp(stageOf(ts).dir, "prometheus")
	ts.Check(err)
	file := filepath.Join(dir, "prometheus.yml")
	ts.Check(os.WriteFile(file, fmt.Appendf(nil, "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\nscrape_configs:\n- job_name: berth\n  static_configs: [{targets: [%q]}]\n", target[1]), 0o600))
	cmd := exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	log, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	address, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if a := listensOn.FindStringSubmatch(lines.Text()); a != nil {
				select {
				case address <- a[1]:
				default:
				}
			}
		}
	}()
	ts.Defer(func() {
		_ = cmd.Process.Kill() // it keeps nothing
		<-ended
		_ = cmd.Wait()
	})
	select {
	case a := <-address:
		ts.Setenv("PROMETHEUS", "http://"+a)
	case <-ended:
		ts.Fatalf("Prometheus ended at once")
	case <-time.After(patienceSeconds * time.Second):
		ts.Fatalf("Prometheus printed no address")
	}
}

var listensOn = regexp.MustCompile(`msg="Listening on".* address=(\S+)`)

// askPrometheus polls Prometheus until a query has that value: promql QUERY VALUE. It is a number, or
// a range such as 1..
func askPrometheus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: promql QUERY VALUE")
	}
	least, isRange := strings.CutSuffix(args[1], "..")
	poll(ts, func() (bool, string) {
		r, err := http.Get(ts.Getenv("PROMETHEUS") + "/api/v1/query?query=" + url.QueryEscape(args[0]))
		if err != nil {
			return false, err.Error()
		}
		defer r.Body.Close()
		var answer struct {
			Data struct{ Result []struct{ Value [2]any } }
		}
		if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
			return false, err.Error()
		}
		if len(answer.Data.Result) != 1 {
			return false, fmt.Sprintf("%s: %v", args[0], answer.Data.Result)
		}
		got := fmt.Sprint(answer.Data.Result[0].Value[1])
		shown := args[0] + " is " + got
		if !isRange {
			return got == args[1], shown
		}
		var value, bound float64
		if _, err := fmt.Sscan(got+" "+least, &value, &bound); err != nil {
			return false, shown
		}
		return value >= bound, shown
	})
}

// checkExposed checks that the last output has exactly the metrics of docs/metrics.md, with their types.
func checkExposed(ts *testscript.TestScript, neg bool, args []string) {
	page, err := os.ReadFile("../docs/metrics.md")
	ts.Check(err)
	var want, got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(berth_\\w+)` \\| (\\w+) \\|").FindAllSubmatch(page, -1) {
		want = append(want, string(row[1])+" "+string(row[2]))
	}
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (berth_\w+ \w+)$`).FindAllStringSubmatch(stageOf(ts).stdout, -1) {
		got = append(got, line[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) == 0 || !slices.Equal(want, got) {
		ts.Fatalf("docs/metrics.md and the server differ:\n%s\n\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}
