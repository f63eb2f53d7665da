package webrtc

import "time"

// Stats tells how a call's packets fare. Counts are since the call began.
type Stats struct {
	// Received is the packets of the caller's sound that came in. Lost ones were
	// given up; of these, Late ones came after that, and Recovered ones were restored
	// from the packet behind them. Concealed ones were made up.
	Received, Lost, Late, Recovered, Concealed uint64
	// Duplicate, Reordered and Invalid packets came twice, in the wrong order but in
	// time, and broken.
	Duplicate, Reordered, Invalid uint64
	// Filled is the silence that was filled in while the caller sent nothing.
	Filled time.Duration
	// Jitter is the mean deviation of the packets' distances at present, and Hold how
	// long sound is held back while a packet is missing.
	Jitter, Hold time.Duration

	// Sent is the packets of the bot's sound that went out, SentBytes their payload.
	// Skipped are the slots of 20 ms that were left out as the machine was late, and
	// Failed the packets that could not be sent.
	Sent, SentBytes, Skipped, Failed uint64
	// RemoteLost is the share of the bot's packets that do not arrive, from 0 to 1,
	// as the caller reports it. RTT is the time there and back; 0 if it is not known.
	RemoteLost float64
	RTT        time.Duration
	// Bitrate is what the bot's voice takes at most, in bits per second.
	Bitrate int

	// DroppedMessages were left out because the client lagged behind.
	DroppedMessages uint64
	// Reattached is how often the caller came back with a new connection.
	Reattached int
}
