//go:build !race

package server_test

// flood is how many clients connect at once.
const flood = 10_000

// raceDetector tells that it is on, which makes everything larger.
const raceDetector = false
