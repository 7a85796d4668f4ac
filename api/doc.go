// Package api holds the shapes that Berth promises to the outside: error codes
// and exit statuses, JSON objects of verbs and events, and how times are
// written. It imports nothing else of Berth.
//
// JSON is snake_case, times are RFC 3339 in UTC with milliseconds, nulls are
// printed, fields are only ever added.
package api
