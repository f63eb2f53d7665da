package browser

import (
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

//go:embed line.js
var lineScript string

// Calls are the settings with which a browser calls on the machine it runs on.
func Calls() []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{
		chromedp.Flag("allow-loopback-in-peer-connection", true),
		chromedp.Flag("disable-features", "WebRtcHideLocalIpsWithMdns"),
	}
}

// Line is the microphone of a page in the hands of a test, and an ear at the page's
// loudspeaker. The page itself does not know: it asks the browser for the microphone
// and plays what comes, as always.
type Line struct {
	page *Page
	// at is when the last thing was said, by the line's clock.
	at float64
}

// Span is a stretch of time, in seconds by the clock of the page's sound.
type Span [2]float64

// Length is how long it lasts.
func (s Span) Length() time.Duration { return time.Duration((s[1] - s[0]) * float64(time.Second)) }

// Told is a message that came to the page over a call's data channel.
type Told struct {
	// At is when it came, in seconds by the same clock.
	At float64 `json:"at"`
	// Type and Data are the message's.
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Text is the text in the message's data; empty when there is none.
func (m Told) Text() string {
	var d struct{ Text string }
	_ = json.Unmarshal(m.Data, &d) // other data have no text
	return d.Text
}

// LineReport is what went over a line.
type LineReport struct {
	// Said is when something was said into the microphone, and Heard when the
	// loudspeaker was louder than −40 dB, without gaps that are shorter than 30 ms.
	Said  []Span `json:"said"`
	Heard []Span `json:"heard"`
	// Messages are what the bot told.
	Messages []Told `json:"messages"`
}

// OpenLine takes the page's microphone and listens to its calls. It has to be done
// before the page asks for the microphone.
func OpenLine(t testing.TB, p *Page) *Line {
	t.Helper()
	Eval[bool](t, p, lineScript)
	return &Line{page: p}
}

// Say says samples into the microphone and returns when that is done.
func (l *Line) Say(t testing.TB, samples []int16, rate int) {
	t.Helper()
	raw, err := binary.Append(nil, binary.LittleEndian, samples)
	if err != nil {
		t.Fatal(err)
	}
	l.at = Eval[float64](t, l.page, fmt.Sprintf("window.line.say(%q, %d)", base64.StdEncoding.EncodeToString(raw), rate))
}

// Mark has Spoken count from now on, rather than from the last thing said.
func (l *Line) Mark(t testing.TB) {
	t.Helper()
	l.at = Eval[float64](t, l.page, "window.line.now()")
}

// Spoken is a JavaScript expression that tells whether the bot was heard for so long
// since the last Say or Mark, and has been silent for so long since.
func (l *Line) Spoken(long, silence time.Duration) string {
	return fmt.Sprintf("window.line.spoken(%f, %f, %f)", l.at, long.Seconds(), silence.Seconds())
}

// Report tells what went over the line so far.
func (l *Line) Report(t testing.TB) LineReport {
	t.Helper()
	text := Eval[string](t, l.page, "JSON.stringify(window.line.report())")
	var r LineReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("the line's report: %v", err)
	}
	return r
}

// Told is when the first message of a type came after a time; 0 if none did.
func (r *LineReport) Told(kind string, after float64) float64 {
	for _, m := range r.Messages {
		if m.Type == kind && m.At > after {
			return m.At
		}
	}
	return 0
}

// LastHeard is when the bot was last heard between two times; 0 for not at all. No end
// is given as 0.
func (r *LineReport) LastHeard(from, to float64) float64 {
	last := 0.0
	for _, s := range r.Heard {
		if s[1] > from && (to == 0 || s[0] < to) {
			last = s[1]
		}
	}
	return last
}

// SilentFrom is when the bot's sound ended that was heard at a time or first after it, and
// was followed by so long a silence, in seconds; 0 if none did.
func (r *LineReport) SilentFrom(at, silence float64) float64 {
	for i, s := range r.Heard {
		last := i == len(r.Heard)-1
		if s[1] > at && (last || r.Heard[i+1][0]-s[1] >= silence) {
			return s[1]
		}
	}
	return 0
}
