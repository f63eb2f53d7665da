package speech

// Background adds sound under the bot's speech, such as hold music: a *mix.Mixer of
// package audio/mix is one. It is used by the goroutine that fills packets.
type Background interface {
	// Mix adds the background to the samples, in place. They are the next piece of
	// the stream, silence included.
	Mix(samples []int16) error
}

// Fill makes the next packet: speech, silence where there is none, and under them a
// background, which may be nil. It returns how many of the samples are speech. The
// error is the background's; the packet is whole all the same.
func (b *Buffer) Fill(packet []int16, under Background) (speech int, err error) {
	n := b.Read(packet)
	clear(packet[n:])
	if under != nil {
		err = under.Mix(packet)
	}
	return n, err
}

// Bed is a [Buffer] over a background: what a transport is given to play instead, so that
// the user hears the background whenever there is a call, and the bot over it. Read is
// for one goroutine at a time.
type Bed struct {
	// Speech is what the bot says, and Under the background. Both are required.
	Speech *Buffer
	Under  Background
	// OnError is told of the background's failures, on the goroutine that reads; it
	// must not block. May be nil.
	OnError func(error)
}

// Read fills the packet and returns its length: there is no silence in a bed. Where the
// background fails, there is what the bot says.
func (b *Bed) Read(packet []int16) int {
	speech, err := b.Speech.Fill(packet, b.Under)
	if err == nil {
		return len(packet)
	}
	if b.OnError != nil {
		b.OnError(err)
	}
	return speech
}
