//go:build race

package terminal

const raceDetector = true
