// Package jitter puts the packets of an audio stream in order.
//
// It does not play at a pace, as a buffer in front of a loudspeaker does: what is in
// order passes at once, since those who listen here, voice activity and recognizers,
// count samples and not time. Only where a packet is missing are the ones behind it
// held, for as long as packets of this stream have lately been late, and no longer
// than a bound; then the missing one is given up. A sender that stops in silence
// (DTX) is filled in for by the clock, so that a pause is noticed while it lasts.
//
// A Buffer has no clock and no goroutine: times are handed in. It belongs to one
// goroutine at a time.
package jitter

import "time"

const (
	// capacity is how many packets may wait behind a missing one: more than a
	// second of them.
	capacity = 64
	// restart is how far sequence numbers jump when a sender has begun anew.
	restart = 1000
	// fillPiece is the length of silence that is filled in at once.
	fillPiece = 20 * time.Millisecond
	// maxFill is how long a stream without any packets is filled in for.
	maxFill = 2 * time.Second
	// maxGap is the longest silence that a jump of the timestamps is turned into.
	maxGap = 400 * time.Millisecond
	// stallAfter is how long a stream that was not silent may be without packets
	// before it counts as silent.
	stallAfter = 300 * time.Millisecond
)

// Config says how a stream's packets are to be read. All of it is required.
type Config struct {
	// ClockRate is that of the timestamps in Hz.
	ClockRate int
	// Duration is the playing time of a payload; 0 means that it is broken.
	Duration func(payload []byte) time.Duration
	// Quiet reports whether a payload says that silence follows, in which the sender
	// may send nothing.
	Quiet func(payload []byte) bool
	// MinHold and MaxHold bound how long packets are held behind a missing one.
	MinHold, MaxHold time.Duration
}

// Kind says what comes next in the stream.
type Kind uint8

// The kinds.
const (
	// None: nothing, for now.
	None Kind = iota
	// Packet: a packet.
	Packet
	// Lost: a packet that was given up. Payload is the one that follows it, if it is
	// there, from which the lost one may be recovered; it comes again as a Packet.
	Lost
	// Silence: the sender sends nothing.
	Silence
)

// Item is a piece of the stream.
type Item struct {
	Kind Kind
	// Payload is valid until the next call of the Buffer.
	Payload []byte
	// Duration is how long the piece plays.
	Duration time.Duration
	// Held is how long the packet waited for others.
	Held time.Duration
}

// Stats counts packets.
type Stats struct {
	// Received is all that came in, Expected how many the sender has sent.
	Received, Expected uint64
	// Lost were given up. Late ones of them came after that, Duplicate ones had been
	// there already, Invalid ones were broken.
	Lost, Late, Duplicate, Invalid uint64
	// Reordered came behind packets that were sent after them, but in time.
	Reordered uint64
	// Filled is the silence that was filled in.
	Filled time.Duration
	// Highest is the highest sequence number, extended by the times it has wrapped
	// around.
	Highest uint32
	// Jitter is the mean deviation of the packets' distances, as of RFC 3550.
	Jitter time.Duration
	// Hold is how long packets are held behind a missing one at present.
	Hold time.Duration
}

// slot is the place of a packet that waits.
type slot struct {
	used    bool
	ts      int64
	came    time.Time
	payload []byte
}

// absence is a packet that was given up.
type absence struct {
	seq    int64
	missed time.Time // when it was first missed
}

// Buffer is the place where packets wait. Make one with [New].
type Buffer struct {
	cfg   Config
	slots [capacity]slot
	count int // packets that wait

	started bool
	next    int64 // the sequence number that is to come; numbers and timestamps are extended
	nextTS  int64
	highest int64
	last    time.Duration // of the packet before
	missing time.Time     // since when next is missed; zero when it is not

	given  [capacity]absence
	givenN int

	quiet  bool
	came   time.Time // when the last packet came
	end    time.Time // when the sound passed on so far is over, by the clock
	filled time.Duration
	row    time.Duration // of losses since the last packet

	suspect  int64 // the number a restart would go on with
	suspects int

	hold  holding
	trans transit
	stats Stats
}

