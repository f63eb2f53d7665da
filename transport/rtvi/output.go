package rtvi

import (
	"errors"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/pipeline"
)

// OutputConfig says what an [Output] tells the client. The zero value is usable.
type OutputConfig struct {
	// About describes the server in bot-ready; the zero value is this library.
	About Library
	// Functions says how much of function calls the client is told.
	Functions FunctionReport
	// NoMetrics keeps measurements from the client.
	NoMetrics bool
	// OnClientReady runs on the session loop when the client has asked for the
	// first time whether the bot is ready and was answered: from here on a
	// greeting is heard. It must not block. May be nil.
	OnClientReady func()
}

// Output turns what passes it into messages for the client. It stands behind the
// model service and before the assistant aggregator, and passes every frame on
// when the client's message has been handed to the sender.
//
// Each piece of the model's text is sent as bot-llm-text, and each sentence of it
// as one bot-output segment. An interruption sends the part of a sentence that was
// under way as a segment too, so that both tell the same.
type Output struct {
	pipeline.Base
	cfg    OutputConfig
	sender Sender
	audio  AudioSender
	buf    []byte

	dialect  dialect
	greeted  bool // OnClientReady has run
	split    splitter
	response uint64 // the response that is open
	texted   uint64 // the response, or line, that text last came of
	open     bool
	segment  uint64 // the last segment's number
	userText []byte // what the user said that no generation has seen yet
}

// NewOutput makes the processor for one client. A sender that is an [AudioSender]
// is handed the session's audio too.
func NewOutput(s Sender, cfg OutputConfig) (*Output, error) {
	if s == nil {
		return nil, errors.New("rtvi: NewOutput needs a Sender")
	}
	if cfg.About.Library == "" {
		cfg.About = Library{Library: "turnwise"}
	}
	o := &Output{cfg: cfg, sender: s}
	o.audio, _ = s.(AudioSender)
	return o, nil
}

// Name is "rtvi-output".
func (o *Output) Name() string { return "rtvi-output" }

// Wiring puts the output behind the model service and before the aggregator that
// settles what was sent.
func (o *Output) Wiring() pipeline.Wiring {
	return pipeline.Wiring{
		Role: "output", Single: true,
		After: []string{llm.RoleUserAggregator, llm.RoleService}, Before: []string{llm.RoleAssistantAggregator},
	}
}

// Process sends what f means to the client and passes it on.
func (o *Output) Process(f frames.Frame, dir pipeline.Direction) {
	if dir == pipeline.Downstream {
		o.translate(f)
	} else if m, ok := f.(*frames.ServerMessageFrame); ok {
		o.serverMessage(m)
	}
	o.Push(f, dir)
}

// translate sends the messages of one frame.
func (o *Output) translate(f frames.Frame) {
	switch f := f.(type) {
	case *frames.LLMTextFrame:
		o.modelText(f)
	case *frames.OutputAudioFrame:
		if o.audio != nil {
			o.audio.SendAudio(f.PCM)
		}
	case *frames.InputAudioFrame:
	case *frames.LLMResponseStartFrame:
		o.responseStarted(f)
	case *frames.LLMResponseEndFrame:
		o.closeResponse()
	case *frames.SpeakFrame:
		o.fixedLine(f)
	case *frames.TextFrame:
		o.line(f.Text)
	case *frames.AggregatedTextFrame:
		o.sendSegment([]byte(f.Text), f.By)
	case *frames.EndFrame:
		o.flush()
	case *ClientReadyFrame:
		o.clientReady(f)
	case *MessageFrame:
		o.send(f.Type, f.ID, f.Data, f.Priority)
	case *frames.ServerMessageFrame:
		o.serverMessage(f)
	default:
		o.event(f)
	}
}

// event sends the messages of the user's side, of function calls and of playout.
func (o *Output) event(f frames.Frame) {
	switch f := f.(type) {
	case *frames.UserTextFrame:
		o.userText = nil
		o.userSaid(f.Text)
	case *frames.TranscriptionFrame:
		o.transcription(f.Text, f.UserID, f.Time, true)
		o.userSaid(f.Text)
	case *frames.InterimTranscriptionFrame:
		o.transcription(f.Text, f.UserID, f.Time, false)
	case *frames.FunctionCallsStartedFrame:
		o.callsStarted(f)
	case *frames.FunctionCallInProgressFrame:
		o.callInProgress(f)
	case *frames.FunctionCallResultFrame:
		o.callStopped(f)
	case *frames.MetricsFrame:
		o.metrics(f)
	case *frames.UserStartedSpeakingFrame:
		o.bare(TypeUserStartedSpeaking)
	case *frames.UserStoppedSpeakingFrame:
		o.bare(TypeUserStoppedSpeaking)
	case *frames.BotStartedSpeakingFrame:
		o.bare(TypeBotStartedSpeaking)
	case *frames.BotStoppedSpeakingFrame:
		o.bare(TypeBotStoppedSpeaking)
	}
}

// Interrupt tells the client that the bot was interrupted and closes what was
// open.
func (o *Output) Interrupt(*frames.InterruptionFrame) {
	o.flush()
	o.bare(TypeBotInterrupted)
	o.closeResponse()
}

// Report tells the client of trouble in the session; only the public text travels.
// It is meant as [pipeline.Params].OnError and runs on the session loop.
func (o *Output) Report(f *frames.ErrorFrame) {
	text := f.Public
	if text == "" {
		text = "Something went wrong on the server."
	}
	p := Essential
	if f.Fatal {
		p = Final
	}
	o.buf = AppendError(o.buf[:0], text, f.Fatal)
	o.sender.Send(o.buf, p)
}

// clientReady answers the client.
func (o *Output) clientReady(f *ClientReadyFrame) {
	version, d, _ := negotiate(f.Version)
	o.dialect = d
	o.send(TypeBotReady, f.ID, BotReady{Version: version, About: &o.cfg.About}, Essential)
	if f.Answered != nil {
		f.Answered()
	}
	if !o.greeted {
		o.greeted = true
		if o.cfg.OnClientReady != nil {
			o.cfg.OnClientReady()
		}
	}
}

// serverMessage sends an application's message, or its answer to a request.
func (o *Output) serverMessage(f *frames.ServerMessageFrame) {
	switch {
	case f.ReplyTo == "":
		o.send(TypeServerMessage, "", f.Data, Essential)
	case f.Err != "":
		o.refuse(f.ReplyTo, f.Err)
	default:
		o.send(TypeServerResponse, f.ReplyTo, response{T: f.Type, D: f.Data}, Essential)
	}
}

// response is the data of server-response before it is encoded.
type response struct {
	T string `json:"t"`
	D any    `json:"d"`
}

// send encodes and sends a message that is not a frequent one.
func (o *Output) send(t Type, id string, data any, p Priority) {
	var err error
	if o.buf, err = Append(o.buf[:0], t, id, data); err != nil {
		o.Logger().Error("a message for the client was dropped", "type", string(t), "err", err)
		if t == TypeServerResponse {
			o.refuse(id, "The answer could not be sent.")
		}
		return
	}
	o.sender.Send(o.buf, p)
	o.trim()
}

func (o *Output) refuse(id, text string) {
	o.buf = AppendErrorResponse(o.buf[:0], id, text)
	o.sender.Send(o.buf, Essential)
}

func (o *Output) bare(t Type) {
	o.buf = appendBare(o.buf[:0], t)
	o.sender.Send(o.buf, Essential)
}

// trim gives a buffer back that one large message has grown.
func (o *Output) trim() {
	const keep = 2 << 10
	if cap(o.buf) > keep {
		o.buf = nil
	}
}
