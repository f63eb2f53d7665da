// Package vad tells speech from silence and noise in a stream of mono sound.
//
// A [Detector] gives each window of about 30 ms a confidence that it holds speech;
// package vad/silero has the model to use, [Energy] is a fallback that needs none. A
// [Machine] turns confidences into the events a conversation needs: somebody starts
// to speak, somebody has stopped.
package vad

// Detector judges a stream of mono sound window by window. It keeps state from
// window to window, so each stream has its own, used by one goroutine at a time.
type Detector interface {
	// Rate is the sample rate in Hz that windows must have.
	Rate() int
	// Window is the number of samples in a window.
	Window() int
	// Confidence takes the next Window samples of the stream and returns how sure
	// the detector is that they hold speech, 0 to 1. It does not keep or change
	// them.
	Confidence(window []int16) float32
	// Reset forgets the stream.
	Reset()
}
