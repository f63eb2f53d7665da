package pipeline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// chain makes random processors.
func (w *witness) chain(rng *rand.Rand, n, depth int) []pipeline.Processor {
	var procs []pipeline.Processor
	for range n {
		switch k := rng.IntN(10); {
		case k == 0 && depth < 2:
			procs = append(procs, pipeline.Parallel(
				pipeline.Branch(w.chain(rng, rng.IntN(3), depth+1)),
				pipeline.Branch(w.chain(rng, rng.IntN(3), depth+1))))
		case k == 1:
			procs = append(procs, pipeline.Serial(&dawdler{w: w, rng: rand.New(rand.NewPCG(rng.Uint64(), 3))}))
		default:
			procs = append(procs, &chaos{w: w, rng: rand.New(rand.NewPCG(rng.Uint64(), 4)), branch: depth > 0})
		}
	}
	return procs
}

// dawdler passes everything on, after a while.
type dawdler struct {
	w   *witness
	rng *rand.Rand
}

func (d *dawdler) Process(ctx context.Context, f frames.Frame, dir pipeline.Direction, push pipeline.PushFunc) error {
	if d.rng.IntN(4) == 0 {
		select {
		case <-time.After(time.Duration(d.rng.IntN(20)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return push(f, dir)
}

// chaos passes frames on and does anything else a processor may do besides.
type chaos struct {
	pipeline.Base
	w         *witness
	rng       *rand.Rand
	branch    bool
	inside    bool
	receiving bool
	asked     map[frames.Frame]bool
	jobs      int
}

func (p *chaos) enter() func() {
	if p.inside {
		p.w.t.Error("a processor was entered twice at once")
	}
	p.inside = true
	return func() { p.inside = false }
}

func (p *chaos) Process(f frames.Frame, dir pipeline.Direction) {
	defer p.enter()()
	g, known := f.(witnessed)
	if !known {
		p.Push(f, dir)
		return
	}
	p.w.act(g, p.Turn())
	if p.w.explosive && p.rng.IntN(300) == 0 {
		panic("chaos")
	}
	switch {
	case !g.Class().Survives() && p.rng.IntN(15) == 0:
		if p.branch {
			g.facts().origin = "" // it may come late out of another branch
		}
		pipeline.Drop(f)
		return
	case !p.branch && !p.asked[f] && p.rng.IntN(40) == 0:
		if p.asked == nil {
			p.asked = map[frames.Frame]bool{}
		}
		p.asked[f] = true
		// The frame comes again in the new turn.
		g.facts().turn = 0
		g.facts().after.Store(unknown)
		p.Base.Interrupt(p.w.begins(), f, dir)
		return
	case p.rng.IntN(2) == 0:
		p.something(dir)
		p.Push(f, dir)
	default:
		p.Push(f, dir)
		p.something(dir)
	}
}

func (p *chaos) Receive(f frames.Frame) {
	defer p.enter()()
	// What is pushed here belongs to the job's results and not behind what waits.
	p.receiving = true
	if p.rng.IntN(4) == 0 {
		p.something(down)
	}
	p.receiving = false
	p.Push(f, down)
}

func (p *chaos) Settle() {
	defer p.enter()()
	if p.rng.IntN(2) == 0 {
		p.something(down)
	}
}

func (p *chaos) Interrupt(*frames.InterruptionFrame) {
	defer p.enter()()
	if p.rng.IntN(3) == 0 {
		p.something(down)
	}
}

func (p *chaos) Stop() { p.send(down) }

// send pushes a frame of the processor's own.
func (p *chaos) send(dir pipeline.Direction) {
	f, origin := p.w.frame(p.rng), ""
	if dir == down && !p.branch && !p.receiving {
		origin = fmt.Sprintf("%p", p)
	}
	p.w.know(f, origin).turn = p.Turn()
	p.Push(f, dir)
}

func (p *chaos) something(dir pipeline.Direction) {
	switch p.rng.IntN(24) {
	case 0:
		p.send(down)
	case 1:
		p.send(up)
	case 2:
		p.send(down + up - dir)
	case 3, 4:
		p.Queue(p.scope(), p.work())
	case 5:
		p.Go(p.scope(), p.work())
	case 6:
		p.Dirty()
	case 7:
		p.After(p.scope(), p.moment(), func() {
			defer p.enter()()
			p.something(down)
		})
	case 8:
		p.Hold(true)
		p.After(sess, p.moment(), func() { p.Hold(false) })
	case 9:
		if p.rng.IntN(4) == 0 {
			p.Base.Interrupt(p.w.begins(), nil, dir)
		}
	}
}

func (p *chaos) scope() pipeline.Scope {
	if p.rng.IntN(2) == 0 {
		return turn
	}
	return sess
}

func (p *chaos) moment() time.Duration { return time.Duration(p.rng.IntN(30)) * time.Millisecond }

// work makes a job that posts a few frames, in order, at its own pace.
func (p *chaos) work() func(*pipeline.Job) {
	rng := rand.New(rand.NewPCG(p.rng.Uint64(), 5))
	origin := fmt.Sprintf("job %d of %p", p.jobs, p)
	p.jobs++
	return func(j *pipeline.Job) {
		for range rng.IntN(4) {
			if rng.IntN(2) == 0 {
				time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
			}
			f := p.w.frame(rng)
			k := p.w.know(f, origin)
			k.after.Store(unknown) // the end does not wait for every job
			if j.Post(f) != nil {
				k.refused = true
			}
		}
	}
}
