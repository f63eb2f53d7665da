// Package wire reads and writes the binary frames of RTVI's WebSocket clients: one
// protocol-buffer message of package pipecat for each WebSocket message.
//
// Only audio and messages are ever written: browser clients know no other kinds.
package wire

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Kind says what a frame carries; its value is the field number on the wire.
type Kind uint8

// The kinds.
const (
	None          Kind = 0
	Text          Kind = 1
	Audio         Kind = 2
	Transcription Kind = 3
	Message       Kind = 4
	Interruption  Kind = 5
)

// Frame is one message of the wire. Only the fields of its kind are set. Its byte
// slices and strings are parts or copies of what was decoded, see each.
type Frame struct {
	Kind Kind
	// ID and Name are the sender's; messages have none.
	ID   uint64
	Name string
	// Text is that of a text or a transcription.
	Text string
	// UserID and Timestamp belong to a transcription.
	UserID, Timestamp string
	// Audio is 16-bit little-endian PCM; it is a part of the decoded bytes.
	Audio []byte
	// Rate is the sample rate in Hz, Channels the number of channels; 0 where the
	// sender left them out.
	Rate, Channels uint32
	// PTS is the presentation time, when HasPTS is set.
	PTS    uint64
	HasPTS bool
	// Data is an RTVI message as JSON; it is a part of the decoded bytes.
	Data []byte
}

// ErrMalformed is wrapped by every error of [Decode].
var ErrMalformed = errors.New("wire: malformed frame")

// Decode reads one frame. As protocol buffers have it, unknown fields are skipped,
// the last of several kinds counts, and a kind that comes twice is merged.
func Decode(b []byte) (Frame, error) {
	var f Frame
	err := fields(b, func(num protowire.Number, v value) error {
		if num < protowire.Number(Text) || num > protowire.Number(Interruption) || v.typ != protowire.BytesType {
			return nil
		}
		if k := Kind(num); k != f.Kind {
			f = Frame{Kind: k}
		}
		return fields(v.bytes, f.set)
	})
	if err != nil {
		return Frame{}, err
	}
	return f, nil
}

// set takes one field of the frame's inner message.
func (f *Frame) set(num protowire.Number, v value) error {
	if f.Kind == Message {
		if num == 1 {
			return v.text(&f.Data)
		}
		return nil
	}
	switch num {
	case 1:
		v.uint64(&f.ID)
		return nil
	case 2:
		return v.string(&f.Name)
	}
	switch f.Kind {
	case Text:
		if num == 3 {
			return v.string(&f.Text)
		}
	case Transcription:
		return f.setTranscription(num, v)
	case Audio:
		f.setAudio(num, v)
	}
	return nil
}

func (f *Frame) setTranscription(num protowire.Number, v value) error {
	switch num {
	case 3:
		return v.string(&f.Text)
	case 4:
		return v.string(&f.UserID)
	case 5:
		return v.string(&f.Timestamp)
	}
	return nil
}

func (f *Frame) setAudio(num protowire.Number, v value) {
	switch num {
	case 3:
		if v.typ == protowire.BytesType {
			f.Audio = v.bytes
		}
	case 4:
		v.uint32(&f.Rate)
	case 5:
		v.uint32(&f.Channels)
	case 6:
		if v.uint64(&f.PTS) {
			f.HasPTS = true
		}
	}
}

// value is a field's content: a number or bytes, by its type. Other types are
// skipped.
type value struct {
	typ    protowire.Type
	number uint64
	bytes  []byte
}

func (v value) uint64(to *uint64) bool {
	if v.typ != protowire.VarintType {
		return false
	}
	*to = v.number
	return true
}

func (v value) uint32(to *uint32) {
	if v.typ == protowire.VarintType {
		*to = uint32(v.number)
	}
}

func (v value) text(to *[]byte) error {
	if v.typ != protowire.BytesType {
		return nil
	}
	if !utf8.Valid(v.bytes) {
		return fmt.Errorf("%w: a string is not UTF-8", ErrMalformed)
	}
	*to = v.bytes
	return nil
}

func (v value) string(to *string) error {
	var b []byte
	if err := v.text(&b); err != nil || v.typ != protowire.BytesType {
		return err
	}
	if string(b) == audioName {
		*to = audioName // the name of every browser's frames; not worth a copy
		return nil
	}
	*to = string(b)
	return nil
}

const audioName = "audio"

// fields calls fn for each field of a message.
func fields(b []byte, fn func(protowire.Number, value) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", ErrMalformed, protowire.ParseError(n))
		}
		if num > protowire.MaxValidNumber {
			return fmt.Errorf("%w: field number %d", ErrMalformed, num)
		}
		b = b[n:]
		v := value{typ: typ}
		switch typ {
		case protowire.VarintType:
			v.number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", ErrMalformed, protowire.ParseError(n))
		}
		b = b[n:]
		if err := fn(num, v); err != nil {
			return err
		}
	}
	return nil
}

// AppendMessage appends a frame that carries an RTVI message.
func AppendMessage(dst, json []byte) []byte {
	inner := protowire.SizeTag(1) + protowire.SizeBytes(len(json))
	dst = protowire.AppendTag(dst, protowire.Number(Message), protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(inner))
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	return protowire.AppendBytes(dst, json)
}

// AppendAudio appends a frame of 16-bit PCM.
func AppendAudio(dst []byte, samples []int16, rate, channels int) []byte {
	size := 2 * len(samples)
	inner := protowire.SizeTag(2) + protowire.SizeBytes(len(audioName)) +
		protowire.SizeTag(3) + protowire.SizeBytes(size) +
		protowire.SizeTag(4) + protowire.SizeVarint(uint64(rate)) +
		protowire.SizeTag(5) + protowire.SizeVarint(uint64(channels))
	dst = protowire.AppendTag(dst, protowire.Number(Audio), protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(inner))
	dst = protowire.AppendTag(dst, 2, protowire.BytesType)
	dst = protowire.AppendString(dst, audioName)
	dst = protowire.AppendTag(dst, 3, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	for _, s := range samples {
		dst = append(dst, byte(s), byte(uint16(s)>>8))
	}
	dst = protowire.AppendTag(dst, 4, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(rate))
	dst = protowire.AppendTag(dst, 5, protowire.VarintType)
	return protowire.AppendVarint(dst, uint64(channels))
}
