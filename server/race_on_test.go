//go:build race

package server_test

// flood is smaller where every memory access is checked.
const flood = 1500

// raceDetector tells that it is on, which makes everything larger.
const raceDetector = true
