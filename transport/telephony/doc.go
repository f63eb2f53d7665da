// Package telephony connects a session to a phone call that a carrier streams over a
// WebSocket: Twilio, Telnyx, Plivo and Exotel. Which of them calls is told from its
// first messages, so one address serves all.
//
// A carrier first asks over HTTP what to do with a call; [Document] is the answer that
// makes it open the stream, and [VerifyTwilio] and [VerifyTelnyx] check that the
// question comes from the carrier. The stream is then taken by [Exchange.Accept], and
// [Conn.Run] serves a session on it, as its namesakes in the other transports do:
//
//	conn, err := exchange.Accept(w, r)           // until the carrier has said what it streams
//	conn.Play(buffer)                            // a *speech.Buffer
//	pipe, err := pipeline.New(…, conn.Output(), …)
//	err = conn.Run(ctx, task)
//
// The caller's sound comes in as [frames.InputAudioFrame] at 8 kHz, keys as
// [frames.DTMFFrame]. The bot's sound goes out 20 ms at a time, at the moment it is due,
// so that no more than that is ahead of the caller's ear but for what the carrier
// itself holds; an interruption has the carrier drop that too.
package telephony
