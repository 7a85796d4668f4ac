package sshd

import (
	"errors"
	"log/slog"
	"runtime/debug"

	ssh "charm.land/ssh"

	"berth/api"
)

// Recover is a middleware that contains panics of the ones within it: the server keeps running, the
// log has the stack, and the client gets a message and an exit status. wish's own ends the session
// without a message, and with status 0.
func Recover(log *slog.Logger) func(next ssh.Handler) ssh.Handler {
	return func(next ssh.Handler) ssh.Handler {
		return func(s ssh.Session) {
			defer func() {
				if p := recover(); p != nil {
					one := Of(s)
					log.Error("a call panicked", "client", one.Client, "panic", p, "stack", string(debug.Stack()))
					one.complain(api.AsError(errors.New("panic")).Message)
					_ = one.Exit(api.CodeInternal.Status()) // it has its status, or the client has gone
				}
			}()
			next(s)
		}
	}
}
