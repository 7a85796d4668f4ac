package api

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Code names a failure. Each code belongs to exactly one exit status.
type Code string

// The failure codes that a verb can end with.
const (
	CodeInternal     Code = "INTERNAL"
	CodeUsage        Code = "USAGE"
	CodeBadRequest   Code = "BAD_REQUEST"
	CodeNotFound     Code = "NOT_FOUND"
	CodeExited       Code = "EXITED"
	CodeDenied       Code = "DENIED"
	CodeAgentBusy    Code = "AGENT_BUSY"
	CodeDraftPresent Code = "DRAFT_PRESENT"
	CodeNotReady     Code = "NOT_READY"
	CodeNoPrompt     Code = "NO_PROMPT"
	CodeStalePrompt  Code = "STALE_PROMPT"
	CodeWriterBusy   Code = "WRITER_BUSY"
	CodeNoDriver     Code = "NO_DRIVER"
	CodeUnconfirmed  Code = "UNCONFIRMED"
	CodeTimeout      Code = "TIMEOUT"
	CodeLimit        Code = "LIMIT"
	CodeUnreachable  Code = "HOST_UNREACHABLE"
)

// Exit statuses of wait and --wait, in addition to those of the codes.
const (
	StatusDone   = 0
	StatusPrompt = 20
	StatusError  = 21
	StatusExited = 22
)

var statuses = map[Code]int{
	CodeInternal:     1,
	CodeUsage:        2,
	CodeBadRequest:   2,
	CodeNotFound:     3,
	CodeExited:       3,
	CodeDenied:       4,
	CodeAgentBusy:    5,
	CodeDraftPresent: 5,
	CodeNotReady:     5,
	CodeNoPrompt:     6,
	CodeStalePrompt:  6,
	CodeWriterBusy:   7,
	CodeNoDriver:     8,
	CodeUnconfirmed:  9,
	CodeTimeout:      10,
	CodeLimit:        11,
	CodeUnreachable:  12,
}

// Codes are all codes, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(statuses)) }

// Status is the code's exit status; 1 for an unknown code.
func (c Code) Status() int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return statuses[CodeInternal]
}

// Error is a failure as shown to a caller: a code to branch on, a message with the cause and the
// remedy, and details for programs.
type Error struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`

	cause error
}

// Errorf makes an Error. A %w in the format is kept for errors.Is and As.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// With adds one detail and returns the error itself.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.cause }

// AsError finds the Error in err's chain. Any other error becomes INTERNAL with a message that
// shows no internals; the caller logs err.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: "internal error in berth; the server's log has the details", cause: err}
}

// About starts a message with a name, unless the message already starts with it.
func About(name, message string) string {
	if rest, ok := strings.CutPrefix(message, name); ok && (rest == "" || strings.ContainsRune(" :,;", rune(rest[0]))) {
		return message
	}
	return name + ": " + message
}
