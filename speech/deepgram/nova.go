package deepgram

import (
	"context"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/internal/socket"
)

// nova is the protocol of /v1/listen.
type nova struct{ session }

// results is a message of type Results.
type results struct {
	Channel struct {
		Alternatives []struct {
			Transcript string   `json:"transcript"`
			Confidence float64  `json:"confidence"`
			Languages  []string `json:"languages"`
		} `json:"alternatives"`
	} `json:"channel"`
	IsFinal      bool `json:"is_final"`
	SpeechFinal  bool `json:"speech_final"`
	FromFinalize bool `json:"from_finalize"`
}

// Audio sends samples as they come.
func (n *nova) Audio(ctx context.Context, c *socket.Conn, samples []int16) error {
	return n.send(ctx, c, samples)
}

// Mark asks for the rest of the words when the caller has stopped.
func (n *nova) Mark(ctx context.Context, c *socket.Conn, m speech.AudioMark) error {
	if m != speech.SpeechStopped {
		return nil
	}
	return c.WriteJSON(ctx, command{"Finalize"})
}

// Idle keeps the connection alive.
func (n *nova) Idle(ctx context.Context, c *socket.Conn) error {
	return c.WriteJSON(ctx, command{"KeepAlive"})
}

// Handle takes a message; those of unknown types mean nothing.
func (n *nova) Handle(data []byte) error {
	kind, err := n.kind(data)
	switch {
	case err != nil:
		return err
	case kind == "Error":
		return n.told(data)
	case kind != "Results":
		return nil
	}
	var r results
	if err := n.decode(data, &r); err != nil {
		return err
	}
	// Words that were asked for say nothing about the end of a turn.
	t := speech.Transcript{Final: r.IsFinal, EndOfTurn: n.cfg.EndOfTurn && r.SpeechFinal && !r.FromFinalize}
	if len(r.Channel.Alternatives) > 0 {
		best := r.Channel.Alternatives[0]
		t.Text, t.Confidence = best.Transcript, best.Confidence
		if len(best.Languages) > 0 {
			t.Language = best.Languages[0]
		}
	}
	if t.Text == "" && !t.EndOfTurn {
		return nil
	}
	return n.emit(t)
}
