package metrics

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// The table of docs/metrics.md is the list.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got strings.Builder
	for _, m := range list() {
		labels := "none"
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", m.name, m.kindName(), labels, m.help)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `berth_\\w+` .*\n").FindAll(page, -1) {
		got.Write(row)
	}
	if got.String() != want.String() {
		t.Errorf("the table should be\n%s\nand is\n%s", &want, &got)
	}
}

// Labels are of fixed lists: what a session or a caller chooses must not make series.
func TestLabels(t *testing.T) {
	allowed := map[string]bool{"agent": true, "state": true, "verdict": true, "result": true, "type": true, "limit": true, "version": true}
	for _, m := range list() {
		for _, l := range m.labels {
			if !allowed[l] {
				t.Errorf("%s has the label %s: is the number of its values bounded?", m.name, l)
			}
		}
	}
}

// The dashboard asks only for metrics that there are, with labels that they have.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../packaging/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{}
	for _, m := range list() {
		labels[m.name] = m.labels
		if m.kind == histogram {
			delete(labels, m.name)
			for _, part := range []string{"_sum", "_count"} {
				labels[m.name+part] = m.labels
			}
			labels[m.name+"_bucket"] = []string{"le"}
		}
	}
	runtime := prometheus.NewRegistry()
	runtime.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := runtime.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		labels[f.GetName()] = nil
	}
	names, groups := regexp.MustCompile(`\b(?:berth|go|process)_\w+`), regexp.MustCompile(`by \((\w+)\)`)
	used := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			has := map[string]bool{}
			for _, name := range names.FindAllString(target.Expr, -1) {
				list, ok := labels[name]
				if !ok {
					t.Errorf("%s: there is no metric %s", p.Title, name)
				}
				for _, l := range list {
					has[l] = true
				}
				used++
			}
			for _, g := range groups.FindAllStringSubmatch(target.Expr, -1) {
				if !has[g[1]] {
					t.Errorf("%s: %s has no label %s", p.Title, target.Expr, g[1])
				}
			}
		}
	}
	if used < 10 {
		t.Errorf("the dashboard uses %d metrics", used)
	}
}
