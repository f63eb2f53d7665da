package server

import (
	"fmt"
	"strings"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// MessageHandler answers what the client's application sends with client-message:
// the value becomes the data of the server-response, the error's text that of an
// error-response. It runs on the session loop and must not block; what takes time is
// started there and told with [Session.Send] when it is done.
type MessageHandler func(s *Session, m *frames.ClientMessageFrame) (any, error)

// inbox is the processor that has messages answered. A client waits for its answer,
// so those that nobody takes are refused.
func inbox(s *Session, handle MessageHandler) pipeline.Processor {
	return pipeline.Func("messages", func(p *pipeline.Base, f frames.Frame, dir pipeline.Direction) {
		m, ok := f.(*frames.ClientMessageFrame)
		if !ok || dir != pipeline.Downstream || m.ID == "" || strings.HasPrefix(m.Type, "ui-") {
			p.Push(f, dir)
			return
		}
		reply := &frames.ServerMessageFrame{ReplyTo: m.ID, Type: m.Type}
		if handle == nil {
			reply.Err = fmt.Sprintf("This bot takes no messages; nobody answers %q.", m.Type)
		} else if data, err := handle(s, m); err != nil {
			reply.Err = err.Error()
		} else {
			reply.Data = data
		}
		p.Push(f, dir)
		p.Push(reply, pipeline.Downstream)
	})
}
