package rtvi

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// MaxMessage is the largest message in bytes that [Decode] takes.
const MaxMessage = 1 << 20

// maxID bounds the id of a request, which is repeated in its answer.
const maxID = 256

// What [Decode] finds wrong with a message.
var (
	// ErrMalformed tells that a message is not a JSON object with the fields of an
	// envelope.
	ErrMalformed = errors.New("rtvi: malformed message")
	// ErrTooLarge tells that a message is larger than [MaxMessage].
	ErrTooLarge = errors.New("rtvi: message too large")
	// ErrForeign tells that a message belongs to another protocol.
	ErrForeign = errors.New("rtvi: not a message of this protocol")
)

// Envelope is a message as it travels, in either direction.
type Envelope struct {
	// Label is [Label] in every message of the protocol.
	Label string `json:"label"`
	// Type says what Data is.
	Type Type `json:"type"`
	// ID names a request; its answer carries the same. Many messages have none.
	ID string `json:"id,omitempty"`
	// Data is the message's own object; may be absent.
	Data json.RawMessage `json:"data,omitempty"`
}

// Decode reads an envelope. It copies what it keeps of raw. With [ErrForeign] the
// envelope is filled as far as it could be read.
func Decode(raw []byte) (Envelope, error) {
	var e Envelope
	if len(raw) > MaxMessage {
		return e, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(raw), MaxMessage)
	}
	if !utf8.Valid(raw) {
		return e, fmt.Errorf("%w: not UTF-8", ErrMalformed)
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return Envelope{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if e.Label != Label {
		return e, ErrForeign
	}
	if e.Type == "" {
		return e, fmt.Errorf("%w: it has no type", ErrMalformed)
	}
	if len(e.ID) > maxID {
		e.ID = ""
		return e, fmt.Errorf("%w: its id is longer than %d bytes", ErrMalformed, maxID)
	}
	return e, nil
}

// Append appends the encoded message to dst. An empty id and nil data are left
// out.
func Append(dst []byte, t Type, id string, data any) ([]byte, error) {
	dst = appendHead(dst, t, id)
	if data != nil {
		body, err := json.Marshal(data)
		if err != nil {
			return dst, fmt.Errorf("rtvi: the data of a %s message cannot be encoded: %w", t, err)
		}
		dst = append(dst, `,"data":`...)
		dst = append(dst, body...)
	}
	return append(dst, '}'), nil
}

// appendHead appends an envelope up to its data.
func appendHead(dst []byte, t Type, id string) []byte {
	dst = append(dst, `{"label":"`+Label+`","type":`...)
	dst = appendString(dst, string(t))
	if id != "" {
		dst = append(dst, `,"id":`...)
		dst = appendString(dst, id)
	}
	return dst
}

// appendBare appends a message without data.
func appendBare(dst []byte, t Type) []byte { return append(appendHead(dst, t, ""), '}') }

// appendText appends a message whose data is one text; it is the hot one.
func appendText(dst []byte, t Type, text string) []byte {
	dst = appendHead(dst, t, "")
	dst = append(dst, `,"data":{"text":`...)
	dst = appendString(dst, text)
	return append(dst, `}}`...)
}

// AppendError appends an error message. A fatal one makes clients disconnect.
func AppendError(dst []byte, text string, fatal bool) []byte {
	dst = appendHead(dst, TypeError, "")
	dst = append(dst, `,"data":{"error":`...)
	dst = appendString(dst, text)
	if fatal {
		return append(dst, `,"fatal":true}}`...)
	}
	return append(dst, `,"fatal":false}}`...)
}

// AppendErrorResponse appends the refusal of a request; id may be empty where the
// request had none.
func AppendErrorResponse(dst []byte, id, text string) []byte {
	dst = appendHead(dst, TypeErrorResponse, id)
	dst = append(dst, `,"data":{"error":`...)
	dst = appendString(dst, text)
	return append(dst, `}}`...)
}
