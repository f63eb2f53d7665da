// Package caller makes scripted calls to a server that speaks the client protocol
// over WebRTC: it says what it is given, waits each time until the bot has answered,
// writes down who said what, and measures how long the answers took.
package caller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Rate is the sample rate in Hz of what is said, heard and recorded.
const Rate = 48000

// The ways a call fails.
var (
	// ErrConnect tells that no call came about.
	ErrConnect = errors.New("cannot call")
	// ErrSilent tells that the bot did not answer in time.
	ErrSilent = errors.New("the bot does not answer")
	// ErrHungUp tells that the bot ended the call before the script was over.
	ErrHungUp = errors.New("the bot has hung up")
	// ErrServer is wrapped by what the server calls a fatal error.
	ErrServer = errors.New("the server reports an error")
)

// Turn is one thing the caller says.
type Turn struct {
	// Name is how the turn is called in the report, such as a file's name.
	Name string
	// Samples are spoken, at [Rate], mono. Without any, Text is typed.
	Samples []int16
	// Text is typed where there are no samples.
	Text string
}

// Recorder takes both sides of a call: interleaved stereo samples at [Rate], the
// caller on the left and what the caller heard on the right.
type Recorder interface {
	Write(samples []int16) error
}

// Config is what a call is like. URL is required.
type Config struct {
	// URL is the server's address, such as http://localhost:8080.
	URL string
	// Turns are said one after the other. The bot speaks first.
	Turns []Turn
	// Patience is how long the bot may take to begin its answer; the default is
	// 15 s. The greeting has as long.
	Patience time.Duration
	// Pause is how long the bot must have been silent for its answer to be over; the
	// default is 800 ms.
	Pause time.Duration
	// Record takes the sound of the call; may be nil.
	Record Recorder
	// OnLine is told of each line as it comes, on one goroutine at a time; may be
	// nil.
	OnLine func(Line)
	// HTTP sends the offer; the default is [http.DefaultClient].
	HTTP *http.Client
}

// Who is the speaker of a line.
type Who string

// The speakers.
const (
	Bot  Who = "bot"
	You  Who = "you"
	Node Who = "node" // not a speaker: the flow has moved there
)

// Line is something that was said, or a node that was entered.
type Line struct {
	// At is the time since the call began.
	At time.Duration `json:"at"`
	// Who said it.
	Who Who `json:"who"`
	// Text is what was said: for the caller, what the server understood.
	Text string `json:"text"`
}

// Reply is how long an answer took.
type Reply struct {
	// Turn is the name of what was answered; "greeting" for the first.
	Turn string `json:"turn"`
	// Latency is the time from the last sound of the turn, or from its typing, to
	// the first sound of the answer as it was heard. For the greeting it is the time
	// from the bot's being ready.
	Latency time.Duration `json:"latency"`
	// Parts are where that time went, as far as the server tells: in order, without
	// the way through the network. Empty when it does not, as for the greeting and
	// what was typed.
	Parts []Part `json:"parts,omitempty"`
}

// Part is a part of the time until an answer.
type Part struct {
	// Name is the part's: recognition, endpointing, model, sentence, synthesis or
	// playout.
	Name string `json:"name"`
	// Took is how long it took.
	Took time.Duration `json:"took"`
}

// Report is what happened in a call.
type Report struct {
	// Lines are in the order in which they came.
	Lines []Line `json:"lines"`
	// Replies are in the order of the turns.
	Replies []Reply `json:"replies"`
	// SetUp is the time from the offer to the first packet of the bot's sound.
	SetUp time.Duration `json:"set_up"`
	// HungUp tells that the bot ended the call.
	HungUp bool `json:"hung_up"`
}

// Call makes a call and returns when it is over. The report holds what happened also
// when there is an error.
func Call(ctx context.Context, cfg Config) (*Report, error) {
	if cfg.Patience == 0 {
		cfg.Patience = 15 * time.Second
	}
	if cfg.Pause == 0 {
		cfg.Pause = 800 * time.Millisecond
	}
	if cfg.HTTP == nil {
		cfg.HTTP = http.DefaultClient
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &call{cfg: cfg, begun: time.Now(), events: make(chan event, 256), ready: make(chan struct{}), over: make(chan struct{})}
	defer c.close()
	defer cancel()
	if err := c.connect(ctx); err != nil {
		return &c.report, fmt.Errorf("%w %s: %w", ErrConnect, cfg.URL, err)
	}
	sounds := make(chan error, 1)
	go func() { sounds <- c.sound(ctx) }()
	err := c.script(ctx)
	cancel()
	if broken := <-sounds; broken != nil && !errors.Is(broken, context.Canceled) {
		err = errors.Join(err, broken)
	}
	return &c.report, err
}
