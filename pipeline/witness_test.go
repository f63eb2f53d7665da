package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// The parts of the random sessions: frames that carry what is known about them, a
// witness that checks them, and processors that do anything a processor may do.

// record is what is known about one frame.
type record struct {
	id     int
	class  string
	origin string // who it is from; frames of one origin keep their order; "" for none
	// after is the witness's clock when it had been queued.
	after    atomic.Uint64
	turn     uint64 // in which a processor made it; 0 for others
	accepted bool   // the session took it
	refused  bool
	arrived  int // at the end of the pipeline
	dropped  int
}

func (k *record) facts() *record { return k }

func (k *record) String() string {
	return fmt.Sprintf("frame %d (%s, from %s)", k.id, k.class, k.origin)
}

// witnessed is a frame with facts.
type witnessed interface {
	frames.Frame
	facts() *record
}

type (
	plainData struct {
		frames.DataFrame
		*record
	}
	plainControl struct {
		frames.ControlFrame
		*record
	}
	plainSystem struct {
		frames.SystemFrame
		*record
	}
	plainKept struct {
		frames.UninterruptibleFrame
		*record
	}
	toldData struct {
		frames.DataFrame
		*record
	}
	toldKept struct {
		frames.UninterruptibleFrame
		*record
	}
	mark struct {
		frames.MarkFrame
		*record
	}
	trigger struct {
		frames.SystemFrame
		*record
		reason string
	}
)

func (f *toldData) Dropped() { f.dropped++ }
func (f *toldKept) Dropped() { f.dropped++ }
func (f *mark) Dropped()     { f.dropped++ }

func (f *trigger) Interrupts() (string, bool) { return f.reason, true }

func settles(f frames.Frame) bool {
	_, ok := f.(frames.Droppable)
	return ok
}

var audio = &frames.InputAudioFrame{PCM: frames.PCM{Samples: make([]int16, 16), Rate: 16000}}

// witness knows every frame and interruption of a session.
type witness struct {
	t         *testing.T
	task      *pipeline.Task
	explosive bool // processors may panic
	driven    sync.WaitGroup
	clock     atomic.Uint64
	ending    atomic.Uint64 // when the end was queued
	cut       atomic.Bool   // the session was cancelled

	mu     sync.Mutex
	all    []witnessed
	begun  map[string]uint64 // when each interruption was begun, at the earliest
	latest uint64            // the latest of those that have happened

	// On the loop:
	last map[string]int // the id of the last ordered frame of each origin that arrived
}

func newWitness(t *testing.T, explosive bool) *witness {
	w := &witness{t: t, explosive: explosive, begun: map[string]uint64{}, last: map[string]int{}}
	w.driven.Add(1)
	w.ending.Store(1 << 62)
	return w
}

func (w *witness) tick() uint64 { return w.clock.Add(1) }

// begins notes that an interruption is about to be begun and names it.
func (w *witness) begins() string {
	now := w.tick()
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("interruption %d", len(w.begun))
	w.begun[id] = now
	return id
}

// happened notes that an interruption has happened, on the loop.
func (w *witness) happened(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest = max(w.latest, w.begun[reason])
}

// unknown is a moment that is later than all others.
const unknown = 1 << 61

// note gives a frame its facts.
func (w *witness) note(f witnessed, k *record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k.id = len(w.all)
	w.all = append(w.all, f)
}

// frame makes a random one.
func (w *witness) frame(rng *rand.Rand) witnessed {
	switch rng.IntN(8) {
	case 0:
		return &plainSystem{}
	case 1:
		return &plainKept{}
	case 2:
		return &toldKept{}
	case 3:
		return &toldData{}
	case 4:
		return &plainControl{}
	case 5:
		return &mark{}
	case 6:
		return &mark{MarkFrame: frames.MarkFrame{Keep: true}}
	default:
		return &plainData{}
	}
}

// know gives f its facts and its class's name.
func (w *witness) know(f witnessed, origin string) *record {
	k := &record{origin: origin, class: fmt.Sprintf("%T %s", f, f.Class())}
	switch f := f.(type) {
	case *plainData:
		f.record = k
	case *plainControl:
		f.record = k
	case *plainSystem:
		f.record = k
	case *plainKept:
		f.record = k
	case *toldData:
		f.record = k
	case *toldKept:
		f.record = k
	case *mark:
		f.record = k
	case *trigger:
		f.record = k
	}
	w.note(f, k)
	return k
}

// outside queues a frame from outside.
func (w *witness) outside(f witnessed, queue func(f witnessed)) {
	k := w.know(f, "outside")
	k.accepted = true
	k.after.Store(unknown)
	queue(f)
	k.after.Store(w.tick())
}

// act checks a frame that a processor handles.
func (w *witness) act(f witnessed, now uint64) {
	k := f.facts()
	if f.Class().Survives() {
		return
	}
	if k.turn != 0 && k.turn != now {
		w.t.Errorf("%s of turn %d acts in turn %d", k, k.turn, now)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if k.turn == 0 && k.origin == "outside" && k.after.Load() < w.latest {
		w.t.Errorf("%s was queued before an interruption and acts after it", k)
	}
}

// finish is the last processor: what passes it has arrived.
type finish struct {
	pipeline.Base
	w *witness
}

func (p *finish) Process(f frames.Frame, dir pipeline.Direction) {
	if f, ok := f.(witnessed); ok && dir == down {
		p.arrive(f)
	}
	p.Push(f, dir)
}

func (p *finish) arrive(f witnessed) {
	k := f.facts()
	p.w.act(f, p.Turn())
	k.arrived++
	if k.origin == "" || f.Class().IsSystem() {
		return
	}
	if last, ok := p.w.last[k.origin]; ok && last > k.id {
		p.w.t.Errorf("%s arrived behind frame %d", k, last)
	}
	p.w.last[k.origin] = k.id
}

// gauge is the first processor: it hears of each interruption first.
type gauge struct {
	pipeline.Base
	w *witness
}

func (p *gauge) Process(f frames.Frame, dir pipeline.Direction) {
	// What has come all the way up ends here.
	if _, ok := f.(witnessed); ok && dir == up {
		pipeline.Drop(f)
		return
	}
	p.Push(f, dir)
}

func (p *gauge) Interrupt(f *frames.InterruptionFrame) { p.w.happened(f.Reason) }
