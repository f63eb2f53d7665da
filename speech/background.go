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
