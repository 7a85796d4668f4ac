package dispatch

import (
	"context"
	"errors"
	"strings"

	"berth/commands"
	"berth/sshd"
)

// mayReadInput says whether the line may read standard input: a word of it, or an option's value,
// may be a lone dash. It may return true for a line that doesn't.
func mayReadInput(line string) bool {
	for i := range len(line) {
		if line[i] != '-' {
			continue
		}
		if i+1 == len(line) || !strings.ContainsRune(optionRunes, rune(line[i+1])) {
			return true
		}
	}
	return false
}

// optionRunes are what may follow a dash that is not alone.
const optionRunes = "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// readsInput says whether the verb reads standard input. Then a Ctrl-C in it is an ordinary byte.
func readsInput(line string) bool {
	return strings.HasSuffix(strings.TrimRight(line, " "), " -") || strings.HasSuffix(line, `,"-"]`)
}

// errInterrupted is the cause when Ctrl-C ends a call.
var errInterrupted = errors.New("interrupted")

// interruptible runs a verb for a client with a raw terminal, where Ctrl-C arrives as a byte and not
// as a signal.
func (d *Dispatcher) interruptible(ctx context.Context, c *sshd.Session, r commands.Request) int {
	ctx, cancel := context.WithCancelCause(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		var buf [256]byte
		for {
			n, err := c.Input.ReadContext(ctx, buf[:])
			for _, b := range buf[:n] {
				if b == ctrlC {
					cancel(errInterrupted)
				}
			}
			if err != nil {
				return
			}
		}
	}()
	status := d.Commands.Run(ctx, r)
	if errors.Is(context.Cause(ctx), errInterrupted) {
		status = interruptedStatus
	}
	cancel(nil)
	<-listening
	return status
}

const (
	ctrlC             = 0x03
	interruptedStatus = 130 // 128 + SIGINT, as shells have it
)
