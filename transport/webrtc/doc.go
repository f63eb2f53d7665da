// Package webrtc connects a session to a caller over WebRTC: sound in both
// directions, and RTVI messages over a data channel, as browsers and the unmodified
// client libraries do.
//
// An [Engine] holds what all calls of a server share: addresses, certificate, codecs,
// and the pacer that sends their sound. [Signalling] answers the HTTP requests that
// set a call up; for each new caller it has the server open a session on a [Conn].
// [Conn.Run] then serves that session, like its namesake in package
// transport/websocket.
//
// The caller's sound is put in order, decoded to 16 kHz mono on the goroutine that
// receives it, and queued in the session as [frames.InputAudioFrame]. The bot's sound
// is taken from an [AudioSource], usually a *speech.Buffer, 20 ms at a time and at
// the moment it is sent: when the source is emptied, the packet that is just being
// sent is the last one.
//
// A caller whose network fails may come back within [Config].ReattachWindow, with a
// new peer connection for the same session.
package webrtc
