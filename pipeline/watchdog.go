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
	goid  []byte
	// seen and told are for the timer's function alone: the beats it saw last and
	// those it has reported.
	seen, told uint64
}

func (w *watchdog) start(l *loop, limit time.Duration, tell func(Stuck)) {
	w.limit, w.tell, w.nodes = limit, tell, l.nodes
	if limit > 0 {
		var buf [40]byte
		n := runtime.Stack(buf[:], false)
		w.goid = append([]byte(nil), buf[:bytes.IndexByte(buf[:n], '[')]...)
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

func (w *watchdog) awake() {
	if w.limit <= 0 {
		return
	}
	w.beats.Add(1)
	if !w.armed.Load() && w.armed.CompareAndSwap(false, true) {
		if w.timer == nil {
			// Set in two steps, so that look finds the timer in its place.
			w.timer = time.AfterFunc(never, w.look)
		}
		w.timer.Reset(w.limit)
	}
}

// never is later than any session ends.
const never = 1<<63 - 1

func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.armed.Store(true) // whoever looks now does not set it again
	w.beats.Store(0)
}

// look runs on the timer's goroutine.
func (w *watchdog) look() {
	beats := w.beats.Load()
	if beats%2 == 0 && w.rest(beats) {
		return
	}
	if beats%2 == 1 && beats == w.seen && beats != w.told {
		w.told = beats
		stack := w.loopStack()
		w.tell(Stuck{Processor: w.blame(stack), Limit: w.limit, Stack: stack})
	}
	w.seen = beats
	w.timer.Reset(w.limit)
}

// rest leaves the timer unset while the loop sleeps. It reports false when the loop
// has just woken up and relies on the timer.
func (w *watchdog) rest(beats uint64) bool {
	if beats == 0 {
		return true // stopped
	}
	w.armed.Store(false)
	return w.beats.Load()%2 == 0 || !w.armed.CompareAndSwap(false, true)
}

// maxDump bounds the dump of all goroutines in which the loop's is looked for.
const maxDump = 64 << 20

// loopStack cuts the loop's goroutine out of a dump of all.
func (w *watchdog) loopStack() string {
	size := 1 << 20
	buf := make([]byte, size)
	n := runtime.Stack(buf, true)
	for n == size && size < maxDump {
		size *= 4
		buf = make([]byte, size)
		n = runtime.Stack(buf, true)
	}
	buf = buf[:n]
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
			typ, _, _ = strings.Cut(typ, "[") // type arguments are not in the stack
			if strings.Contains(line, pkg+".(*"+typ+")") || strings.Contains(line, pkg+".(*"+typ+"[") || strings.Contains(line, pkg+"."+typ+".") {
				return n.name
			}
		}
	}
	return ""
}
