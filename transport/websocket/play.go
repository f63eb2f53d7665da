package websocket

import (
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/transport/internal/pacer"
)

// lead is how many pieces of 20 ms a client has ahead of what it plays, when there are
// so many: enough for a network that hesitates, and little enough for an interruption
// to be heard as one. Clients do not throw away what they have.
const lead = 4

// AudioSource gives the sound that is sent to a client. *speech.Buffer is one.
type AudioSource interface {
	// Read fills dst with mono samples at [PlaybackRate] and returns how many there
	// were. It is called every 20 ms, on a goroutine that serves other connections
	// too, and must not block.
	Read(dst []int16) int
}

// Pacer sends the sound of any number of connections at the pace at which it is
// played.
type Pacer struct{ pacer *pacer.Pacer }

// NewPacer starts a pacer, which must be closed.
func NewPacer() *Pacer { return &Pacer{pacer: pacer.New(0)} }

// Close stops the sending. The connections must be over.
func (p *Pacer) Close() { p.pacer.Close() }

// Play has the client hear what the source gives, from now until the connection ends.
// It is called once at most.
func (c *Conn) Play(source AudioSource, p *Pacer) {
	entry := p.pacer.Add(&player{conn: c, source: source})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.playing = entry
}

// player is a connection's place at the pacer.
type player struct {
	conn   *Conn
	source AudioSource
	frame  [PlaybackRate / 50]int16
	have   int  // samples of frame that wait for the rest of it
	ahead  int  // pieces that the client has not played yet
	talks  bool // the piece before had sound
}

// Tick implements [pacer.Stream].
func (p *player) Tick(t pacer.Tick) {
	p.ahead = max(0, p.ahead-1-int(min(t.Skipped, lead)))
	for p.ahead < lead {
		p.have += p.source.Read(p.frame[p.have:])
		if p.have < len(p.frame) {
			if p.ahead > 0 || p.have == 0 && !p.talks {
				return // the rest may come before the client has played what it has
			}
			// The end of what is said is followed by silence: players keep a
			// remainder until more comes.
			clear(p.frame[p.have:])
		}
		p.talks = p.have > 0
		p.have = 0
		p.ahead++
		p.conn.SendAudio(frames.PCM{Samples: p.frame[:], Rate: PlaybackRate, Channels: 1})
	}
}
