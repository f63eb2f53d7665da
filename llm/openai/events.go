package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxEvent is the size of the largest event that is accepted.
const maxEvent = 1 << 20

var errEventTooLarge = errors.New("the server sent an event of more than 1 MiB")

// eventStream reads a stream of server-sent events and gives them to go-openai in
// the one form that its line reader takes without loss: one line of data per
// event. It drops comments, other fields and byte order marks, joins data that is
// spread over several lines, splits events that lack an empty line between them,
// and marks what came as an "error" event. Lines end with LF or CRLF.
type eventStream struct {
	src   *bufio.Reader
	close io.Closer
	out   []byte // what go-openai has not read yet begins at pos
	pos   int
	err   error // comes after out

	line    []byte // a line longer than src's buffer
	data    []byte // data of an event that is not complete yet
	failure bool   // the event is an error event
	begun   bool   // the first line is behind
	done    bool   // the server said [DONE]
}

func newEventStream(r io.ReadCloser) *eventStream {
	return &eventStream{src: bufio.NewReader(r), close: r}
}

// Read gives the next piece of the cleaned stream.
func (s *eventStream) Read(p []byte) (int, error) {
	for s.pos == len(s.out) {
		if s.err != nil {
			return 0, s.err
		}
		s.out, s.pos = s.out[:0], 0
		s.step()
	}
	n := copy(p, s.out[s.pos:])
	s.pos += n
	return n, nil
}

// Close closes the response.
func (s *eventStream) Close() error { return s.close.Close() }

// drain reads to the end of the response, so that its connection can be used
// again. It may block until the response is closed.
func (s *eventStream) drain() {
	if s.err == nil {
		_, s.err = io.Copy(io.Discard, s.src)
	}
}

// step handles one line.
func (s *eventStream) step() {
	line, err := s.readLine()
	s.err = err
	if err != nil && err != io.EOF {
		return // a torn line is worth nothing
	}
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	line = bytes.TrimSpace(line)
	if err == io.EOF && len(line) == 0 {
		return // the end is no empty line: what is incomplete stays so
	}
	s.takeLine(line)
}

// readLine returns a line, which is valid until the next call.
func (s *eventStream) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for {
		piece, err := s.src.ReadSlice('\n')
		if err == nil && len(s.line) == 0 {
			return piece, nil
		}
		s.line = append(s.line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return s.line, err
		}
		if len(s.line) > maxEvent {
			return nil, errEventTooLarge
		}
	}
}

func (s *eventStream) takeLine(line []byte) {
	if len(line) == 0 {
		if len(s.data) > 0 {
			s.emit(s.data) // not JSON, and its reader will say so
		}
		s.failure = false
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data":
		s.takeData(bytes.TrimSpace(value))
	case "event":
		s.failure = string(bytes.TrimSpace(value)) == "error"
	default:
		if isError(line) { // some servers report trouble outside of any event
			s.takeData(line)
		}
	}
}

func (s *eventStream) takeData(value []byte) {
	switch {
	case len(s.data) > 0:
		if len(s.data)+len(value) > maxEvent {
			s.err = errEventTooLarge
			return
		}
		s.data = append(append(s.data, ' '), value...)
	case string(value) == "[DONE]":
		s.done = true
		s.out = append(s.out, "data: [DONE]\n\n"...)
	case json.Valid(value):
		s.emit(value)
	default:
		s.data = append(s.data, value...)
	}
}

// emit passes an event on. go-openai keeps only part of an error object and trips
// over one that is null; a space hides the key from it, so that it comes through
// as it is.
func (s *eventStream) emit(value []byte) {
	s.out = append(s.out, "data: "...)
	switch {
	case isError(value):
		s.out = append(append(s.out, "{ "...), value[1:]...)
	case s.failure && json.Valid(value):
		s.out = append(append(append(s.out, `{ "error":`...), value...), '}')
	default:
		s.out = append(s.out, value...)
	}
	s.out = append(s.out, "\n\n"...)
	s.data = s.data[:0]
}

// isError reports whether a JSON object begins with an error.
func isError(value []byte) bool { return bytes.HasPrefix(value, []byte(`{"error"`)) }
