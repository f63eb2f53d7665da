package telephony

import (
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// output stands where the bot's words would be brought to a screen. A caller has none:
// it is there to let the carrier know of interruptions.
type output struct {
	pipeline.Base
	conn *Conn
}

// Output makes the processor that stands behind what speaks. When the bot is
// interrupted, it has the carrier drop the sound that it holds.
func (c *Conn) Output() pipeline.Processor { return &output{conn: c} }

// Name is "phone".
func (*output) Name() string { return "phone" }

// Wiring puts it where an output stands.
func (*output) Wiring() pipeline.Wiring { return pipeline.Wiring{Role: "output", Single: true} }

// Process passes everything on.
func (o *output) Process(f frames.Frame, dir pipeline.Direction) { o.Push(f, dir) }

// Interrupt stops what is under way to the caller.
func (o *output) Interrupt(*frames.InterruptionFrame) { o.conn.interrupt() }
