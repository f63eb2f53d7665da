package rtvi

import (
	"strconv"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// maxUserText bounds what is remembered of the user's words for user-llm-text.
const maxUserText = 64 << 10

// modelText sends a piece of the model's text, and the sentences it completes.
func (o *Output) modelText(f *frames.LLMTextFrame) {
	if f.Text == "" {
		return
	}
	if !o.open {
		// Text of a response whose start has not passed here.
		o.openResponse(f.Response)
	}
	o.texted = f.Response
	o.buf = appendText(o.buf[:0], TypeBotLLMText, f.Text)
	o.sender.Send(o.buf, Droppable)
	o.split.write(f.Text)
	o.sentences()
}

// sentences sends what is complete.
func (o *Output) sentences() {
	for {
		seg, ok := o.split.next()
		if !ok {
			return
		}
		o.sendSegment(seg, "sentence")
	}
}

// flush sends what is left of a sentence.
func (o *Output) flush() {
	if seg, ok := o.split.rest(); ok {
		o.sendSegment(seg, "sentence")
	}
	o.split.reset()
}

// fixedLine sends a line that is not the model's. One that was spoken has come as
// text already, as it was heard, and ends here.
func (o *Output) fixedLine(f *frames.SpeakFrame) {
	switch {
	case f.Response == 0 || f.Response != o.texted:
		o.line(f.Text)
	case o.open && o.response == f.Response:
		o.closeResponse()
	default: // it was spoken in the middle of a response
		o.flush()
	}
}

// line sends a text that no response owns, by its sentences. A sentence of the
// model's that is under way ends before it.
func (o *Output) line(text string) {
	o.flush()
	o.split.write(text)
	o.sentences()
	o.flush()
}

// sendSegment sends one segment of the bot's words.
func (o *Output) sendSegment(text []byte, by string) {
	if len(text) == 0 {
		return
	}
	o.segment++
	b := appendHead(o.buf[:0], TypeBotOutput, "")
	b = append(b, `,"data":{"text":`...)
	b = appendString(b, string(text))
	b = append(b, `,"aggregated_by":`...)
	b = appendString(b, by)
	if o.dialect == dialectOld {
		b = append(b, `,"spoken":false}}`...)
	} else {
		b = append(b, `,"segment_id":`...)
		b = strconv.AppendUint(b, o.segment, 10)
		b = append(b, `,"will_be_spoken":false}}`...)
	}
	o.buf = b
	o.sender.Send(b, Essential)
	// Deprecated in 2.x, where applications may listen to it still.
	p := Droppable
	if o.dialect == dialectOld {
		p = Essential
	}
	o.buf = appendText(o.buf[:0], TypeBotTranscription, string(text))
	o.sender.Send(o.buf, p)
}

// responseStarted tells that the model answers, and to what.
func (o *Output) responseStarted(f *frames.LLMResponseStartFrame) {
	o.closeResponse()
	if f.UserText != "" {
		o.userText = append(o.userText[:0], f.UserText...)
	}
	if len(o.userText) > 0 {
		o.buf = appendText(o.buf[:0], TypeUserLLMText, string(o.userText))
		o.sender.Send(o.buf, Essential)
		o.userText = nil
	}
	o.openResponse(f.Response)
}

func (o *Output) openResponse(n uint64) {
	o.open, o.response = true, n
	o.bare(TypeBotLLMStarted)
}

// closeResponse sends the rest of an open response and its end, once.
func (o *Output) closeResponse() {
	if !o.open {
		return
	}
	o.flush()
	o.open = false
	o.bare(TypeBotLLMStopped)
}

// userSaid remembers the user's words until the model answers them.
func (o *Output) userSaid(text string) {
	if len(o.userText)+len(text) >= maxUserText {
		return
	}
	if len(o.userText) > 0 {
		o.userText = append(o.userText, ' ')
	}
	o.userText = append(o.userText, text...)
}

// transcription tells what was heard.
func (o *Output) transcription(text, user string, at time.Time, final bool) {
	if at.IsZero() {
		at = time.Now()
	}
	p := Essential
	if !final {
		p = Droppable
	}
	o.send(TypeUserTranscription, "", UserTranscription{
		Text: text, UserID: user, Timestamp: at.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Final: final,
	}, p)
}
