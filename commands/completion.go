package commands

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"strings"

	"berth/api"
	"berth/keys"
)

// Completion is the answer of complete.
type Completion struct {
	Words []string `json:"words"` // whole words, which the line's last word may become
}

func completeVerb() *Verb {
	return &Verb{Name: "complete", Group: "see", Synopsis: "LINE", Short: "what the last word of a command line may become, for shells",
		Examples: []Example{
			{"complete state al", "sessions whose names begin with al"},
			{"complete re", "verbs that begin with re"},
		},
		Need: keys.Viewer, Tail: true, NoSession: true, Answer: Completion{}, Run: completeLine}
}

func completeLine(_ context.Context, c *Call) error {
	line := strings.TrimSuffix(c.Tail, "\n")
	from, found := c.Complete(c.Request, line)
	begun := line[strings.LastIndexAny(line, " \t")+1 : from] // such as --role= of a word, or the sessions of a list
	words := make([]string, 0, len(found))
	for _, end := range found {
		words = append(words, begun+end)
	}
	return c.answer(Completion{Words: words}, func(w io.Writer) {
		for _, word := range words {
			fmt.Fprintln(w, word)
		}
	})
}

// shellScripts make a command berth of ssh HOST, with completion by the server.
var shellScripts = map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}

//go:embed completion.bash
var bashScript string

//go:embed completion.zsh
var zshScript string

//go:embed completion.fish
var fishScript string

// sshHost matches what may stand for HOST in a script: a host's name in ssh_config, or USER@ADDRESS.
var sshHost = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._@:-]*$`)

func completionVerb() *Verb {
	return &Verb{Name: "completion", Group: "see", Synopsis: "bash|zsh|fish [HOST]", Short: "a command berth for a shell on another machine, with completion by ssh",
		Examples: []Example{
			{"completion bash", `in ~/.bashrc: eval "$(ssh berth completion bash)"`},
			{"completion zsh work", "for a server that ssh finds as work"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 2, TextOnly: true, Alone: true, Run: completion}
}

func completion(_ context.Context, c *Call) error {
	script, ok := shellScripts[c.Args[0]]
	if !ok {
		return Lookup("completion").usage(fmt.Errorf("there is no completion for %s", api.Quote(c.Args[0])))
	}
	host := "berth"
	if len(c.Args) > 1 {
		host = c.Args[1]
	}
	if !sshHost.MatchString(host) {
		return api.Errorf(api.CodeBadRequest, "%s isn't a host's name: write a name of your ~/.ssh/config, or USER@HOST", api.Quote(host))
	}
	_, err := c.Out.Write(c.lines([]byte(strings.ReplaceAll(script, "HOST", host))))
	return err
}
