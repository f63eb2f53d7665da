// Package websocket connects a session to a client over a WebSocket.
//
// One endpoint serves two kinds of client: those that speak RTVI as JSON in text
// messages, and those that wrap it in binary protocol buffers together with audio,
// as the unmodified browser libraries do. The client's first message tells which
// it is; both kinds are understood at any time, and answers come in the client's
// own.
//
// A session takes two goroutines: the one that called [Conn.Run], which reads, and
// the session loop. Writing takes another only while there is something to write.
//
// Everything is bounded: the size and the rate of what comes in, the bytes that
// wait to go out, the time a write, a silent peer and the end may take. A client
// that exceeds a bound is told so, as far as it listens, and disconnected; the
// session ends and others do not notice.
package websocket