// New makes an empty buffer.
func New(cfg Config) *Buffer {
	return &Buffer{cfg: cfg, hold: newHolding(cfg.MinHold, cfg.MaxHold)}
}

// Stats is what has happened so far.
func (b *Buffer) Stats() Stats {
	s := b.stats
	s.Jitter = b.trans.jitter(b.cfg.ClockRate)
	s.Hold = b.hold.now
	s.Highest = uint32(b.highest)
	return s
}

// Waiting is the number of packets that are held.
func (b *Buffer) Waiting() int { return b.count }

// Quiet tells that the sender has stopped for a while: silence is filled in until it
// sends again.
func (b *Buffer) Quiet() { b.quiet = true }

// Put takes a packet as it came at now; the payload is copied. It reports false for
// one that is not used: late, a duplicate, or broken. The caller then takes out what
// there is with Next.
func (b *Buffer) Put(now time.Time, seq uint16, ts uint32, payload []byte) bool {
	b.stats.Received++
	d := b.cfg.Duration(payload)
	if d <= 0 {
		b.stats.Invalid++
		return false
	}
	if !b.started {
		b.begin(seq, ts)
	}
	full := b.next + int64(int16(seq-uint16(b.next)))
	fullTS := b.nextTS + int64(int32(ts-uint32(b.nextTS)))
	if jump := full - b.next; jump < -restart || jump >= restart {
		if !b.restarted(seq) {
			b.stats.Invalid++
			return false
		}
		b.begin(seq, ts)
		full, fullTS = b.next, b.nextTS
	}
	b.suspects = 0
	b.trans.packet(now, fullTS, b.cfg.ClockRate)
	switch {
	case full < b.next:
		b.passed(now, full)
		return false
	case full-b.next >= capacity:
		b.skipTo(now, full)
	}
	return b.store(now, full, fullTS, payload)
}

// begin makes a packet the first of the stream.
func (b *Buffer) begin(seq uint16, ts uint32) {
	for i := range b.slots {
		b.slots[i].used = false
	}
	*b = Buffer{
		cfg: b.cfg, slots: b.slots, hold: b.hold, stats: b.stats, trans: b.trans,
		started: true, next: int64(seq), nextTS: int64(ts), highest: int64(seq) - 1,
		last: fillPiece,
	}
	b.trans.restart()
}

// restarted reports whether a packet from far away is the second of its kind, so that
// the sender must have begun anew.
func (b *Buffer) restarted(seq uint16) bool {
	if b.suspects > 0 && int64(seq) == b.suspect {
		return true
	}
	b.suspect, b.suspects = int64(seq+1), 1
	return false
}

// passed counts a packet whose turn is over.
func (b *Buffer) passed(now time.Time, full int64) {
	for i := range b.given {
		if a := &b.given[i]; a.seq == full && !a.missed.IsZero() {
			b.hold.tooShort(now.Sub(a.missed))
			a.missed = time.Time{}
			b.stats.Late++
			return
		}
	}
	b.stats.Duplicate++
}

// store puts a packet in its place.
func (b *Buffer) store(now time.Time, full, fullTS int64, payload []byte) bool {
	s := &b.slots[full%capacity]
	if s.used {
		b.stats.Duplicate++
		return false
	}
	if full < b.highest {
		b.stats.Reordered++
	} else {
		b.stats.Expected += uint64(full - b.highest)
		b.highest = full
	}
	*s = slot{used: true, ts: fullTS, came: now, payload: append(s.payload[:0], payload...)}
	b.count++
	b.came, b.filled = now, 0
	if full > b.next && b.missing.IsZero() && !b.slots[b.next%capacity].used {
		b.missing = now
	}
	return true
}

// skipTo gives up so much that a packet from beyond the capacity has a place.
func (b *Buffer) skipTo(now time.Time, full int64) {
	for to := full - capacity + 1; b.next < to; b.next++ {
		if s := &b.slots[b.next%capacity]; s.used {
			s.used = false
			b.count--
			b.nextTS = s.ts
		}
		b.giveUp(now)
		b.nextTS += b.ticks(b.last)
	}
	b.missing = time.Time{}
}

