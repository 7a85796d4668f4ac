package agent_test

import (
	"fmt"
	"strings"

	"berth/agent"
)

// brewer drives a program that writes its activity into its terminal's title.
type brewer struct{ agent.Silent }

func (brewer) Name() string { return "brewer" }

func (brewer) Title(title string) []agent.Fact {
	f := agent.Fact{Kind: agent.LevelIs, Source: agent.SourceTitle, Cause: "title", Evidence: title, Level: agent.LevelIdle}
	if strings.HasPrefix(title, "brewing ") {
		f.Level = agent.LevelBusy
	}
	return []agent.Fact{f}
}

func (brewer) Table() agent.Table {
	title := []agent.Witness{{Source: agent.SourceTitle}}
	return agent.Table{agent.MoveReady: title, agent.MoveWork: title, agent.MoveRest: title}
}

// A driver embeds Silent and overrides the methods that its agent supports.
func ExampleSilent() {
	var d agent.Driver = brewer{}
	fmt.Println(d.Title("brewing tea")[0].Level, d.Screen(nil).Dialog == nil)
	// Output: busy true
}
