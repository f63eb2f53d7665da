package telephony

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/audio/g711"
)

// Carrier is who streams a call.
type Carrier string

// The carriers.
const (
	Twilio Carrier = "twilio"
	Telnyx Carrier = "telnyx"
	Plivo  Carrier = "plivo"
	Exotel Carrier = "exotel"
)

// Encoding is how samples travel. All are mono at 8 kHz.
type Encoding string

// The encodings.
const (
	// ULaw is G.711 µ-law, which all but Exotel use by default.
	ULaw Encoding = "PCMU"
	// ALaw is G.711 A-law, which Telnyx can use.
	ALaw Encoding = "PCMA"
	// Linear is 16-bit little-endian samples, Exotel's.
	Linear Encoding = "L16"
)

// Info is what a carrier tells of a call.
type Info struct {
	// Carrier is who streams it.
	Carrier Carrier
	// Call names the call at the carrier, for its HTTP interface, and Stream the
	// stream. Account is the account at Twilio and Exotel; else empty.
	Call, Stream, Account string
	// From and To are the numbers, where the carrier tells them; at Twilio when they
	// are passed as parameters of the stream.
	From, To string
	// Parameters were given to the stream by the answer that opened it.
	Parameters map[string]string
	// Encoding is how sound travels, in both directions.
	Encoding Encoding
}

// ErrStart tells that a stream does not begin as that of any known carrier.
var ErrStart = errors.New("telephony: this is no known carrier's stream")

// incoming is a message of any carrier's.
type incoming struct {
	Event    string `json:"event"`
	StreamID string `json:"stream_id"` // Telnyx
	Start    struct {
		StreamSid   string `json:"streamSid"` // Twilio
		CallSid     string `json:"callSid"`
		AccountSid  string `json:"accountSid"`
		CallControl string `json:"call_control_id"` // Telnyx
		MediaFormat struct {
			Encoding string `json:"encoding"`
		} `json:"media_format"`
		StreamID string `json:"streamId"` // Plivo
		CallID   string `json:"callId"`

		ExotelStream  string `json:"stream_sid"` // Exotel
		ExotelCall    string `json:"call_sid"`
		ExotelAccount string `json:"account_sid"`

		From             string            `json:"from"`
		To               string            `json:"to"`
		CustomParameters map[string]string `json:"customParameters"`
		Custom           map[string]string `json:"custom_parameters"`
	} `json:"start"`
	Media struct {
		Payload []byte `json:"payload"`
		Track   string `json:"track"`
	} `json:"media"`
	DTMF struct {
		Digit string `json:"digit"`
	} `json:"dtmf"`
}

// identify reads the message that begins a stream. It reports false for one that
// comes before.
func identify(m *incoming) (Info, bool, error) {
	if m.Event == "connected" {
		return Info{}, false, nil
	}
	if m.Event != "start" {
		return Info{}, false, fmt.Errorf("%w: it begins with %.40q", ErrStart, m.Event)
	}
	s := &m.Start
	info := Info{From: s.From, To: s.To, Parameters: s.CustomParameters, Encoding: ULaw}
	switch {
	case s.StreamSid != "" && s.CallSid != "":
		info.Carrier, info.Stream, info.Call, info.Account = Twilio, s.StreamSid, s.CallSid, s.AccountSid
		info.From, info.To = first(s.From, s.CustomParameters["from"]), first(s.To, s.CustomParameters["to"])
	case m.StreamID != "" && s.CallControl != "":
		info.Carrier, info.Stream, info.Call = Telnyx, m.StreamID, s.CallControl
		switch e := Encoding(strings.ToUpper(s.MediaFormat.Encoding)); e {
		case ULaw, ALaw:
			info.Encoding = e
		case "":
		default:
			return Info{}, false, fmt.Errorf("telephony: Telnyx streams %.20q; ask for PCMU or PCMA in the answer to the call", e)
		}
	case s.StreamID != "" && s.CallID != "":
		info.Carrier, info.Stream, info.Call = Plivo, s.StreamID, s.CallID
	case s.ExotelStream != "" && s.ExotelCall != "":
		info.Carrier, info.Stream, info.Call, info.Account = Exotel, s.ExotelStream, s.ExotelCall, s.ExotelAccount
		info.Parameters, info.Encoding = s.Custom, Linear
	default:
		return Info{}, false, fmt.Errorf("%w: its start names no stream and call", ErrStart)
	}
	return info, true, nil
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// appendSound appends the message that carries a piece of sound, encoded already
// and in base64.
func (i *Info) appendSound(dst, payload []byte) []byte {
	switch i.Carrier {
	case Twilio:
		dst = appendField(append(dst, `{"event":"media","streamSid":`...), i.Stream)
		dst = append(dst, `,"media":{"payload":"`...)
	case Telnyx:
		dst = append(dst, `{"event":"media","media":{"payload":"`...)
	case Plivo:
		dst = appendField(append(dst, `{"event":"playAudio","streamId":`...), i.Stream)
		dst = append(dst, `,"media":{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":"`...)
	case Exotel:
		dst = appendField(append(dst, `{"event":"media","stream_sid":`...), i.Stream)
		dst = append(dst, `,"media":{"payload":"`...)
	}
	return append(append(dst, payload...), `"}}`...)
}

// clearing is the message that has the carrier drop what it has not played.
func (i *Info) clearing() []byte {
	switch i.Carrier {
	case Twilio:
		return append(appendField([]byte(`{"event":"clear","streamSid":`), i.Stream), '}')
	case Plivo:
		return append(appendField([]byte(`{"event":"clearAudio","streamId":`), i.Stream), '}')
	case Exotel:
		return append(appendField([]byte(`{"event":"clear","stream_sid":`), i.Stream), '}')
	}
	return []byte(`{"event":"clear"}`)
}

func appendField(dst []byte, value string) []byte {
	quoted, err := json.Marshal(value)
	if err != nil { // a string always encodes
		return append(dst, `""`...)
	}
	return append(dst, quoted...)
}

// appendEncoded appends samples as they travel.
func (e Encoding) appendEncoded(dst []byte, samples []int16) []byte {
	switch e {
	case ALaw:
		return g711.AppendALaw(dst, samples)
	case Linear:
		for _, s := range samples {
			dst = append(dst, byte(s), byte(s>>8))
		}
		return dst
	}
	return g711.AppendULaw(dst, samples)
}
