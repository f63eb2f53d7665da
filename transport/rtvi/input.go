package rtvi

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/turnwise/turnwise/frames"
)

// DefaultMaxText is the largest typed text in bytes that is taken unless
// [InputConfig.MaxText] says otherwise.
const DefaultMaxText = 32 << 10

// InputConfig says what an [Input] works with. Sender and Queue are required.
type InputConfig struct {
	// Sender takes the refusals of requests.
	Sender Sender
	// Queue hands a frame to the session; an error tells that the session is over
	// and ends the reading.
	Queue func(frames.Frame) error
	// Logger takes warnings; nil discards them.
	Logger *slog.Logger
	// MaxText bounds one typed text in bytes; 0 means [DefaultMaxText].
	MaxText int
}

// Input turns a client's messages into frames. Its methods are called by one
// goroutine, the one that reads from the client, except where they say otherwise.
type Input struct {
	cfg    InputConfig
	buf    []byte
	audio  audioReader
	warned bool

	ready    atomic.Bool
	answered atomic.Bool
}

// NewInput makes the translator of one client's messages.
func NewInput(cfg InputConfig) (*Input, error) {
	switch {
	case cfg.Sender == nil:
		return nil, errors.New("rtvi: InputConfig.Sender is missing")
	case cfg.Queue == nil:
		return nil, errors.New("rtvi: InputConfig.Queue is missing")
	case cfg.MaxText < 0:
		return nil, fmt.Errorf("rtvi: InputConfig.MaxText is %d; give a number of bytes, or 0 for the default", cfg.MaxText)
	}
	if cfg.MaxText == 0 {
		cfg.MaxText = DefaultMaxText
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Input{cfg: cfg}, nil
}

// Ready reports whether the client has sent client-ready. It may be called from any
// goroutine.
func (in *Input) Ready() bool { return in.ready.Load() }

// Answered reports whether bot-ready was sent. It may be called from any
// goroutine.
func (in *Input) Answered() bool { return in.answered.Load() }

// refusal is why a message was not acted on, in words for the client.
type refusal string

func (r refusal) Error() string { return string(r) }

// Message handles one message as it came. What is wrong with it is told the client;
// an error tells that the session is over. The caller may use raw again.
func (in *Input) Message(raw []byte) error {
	e, err := Decode(raw)
	switch {
	case errors.Is(err, ErrForeign):
		in.warn("a message of another protocol was ignored", "label", clip(e.Label))
		return nil
	case errors.Is(err, ErrTooLarge):
		in.refuse("", "The message is too large.")
		return nil
	case err != nil:
		in.refuse("", "The message is not valid: "+fault(err)+".")
		return nil
	}
	err = in.handle(&e)
	var r refusal
	if errors.As(err, &r) {
		in.refuse(e.ID, string(r))
		return nil
	}
	return err
}

// fault says what is wrong with a message that is no envelope, in words for the
// client.
func fault(err error) string {
	var mistyped *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return fmt.Sprintf("its %s must be a string, not: %s", mistyped.Field, mistyped.Value)
	case errors.As(err, &syntax), mistyped != nil:
		return "it must be a JSON object with label, type and data"
	}
	return strings.TrimPrefix(err.Error(), ErrMalformed.Error()+": ")
}

// handle acts on a message of this protocol.
func (in *Input) handle(e *Envelope) error {
	switch e.Type {
	case TypeClientReady:
		return in.clientReady(e)
	case TypeDisconnectBot:
		return in.cfg.Queue(&frames.EndFrame{Reason: "the client asked for it"})
	case TypeClientMessage:
		return in.clientMessage(e)
	case TypeSendText:
		return in.sendText(e)
	case TypeDTMF:
		return in.dtmf(e)
	case TypeFunctionCallResult:
		return in.functionResult(e)
	case TypeRawAudio, TypeRawAudioBatch:
		return in.rawAudio(e)
	case TypeUIEvent, TypeUISnapshot, TypeUICancelJobGroup:
		return in.cfg.Queue(&frames.ClientMessageFrame{ID: e.ID, Type: string(e.Type), Data: e.Data})
	}
	return refusal("Unsupported message type: " + clip(string(e.Type)))
}

