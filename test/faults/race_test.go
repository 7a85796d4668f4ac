//go:build race

package faults

// raced says that these tests run with the race detector; the binaries they
// drive then have it too, but for those whose speed is measured.
const raced = true