// giveUp counts the next packet as lost.
func (b *Buffer) giveUp(missed time.Time) {
	b.stats.Lost++
	b.given[b.givenN%capacity] = absence{seq: b.next, missed: missed}
	b.givenN++
}

// Next takes out what comes next at now. The caller asks until there is None.
func (b *Buffer) Next(now time.Time) Item {
	switch {
	case !b.started:
		return Item{}
	case b.slots[b.next%capacity].used:
		return b.packet(now)
	case b.count > 0:
		return b.gap(now)
	}
	return b.pause(now)
}

// packet takes out the next packet, or the silence before it.
func (b *Buffer) packet(now time.Time) Item {
	s := &b.slots[b.next%capacity]
	if gap := s.ts - b.nextTS; gap > 0 {
		b.nextTS = s.ts
		if d := min(b.duration(gap), maxGap); d >= time.Millisecond {
			b.stats.Filled += d
			return Item{Kind: Silence, Duration: d}
		}
	}
	if !b.missing.IsZero() {
		b.hold.enough(now.Sub(b.missing))
		b.missing = time.Time{}
	}
	d := b.cfg.Duration(s.payload)
	b.passOn(s.came, d)
	b.nextTS = s.ts + b.ticks(d)
	b.quiet = b.cfg.Quiet(s.payload)
	b.last, b.row = d, 0
	s.used = false
	b.count--
	b.next++
	b.hold.packet()
	if b.count > 0 && !b.slots[b.next%capacity].used {
		b.missing = s.came
	}
	return Item{Kind: Packet, Payload: s.payload, Duration: d, Held: max(0, now.Sub(s.came))}
}

// gap gives the next packet up if it has been waited for long enough.
func (b *Buffer) gap(now time.Time) Item {
	if now.Sub(b.missing) < b.hold.now && b.count < capacity-1 {
		return Item{}
	}
	b.giveUp(b.missing)
	b.next++
	item := Item{Kind: Lost, Duration: b.room()}
	if follower := &b.slots[b.next%capacity]; follower.used {
		b.missing = time.Time{}
		item.Payload = follower.payload
	}
	b.row += item.Duration
	b.nextTS += b.ticks(item.Duration)
	b.passOn(now, 0)
	return item
}

// room is how long the lost packet before next lasted: as long as the one before it, if
// the timestamps leave so much time until the packet that is there. Silence may have
// been filled in for some of it already. A long row of losses is not made up for in
// full.
func (b *Buffer) room() time.Duration {
	seq := b.next
	for !b.slots[seq%capacity].used {
		seq++ // one is there, or there would be no gap
	}
	left := b.duration(b.slots[seq%capacity].ts - b.nextTS)
	return max(0, min(b.last, left, maxFill-b.row))
}

// pause fills in for a sender that sends nothing.
func (b *Buffer) pause(now time.Time) Item {
	if !b.quiet && now.Sub(b.came) >= stallAfter {
		b.quiet = true
	}
	if !b.quiet || now.Sub(b.end) < fillPiece || b.filled >= maxFill {
		return Item{}
	}
	b.filled += fillPiece
	b.stats.Filled += fillPiece
	b.end = b.end.Add(fillPiece)
	b.nextTS += b.ticks(fillPiece)
	return Item{Kind: Silence, Duration: fillPiece}
}

// passOn notes that sound of duration d, which came at a time, has been passed on.
func (b *Buffer) passOn(came time.Time, d time.Duration) {
	if end := came.Add(d); end.After(b.end) {
		b.end = end
	}
}

func (b *Buffer) ticks(d time.Duration) int64 {
	return int64(d) * int64(b.cfg.ClockRate) / int64(time.Second)
}

func (b *Buffer) duration(ticks int64) time.Duration {
	return time.Duration(ticks) * time.Second / time.Duration(b.cfg.ClockRate)
}
