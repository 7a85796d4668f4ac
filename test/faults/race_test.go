//go:build race

package faults

// raced reports that these tests run with the race detector. The binaries under test then have it too,
// except those whose speed is measured.
const raced = true
