package deepgram

import (
	"context"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/socket"
)

// fluxPiece is how much audio is sent at once; Deepgram recommends it.
const fluxPiece = 80 * time.Millisecond

// flux is the protocol of /v2/listen.
type flux struct {
	session
	waiting []int16
}

// turnInfo is a message of type TurnInfo.
type turnInfo struct {
	Event      string   `json:"event"`
	Transcript string   `json:"transcript"`
	Confidence float64  `json:"end_of_turn_confidence"`
	Languages  []string `json:"languages"`
}

// Audio sends samples in pieces of the recommended size.
func (f *flux) Audio(ctx context.Context, c *socket.Conn, samples []int16) error {
	size := audio.Mono(f.cfg.Rate).Samples(fluxPiece)
	f.waiting = append(f.waiting, samples...)
	for len(f.waiting) >= size {
		if err := f.send(ctx, c, f.waiting[:size]); err != nil {
			return err
		}
		f.waiting = f.waiting[:copy(f.waiting, f.waiting[size:])]
	}
	return nil
}

// Mark does nothing: the server decides by itself.
func (*flux) Mark(context.Context, *socket.Conn, speech.AudioMark) error { return nil }

// Idle sends silence, so that time goes on for the server and it notices the end of a
// turn.
func (f *flux) Idle(ctx context.Context, c *socket.Conn) error {
	return c.WriteBinary(ctx, make([]byte, 2*audio.Mono(f.cfg.Rate).Samples(f.cfg.KeepAlive)))
}

// Finish sends what is left.
func (f *flux) Finish(ctx context.Context, c *socket.Conn) error {
	if len(f.waiting) > 0 {
		if err := f.send(ctx, c, f.waiting); err != nil {
			return err
		}
	}
	return f.session.Finish(ctx, c)
}

// Handle takes a message; those of unknown types mean nothing.
func (f *flux) Handle(data []byte) error {
	kind, err := f.kind(data)
	switch {
	case err != nil:
		return err
	case kind == "Error" || kind == "FatalError":
		return f.told(data)
	case kind != "TurnInfo":
		return nil
	}
	var info turnInfo
	if err := f.decode(data, &info); err != nil {
		return err
	}
	over := info.Event == "EndOfTurn"
	if info.Transcript == "" && !over {
		return nil
	}
	t := speech.Transcript{Text: info.Transcript, Final: over, EndOfTurn: over}
	if len(info.Languages) > 0 {
		t.Language = info.Languages[0]
	}
	return f.emit(t)
}
