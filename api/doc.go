// Package api has the shapes that Berth promises to its callers: error codes and exit statuses,
// the JSON objects of verbs and events, and the format of times. It imports no other package of
// Berth, and all other packages may import it.
//
// JSON names are snake_case, times are RFC 3339 in UTC with milliseconds, and nulls are printed.
// Fields are only ever added; Renames lists those that got a better name.
package api
