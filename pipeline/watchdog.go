package pipeline

import (
	"bytes"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Stuck tells that a processor has held the session loop for too long.
type Stuck struct {
	// Processor is the name of the processor, as far as the stack shows it.
	Processor string
	// Limit is how long it has held the loop at least.
	Limit time.Duration
	// Stack is the loop's stack at that moment.
	Stack string
}

// watchdog notices when one dispatch takes too long. It costs the loop an atomic
// addition per dispatch and a timer only while there is work; who is to blame is
// read from the loop's stack when it has happened.
type watchdog struct {
	limit time.Duration
	tell  func(Stuck)
	nodes []*node
	timer *time.Timer
	armed atomic.Bool
	// beats grows by two with each dispatch and is odd while the loop is awake.
	beats atomic.Uint64
	seen  uint64 // by the timer's function alone
	goid  []byte
}

func (w *watchdog) start(l *loop, limit time.Duration, tell func(Stuck)) {
	w.limit, w.tell, w.nodes = limit, tell, l.nodes
	if limit > 0 {
		var buf [40]byte
		n := runtime.Stack(buf[:], false)
		w.goid = append([]byte(nil), buf[:bytes.IndexByte(buf[:n], '[')]...)
		// Sleeping is the state the loop enters first.
		w.beats.Store(1)
	}
}

func (w *watchdog) beat() {
	if w.limit > 0 {
		w.beats.Add(2)
	}
}

func (w *watchdog) sleep() {
	if w.limit > 0 {
		w.beats.Add(1)
	}
}

func (w *watchdog) awake(*loop) {
	if w.limit <= 0 {
		return
	}
	w.beats.Add(1)
	if !w.armed.Load() {
		w.armed.Store(true)
		if w.timer == nil {
			w.timer = time.AfterFunc(w.limit, w.look)
		} else {
			w.timer.Reset(w.limit)
		}
	}
}

func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// look runs on the timer's goroutine.
func (w *watchdog) look() {
	beats := w.beats.Load()
	if beats%2 == 0 {
		w.armed.Store(false)
		return
	}
	if beats == w.seen {
		stack := w.loopStack()
		w.tell(Stuck{Processor: w.blame(stack), Limit: w.limit, Stack: stack})
		w.seen = 0
	} else {
		w.seen = beats
	}
	w.timer.Reset(w.limit)
}

// loopStack cuts the loop's goroutine out of a dump of all.
func (w *watchdog) loopStack() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	i := bytes.Index(buf, w.goid)
	if i < 0 {
		return ""
	}
	buf = buf[i:]
	if end := bytes.Index(buf, []byte("\n\n")); end >= 0 {
		buf = buf[:end]
	}
	return string(buf)
}

// blame finds the innermost processor on the stack.
func (w *watchdog) blame(stack string) string {
	for line := range strings.Lines(stack) {
		for _, n := range w.nodes {
			pkg, typ := typeName(n.proc)
			if strings.Contains(line, pkg+".(*"+typ+").") || strings.Contains(line, pkg+"."+typ+".") {
				return n.name
			}
		}
	}
	return ""
}
