package llm

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// Config is a service's settings. Model and Context are required; the rest has
// defaults.
type Config struct {
	// Model generates the responses.
	Model Model
	// Context is the conversation. The service and the aggregators of its
	// pipeline share it.
	Context *frames.LLMContext
	// Fallback takes over for a response that Model failed to give; may be nil.
	Fallback Model
	// Deadlines bound a generation; zero fields take their defaults.
	Deadlines Deadlines
	// Retries is how often a failed generation is tried again with the same model
	// while nothing of it was spoken; the default is 1, negative means never.
	Retries int
	// Backoff is the pause before the first retry, doubled for each further one;
	// the default is 250 ms. A provider's Retry-After of up to ten times as much
	// is honoured.
	Backoff time.Duration
	// GiveUpAfter is after how many failed responses in a row Model counts as
	// unusable: for Cooldown it is not asked, and the fallback or the apology
	// comes at once. The default is 3, negative means never.
	GiveUpAfter int
	// Cooldown is how long an unusable model is left alone; the default is 30 s.
	Cooldown time.Duration
	// Apology is spoken when a response has failed for good; the default is a
	// short English sentence, "-" says nothing.
	Apology string
	// FunctionTimeout bounds calls that do not say otherwise; the default is 60 s.
	FunctionTimeout time.Duration
	// EndWait is how long the end of the session waits for a generation and for
	// calls under way before it cancels them; the default is 5 s.
	EndWait time.Duration
	// MaxRounds bounds the generations in a row that follow from function calls
	// and node entries alone, without anything from the user or a run request;
	// the default is 24.
	MaxRounds int
	// Temperature and MaxTokens are passed to the model.
	Temperature *float64
	MaxTokens   int
}

// Deadlines bound a generation. A missed one ends the attempt, and the next
// attempt starts afresh with all of them.
type Deadlines struct {
	// First is the time to the first piece, connecting included; default 15 s.
	First time.Duration
	// Between is the time between two pieces; default 10 s.
	Between time.Duration
	// Total is the time for the whole response; default 2 min.
	Total time.Duration
}

const defaultApology = "I am sorry, I have a technical problem right now. Please try again in a moment."

// ErrConfig is wrapped by every error about a configuration.
var ErrConfig = errors.New("llm: invalid configuration")

// Validate names the first field that is missing or out of range.
func (c *Config) Validate() error {
	switch {
	case c.Model == nil:
		return fmt.Errorf("%w: Model is required", ErrConfig)
	case c.Context == nil:
		return fmt.Errorf("%w: Context is required", ErrConfig)
	case c.MaxTokens < 0:
		return fmt.Errorf("%w: MaxTokens is %d; it must not be negative", ErrConfig, c.MaxTokens)
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"Deadlines.First", c.Deadlines.First}, {"Deadlines.Between", c.Deadlines.Between}, {"Deadlines.Total", c.Deadlines.Total},
		{"Backoff", c.Backoff}, {"Cooldown", c.Cooldown}, {"FunctionTimeout", c.FunctionTimeout}, {"EndWait", c.EndWait},
	} {
		if d.value < 0 {
			return fmt.Errorf("%w: %s is %s; it must not be negative", ErrConfig, d.field, d.value)
		}
	}
	return nil
}

// defaults fills in what was left open.
func (c *Config) defaults() {
	set(&c.Deadlines.First, 15*time.Second)
	set(&c.Deadlines.Between, 10*time.Second)
	set(&c.Deadlines.Total, 2*time.Minute)
	set(&c.Backoff, 250*time.Millisecond)
	set(&c.Cooldown, 30*time.Second)
	set(&c.FunctionTimeout, time.Minute)
	set(&c.EndWait, 5*time.Second)
	if c.Retries == 0 {
		c.Retries = 1
	}
	if c.GiveUpAfter == 0 {
		c.GiveUpAfter = 3
	}
	if c.MaxRounds == 0 {
		c.MaxRounds = 24
	}
	switch c.Apology {
	case "":
		c.Apology = defaultApology
	case "-":
		c.Apology = ""
	}
}

func set(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}
