package websocket

import (
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/websocket/wire"
)

// form is how a client wants its messages.
type form uint8

const (
	formUnknown form = iota // the client has not said anything yet
	formJSON
	formBinary
)

// batch is a run of encoded messages in one buffer.
type batch struct {
	buf  []byte
	ends []int
}

func (b *batch) reset() {
	const keep = 4 << 10
	if cap(b.buf) > keep {
		b.buf = nil
	}
	b.buf, b.ends = b.buf[:0], b.ends[:0]
}

// outbox is the bounded queue of what goes to the client. A goroutine writes it
// out while there is something in it; two buffers take turns, so that nothing is
// allocated in the long run.
type outbox struct {
	ws      *websocket.Conn
	limit   int
	timeout time.Duration
	policy  SlowReaderPolicy
	// fail is told why nothing can be written any more, once, on a goroutine that
	// may be the session loop's; it must not block.
	fail func(error)

	mu      sync.Mutex
	form    form
	pending batch
	spare   batch
	waiting int // bytes that have been taken and not been written
	writing bool
	sealed  bool // nothing more is taken
	failed  bool
	idle    chan struct{} // closed when the writing stops; nil when nobody waits
	dropped uint64
	jobs    sync.WaitGroup
}

// room reports whether another message may be taken; o.mu is held.
func (o *outbox) room(p rtvi.Priority) bool {
	if o.sealed || o.failed {
		return false
	}
	switch {
	case p == rtvi.Final:
		return true
	case p == rtvi.Droppable && o.policy == DropThenClose && o.waiting > o.limit/2:
		o.dropped++
		return false
	case o.waiting > o.limit:
		o.failLocked(ErrSlowReader)
		return false
	}
	return true
}

// push takes one message, which encode appends in the client's form.
func (o *outbox) push(p rtvi.Priority, msg []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.room(p) {
		return
	}
	from := len(o.pending.buf)
	if o.form == formBinary {
		o.pending.buf = wire.AppendMessage(o.pending.buf, msg)
	} else {
		o.pending.buf = append(o.pending.buf, msg...)
	}
	if p == rtvi.Final {
		o.sealed = true
	}
	o.pushed(from)
}

// pushed notes that a message was appended to the pending batch; o.mu is held.
func (o *outbox) pushed(from int) {
	o.pending.ends = append(o.pending.ends, len(o.pending.buf))
	o.waiting += len(o.pending.buf) - from
	o.startWriting()
}

// startWriting starts the writer unless it runs; o.mu is held. Before the form is
// known messages wait.
func (o *outbox) startWriting() {
	if !o.writing && o.form != formUnknown && len(o.pending.ends) > 0 {
		o.writing = true
		o.jobs.Add(1)
		go o.write()
	}
}

// settle decides the client's form; the first call counts.
func (o *outbox) settle(f form) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.form != formUnknown {
		return
	}
	o.form = f
	if f == formBinary {
		o.wrap()
	}
	o.startWriting()
}

// wrap brings messages that waited for the form into the binary one; o.mu is held.
func (o *outbox) wrap() {
	plain := o.pending
	o.pending, o.waiting = batch{}, 0
	from := 0
	for _, end := range plain.ends {
		o.pending.buf = wire.AppendMessage(o.pending.buf, plain.buf[from:end])
		o.pending.ends = append(o.pending.ends, len(o.pending.buf))
		from = end
	}
	o.waiting = len(o.pending.buf)
}

// write is the writer's goroutine.
func (o *outbox) write() {
	defer o.jobs.Done()
	for {
		o.mu.Lock()
		if len(o.pending.ends) == 0 || o.failed {
			o.writing = false
			if o.idle != nil {
				close(o.idle)
				o.idle = nil
			}
			o.mu.Unlock()
			return
		}
		b := o.pending
		o.pending, o.spare = o.spare, batch{}
		kind := websocket.TextMessage
		if o.form == formBinary {
			kind = websocket.BinaryMessage
		}
		o.mu.Unlock()

		err := o.writeBatch(kind, &b)
		b.reset()
		o.mu.Lock()
		o.spare = b
		if err != nil {
			o.failLocked(err)
		}
		o.mu.Unlock()
	}
}

func (o *outbox) writeBatch(kind int, b *batch) error {
	from := 0
	for _, end := range b.ends {
		// The deadline is set with the write by the library.
		_ = o.ws.SetWriteDeadline(time.Now().Add(o.timeout))
		if err := o.ws.WriteMessage(kind, b.buf[from:end]); err != nil {
			return err
		}
		o.mu.Lock()
		o.waiting -= end - from
		o.mu.Unlock()
		from = end
	}
	return nil
}

func (o *outbox) failLocked(err error) {
	if !o.failed {
		o.failed = true
		o.fail(err)
	}
}

// flush waits until everything has been written, up to the deadline. Nothing more
// is taken afterwards. It reports whether all went out.
func (o *outbox) flush(deadline time.Time) bool {
	o.settle(formJSON)
	o.mu.Lock()
	o.sealed = true
	if !o.writing {
		ok := !o.failed
		o.mu.Unlock()
		return ok
	}
	if o.idle == nil {
		o.idle = make(chan struct{})
	}
	idle := o.idle
	o.mu.Unlock()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-idle:
		o.mu.Lock()
		defer o.mu.Unlock()
		return !o.failed
	case <-timer.C:
		return false
	}
}

// seal takes nothing more.
func (o *outbox) seal() {
	o.mu.Lock()
	o.sealed = true
	o.mu.Unlock()
}
