package frames

// TextFrame is a piece of text on its way to the user that no model response owns.
type TextFrame struct {
	DataFrame
	Text string
}

// UserTextFrame is what the user typed. It interrupts the bot unless Quiet is
// set, and starts a generation unless NoRun is set.
type UserTextFrame struct {
	SystemFrame
	Text string
	// Quiet leaves the bot talking.
	Quiet bool
	// NoRun only adds the text to the conversation.
	NoRun bool
	// SkipSpeech asks for an answer in text alone.
	SkipSpeech bool
}

// Interrupts implements [Interrupting].
func (f *UserTextFrame) Interrupts() (string, bool) { return "typed text", !f.Quiet }

// SpeakFrame is a fixed line for the user, spoken or shown as it stands, in order
// with everything else that is on its way to them.
type SpeakFrame struct {
	DataFrame
	Text string
	// NoContext keeps the line out of the conversation the model sees.
	NoContext bool
	// Response is the number the model service gave the line when it entered it
	// in the conversation; 0 before.
	Response uint64
}

// AggregatedTextFrame is one segment of the bot's words, such as a sentence,
// formed from the model's tokens.
type AggregatedTextFrame struct {
	DataFrame
	Text string
	// By names the kind of segment: "sentence", "token" or a custom tag.
	By string
	// Response is the response the words belong to; 0 if none.
	Response uint64
}
