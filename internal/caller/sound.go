package caller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/opus"
)

const (
	slot        = 20 * time.Millisecond
	slotSamples = Rate / 50
	// maxHeard bounds what is kept of the bot's sound until its slot comes.
	maxHeard = 2 * Rate
	// maxLate is how far sending may lag behind before slots are skipped. What is less
	// late is sent at once, as a microphone's sound is that had to wait.
	maxLate = time.Second
)

// sound sends a packet and takes a slot of what was heard every 20 ms, until ctx
// ends.
func (c *call) sound(ctx context.Context) error {
	enc, err := opus.NewEncoder(opus.EncoderConfig{Format: audio.Mono(Rate), FEC: true})
	if err != nil {
		return err
	}
	tick := time.NewTimer(0)
	defer tick.Stop()
	var packet rtp.Packet
	packet.Header = rtp.Header{Version: 2, Marker: true}
	frame, heard, both := make([]int16, slotSamples), make([]int16, slotSamples), make([]int16, 2*slotSamples)
	next, pinged := time.Now(), time.Time{}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.over:
			return nil
		case <-tick.C:
		}
		done := c.mouth.next(frame)
		if packet.Payload, err = enc.Encode(packet.Payload[:0], frame); err != nil {
			return err
		}
		_ = c.mic.WriteRTP(&packet) // lost packets are the network's way
		done()
		packet.Marker = false
		packet.SequenceNumber++
		packet.Timestamp += slotSamples
		c.ear.next(heard)
		if c.cfg.Record != nil {
			for i := range frame {
				both[2*i], both[2*i+1] = frame[i], heard[i]
			}
			if err := c.cfg.Record.Write(both); err != nil {
				return fmt.Errorf("the recording cannot be written: %w", err)
			}
		}
		if now := time.Now(); now.Sub(pinged) >= time.Second {
			pinged = now
			_ = c.dc.SendText(fmt.Sprintf("ping: %d", now.UnixMilli())) // the end is told otherwise
		}
		next = next.Add(slot)
		if late := time.Since(next); late > maxLate {
			// Nothing was sent in slots that have passed, and nothing is sent for them.
			skipped := int(late / slot)
			next = next.Add(time.Duration(skipped) * slot)
			packet.Timestamp += uint32(skipped) * slotSamples
			if c.cfg.Record != nil {
				if err := c.cfg.Record.Write(make([]int16, 2*slotSamples*skipped)); err != nil {
					return fmt.Errorf("the recording cannot be written: %w", err)
				}
			}
		}
		tick.Reset(time.Until(next))
	}
}

// mouth is what is being said. It is safe for concurrent use.
type mouth struct {
	mu   sync.Mutex
	left []int16
	last int // samples of left up to the last sound
	done chan time.Time
}

// say begins to say samples; the channel tells when the last sound of them was sent.
func (m *mouth) say(samples []int16) <-chan time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left, m.done = samples, make(chan time.Time, 1)
	m.last = len(samples)
	for m.last > slotSamples && !isSound(samples[m.last-slotSamples:m.last]) {
		m.last -= slotSamples
	}
	return m.done
}

// next fills a slot; sent is to be called when it was sent.
func (m *mouth) next(frame []int16) (sent func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := copy(frame, m.left)
	clear(frame[n:])
	m.left = m.left[n:]
	before := m.last
	m.last -= n
	if m.done == nil || before <= 0 || m.last > 0 {
		return func() {}
	}
	done := m.done
	m.done = nil
	return func() { done <- time.Now() }
}

// ear is what is heard. It is safe for concurrent use.
type ear struct {
	mu      sync.Mutex
	heard   []int16
	called  time.Time // when the offer was sent
	packet  time.Time // when the first packet came
	since   time.Time // sound from here on counts
	sounded time.Time // when it began
}

// calledAt notes when the call was made.
func (e *ear) calledAt(t time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.called = t
}

// setUp is the time from the offer to the first packet.
func (e *ear) setUp() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.packet.IsZero() {
		return 0
	}
	return e.packet.Sub(e.called)
}

// listen waits for the next sound after since.
func (e *ear) listen(since time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.since, e.sounded = since, time.Time{}
}

// first is when that sound came; zero when none has.
func (e *ear) first() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sounded
}

// follow decodes a track until it ends.
func (e *ear) follow(t *pion.TrackRemote) {
	dec, err := opus.NewDecoder(audio.Mono(Rate))
	if err != nil {
		return
	}
	var samples []int16
	for {
		p, _, err := t.ReadRTP()
		if err != nil {
			return
		}
		if samples, err = dec.Decode(samples[:0], p.Payload); err == nil {
			e.take(samples)
		}
	}
}

// take adds what was decoded.
func (e *ear) take(samples []int16) {
	sound := isSound(samples)
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.packet.IsZero() {
		e.packet = now
	}
	if sound && e.sounded.IsZero() && !e.since.IsZero() && now.After(e.since) {
		e.sounded = now
	}
	e.heard = append(e.heard, samples...)
	if over := len(e.heard) - maxHeard; over > 0 {
		e.heard = append(e.heard[:0], e.heard[over:]...)
	}
}

// next takes a slot of what was heard, the rest silence.
func (e *ear) next(slot []int16) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := copy(slot, e.heard)
	clear(slot[n:])
	e.heard = append(e.heard[:0], e.heard[n:]...)
}
