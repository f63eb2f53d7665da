// Package rtvi speaks RTVI 2.1.0, the protocol between a conversation's server and
// the client libraries of browsers and phones, and translates it to frames and
// back.
//
// [Input] turns a client's messages into frames; it runs on the goroutine that
// reads from the client. [Output] is a processor that turns what passes it into
// messages; it stands behind the model service and the synthesizer, if there is
// one, and before the assistant aggregator, so that what has passed it is what the
// client was sent. Neither knows how messages travel: a transport implements
// [Sender].
//
// Clients of protocol 1.x are answered with their own version and the messages of
// their time. Types that the protocol does not know are answered with an
// error-response, messages of other protocols are ignored with a warning.
package rtvi
