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

// keepBatch is the largest buffer that an idle connection keeps for a batch; it has
// two.
const keepBatch = 1 << 10

func (b *batch) reset() {
	if cap(b.buf) > keepBatch {
		b.buf = nil
	}
	b.buf, b.ends = b.buf[:0], b.ends[:0]
}

// outbox is the bounded queue of what goes to the client. A goroutine writes it
// out while there is something in it; two buffers take turns, so that nothing is
// allocated in the long run. Signs of life overtake messages.
type outbox struct {
	ws      *websocket.Conn
	socket  *gatherer
	buffers *buffers
	limit   int
	timeout time.Duration
	policy  SlowReaderPolicy
	// fail is told why nothing can be written any more, once, with mu held and on a
	// goroutine that may be the session loop's: it must neither block nor call the
	// outbox.
	fail func(error)

	mu      sync.Mutex
	form    form
	pending batch
	spare   batch
	waiting int // bytes that have been taken and not been written
	pings   []signal
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

// signal is a ping or a pong.
type signal struct {
	kind int
	data string
}

// ping asks the client for a sign of life.
func (o *outbox) ping() { o.signal(signal{kind: websocket.PingMessage}) }

// pong answers a client's ping.
func (o *outbox) pong(data string) { o.signal(signal{kind: websocket.PongMessage, data: data}) }

// signal sends a sign of life; of several of a kind that wait the last is enough.
func (o *outbox) signal(s signal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sealed || o.failed {
		return
	}
	for i := range o.pings {
		if o.pings[i].kind == s.kind {
			o.pings[i] = s
			return
		}
	}
	o.pings = append(o.pings, s)
	o.startWriting()
}

// due reports whether there is something to write; o.mu is held. Before the form is
// known messages wait.
func (o *outbox) due() bool {
	return len(o.pings) > 0 || o.form != formUnknown && len(o.pending.ends) > 0
}

// startWriting starts the writer unless it runs; o.mu is held.
func (o *outbox) startWriting() {
	if !o.writing && !o.failed && o.due() {
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
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.failed && o.due() {
		var err error
		if len(o.pings) > 0 {
			err = o.writeSignals()
		} else {
			err = o.writePending()
		}
		if err != nil {
			o.failLocked(err)
		}
	}
	o.writing = false
	if o.idle != nil {
		close(o.idle)
		o.idle = nil
	}
}

// writeSignals writes the signs of life that wait; o.mu is held, and released
// while it writes.
func (o *outbox) writeSignals() error {
	signals := o.pings
	o.pings = nil
	o.mu.Unlock()
	defer o.mu.Lock()
	for _, s := range signals {
		if err := o.ws.WriteControl(s.kind, []byte(s.data), time.Now().Add(o.timeout)); err != nil {
			return err
		}
	}
	return nil
}

// writePending writes the messages that wait; o.mu is held, and released while it
// writes.
func (o *outbox) writePending() error {
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
	return err
}

// writeBatch writes one message at once, and several in as few writes as their size
// allows.
func (o *outbox) writeBatch(kind int, b *batch) error {
	if len(b.buf) <= writeBuffer && len(b.ends) == 1 {
		return o.writeMessages(kind, b)
	}
	o.socket.gather(o.buffers.get())
	err := o.writeMessages(kind, b)
	buf, flushErr := o.socket.release()
	o.buffers.put(buf)
	if err == nil {
		err = flushErr
	}
	return err
}

func (o *outbox) writeMessages(kind int, b *batch) error {
	from := 0
	for _, end := range b.ends {
		// It only remembers the deadline, for the write.
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
