package pipeline_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

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
		if g.facts().origin != "outside" {
			g.facts().origin = "" // it comes behind what else this dispatch brings
		}
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