func (in *Input) clientReady(e *Envelope) error {
	var d ClientReady
	// A client that says nothing of itself is still a client.
	bad := json.Unmarshal(e.Data, &d) != nil
	if bad {
		d = ClientReady{}
	}
	if _, _, known := negotiate(d.Version); !known {
		in.refuse(e.ID, fmt.Sprintf("Unknown protocol version %q; this server speaks %s and goes on with it.", clip(d.Version), Version))
	}
	first := !in.ready.Swap(true)
	err := in.cfg.Queue(&ClientReadyFrame{
		ID: e.ID, Version: d.Version, About: d.About, Answered: func() { in.answered.Store(true) },
	})
	if err != nil || !first {
		return err
	}
	return in.cfg.Queue(&frames.ClientConnectedFrame{About: clip(d.About.String())})
}

func (in *Input) clientMessage(e *Envelope) error {
	var d Application
	if err := read(e, &d); err != nil {
		return err
	}
	return in.cfg.Queue(&frames.ClientMessageFrame{ID: e.ID, Type: d.T, Data: d.D})
}

func (in *Input) sendText(e *Envelope) error {
	var d SendText
	if err := read(e, &d); err != nil {
		return err
	}
	if strings.TrimSpace(d.Content) == "" {
		return refusal("send-text needs content that is not empty.")
	}
	if len(d.Content) > in.cfg.MaxText {
		return refusal(fmt.Sprintf("The text is too long: %d bytes, at most %d.", len(d.Content), in.cfg.MaxText))
	}
	run := d.Options.RunImmediately == nil || *d.Options.RunImmediately
	speak := d.Options.AudioResponse == nil || *d.Options.AudioResponse
	return in.cfg.Queue(&frames.UserTextFrame{Text: d.Content, Quiet: !run, NoRun: !run, SkipSpeech: !speak})
}

// dtmfKeys are the keys of a telephone.
const dtmfKeys = "0123456789*#ABCD"

// maxButtons bounds the keys of one message.
const maxButtons = 64

func (in *Input) dtmf(e *Envelope) error {
	var d DTMF
	if err := read(e, &d); err != nil {
		return err
	}
	if d.Button != "" {
		d.Buttons = append(d.Buttons, d.Button)
	}
	if len(d.Buttons) == 0 || len(d.Buttons) > maxButtons {
		return refusal(fmt.Sprintf("dtmf needs 1 to %d buttons.", maxButtons))
	}
	bad := func(b string) bool { return len(b) != 1 || !strings.Contains(dtmfKeys, b) }
	if i := slices.IndexFunc(d.Buttons, bad); i >= 0 {
		return refusal(fmt.Sprintf("%q is not a button; give one of %s.", clip(d.Buttons[i]), dtmfKeys))
	}
	return in.cfg.Queue(&frames.DTMFFrame{Buttons: d.Buttons})
}

func (in *Input) functionResult(e *Envelope) error {
	var d FunctionCallResult
	if err := read(e, &d); err != nil {
		return err
	}
	if d.ToolCallID == "" {
		return refusal("llm-function-call-result needs a tool_call_id.")
	}
	if len(d.Result) == 0 {
		d.Result = json.RawMessage("null")
	}
	return in.cfg.Queue(&frames.FunctionResultFrame{CallID: d.ToolCallID, Name: d.FunctionName, Result: d.Result})
}

// read decodes a message's data.
func read(e *Envelope, into any) error {
	if len(e.Data) == 0 {
		return refusal(fmt.Sprintf("%s needs data.", e.Type))
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return refusal(fmt.Sprintf("The data of %s does not have the form of the protocol.", e.Type))
	}
	return nil
}

func (in *Input) refuse(id, text string) {
	in.buf = AppendErrorResponse(in.buf[:0], id, text)
	in.cfg.Sender.Send(in.buf, Essential)
}

// warn logs the first of a kind of trouble a client can repeat as often as it
// likes, and the rest for debugging only.
func (in *Input) warn(text string, args ...any) {
	if in.warned {
		in.cfg.Logger.Debug(text, args...)
		return
	}
	in.warned = true
	in.cfg.Logger.Warn(text, args...)
}

// clip bounds a client's text before it is logged or repeated.
func clip(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
