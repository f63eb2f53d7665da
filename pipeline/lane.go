package pipeline

import (
	"fmt"

	"github.com/turnwise/turnwise/frames"
)

const (
	// MaxLane is the largest number of jobs in a processor's lane.
	MaxLane = 4096
	// MaxDetached is the largest number of a processor's detached jobs that run
	// at the same time.
	MaxDetached = 4096
	// laneHigh and laneLow raise and lower the automatic hold of a long lane.
	laneHigh, laneLow = 32, 16
)

// lane is a processor's ordered work. Jobs are numbered; those that are open are
// the running one, unless it has been purged, and those that wait behind it.
type lane struct {
	queue    ring[*Job]
	running  *Job // until its end has come through the door
	purged   bool // the running job counts as finished
	number   uint64
	keepers  int // the queued jobs that an interruption cannot just forget
	detached int
	holds    bool // raised by its length
}

// open is the number of unfinished jobs.
func (l *lane) open() int {
	if l.running != nil && !l.purged {
		return l.queue.len() + 1
	}
	return l.queue.len()
}

// first is the number of the first open job.
func (l *lane) first() uint64 {
	if l.running != nil && !l.purged {
		return l.running.order
	}
	return (*l.queue.at(0)).order
}

// last is the number of the last job so far, open or not.
func (l *lane) last() uint64 { return l.number }

// queue adds an ordered job. The frame, if there is one, is dropped when the job
// will not run.
func (n *node) queue(scope Scope, fn func(*Job), f frames.Frame) {
	switch {
	case n.loop.finished:
		dropFrame(f)
		return
	case n.lane.queue.len() >= MaxLane:
		n.loop.fail(fmt.Errorf("%w: %d jobs wait in the lane of %s", ErrOverflow, MaxLane, n.name))
		dropFrame(f)
		return
	}
	j := n.job(scope, fn)
	j.frame = f
	n.lane.number++
	j.order = n.lane.number
	if j.keeps() {
		n.lane.keepers++
	}
	n.lane.queue.push(j)
	n.advanceLane()
	n.laneChanged()
}

func (n *node) detach(scope Scope, fn func(*Job)) {
	switch {
	case n.loop.finished:
		return
	case n.lane.detached >= MaxDetached:
		n.loop.fail(fmt.Errorf("%w: %d detached jobs of %s run at the same time", ErrOverflow, MaxDetached, n.name))
		return
	}
	n.lane.detached++
	n.start(n.job(scope, fn))
}

func (n *node) job(scope Scope, fn func(*Job)) *Job {
	j := &Job{node: n, fn: fn, ctx: n.loop.context(scope), epoch: n.loop.epoch}
	if scope == TurnScope {
		j.turn = n.loop.turn
	}
	return j
}

func (n *node) start(j *Job) {
	n.loop.jobs.begin(n)
	go j.run()
}

// advanceLane starts the lane's next job when the last has returned.
func (n *node) advanceLane() {
	if n.lane.running != nil || n.lane.queue.len() == 0 || n.loop.finished {
		return
	}
	j := n.lane.queue.pop()
	if j.keeps() {
		n.lane.keepers--
	}
	j.frame = nil
	n.lane.running, n.lane.purged = j, false
	n.start(j)
}

// jobDone follows a job's last post through the door.
func (n *node) jobDone(j *Job) {
	if j.order == 0 {
		n.lane.detached--
		return
	}
	n.lane.running = nil
	n.advanceLane()
	n.laneChanged()
}

// fencePassed says that everything a purged job posted has been handled.
func (n *node) fencePassed(j *Job) {
	if n.lane.running == j {
		n.lane.purged = true
		n.laneChanged()
	}
}

// purgeLane counts all turn-scope work as finished. The running job, if it is one,
// keeps the lane until its goroutine has returned. If it still owes frames that
// survive, then what waits behind it goes on when they have been handled.
func (n *node) purgeLane() {
	l := &n.lane
	if j := l.running; j != nil && j.turn != 0 && !l.purged {
		if j.owed.Load() > 0 {
			n.loop.door.note(fence, j)
		} else {
			l.purged = true
		}
	}
	switch {
	case l.queue.len() == 0:
	case l.keepers == 0:
		l.queue.clear()
	default:
		l.keepers = 0
		l.queue.keep(func(j **Job) bool {
			if (*j).turn != 0 {
				n.loop.lose((*j).frame)
				return false
			}
			l.keepers++
			return true
		})
	}
	n.holdByLength()
}

// laneChanged follows every change of what is open.
func (n *node) laneChanged() {
	n.route()
	n.list()
	n.holdByLength()
}

func (n *node) holdByLength() {
	open := n.lane.open()
	switch {
	case !n.lane.holds && open > laneHigh:
		n.lane.holds = true
	case n.lane.holds && open <= laneLow:
		n.lane.holds = false
	default:
		return
	}
	n.loop.updateHolds()
}

// dropFrame drops f if there is one.
func dropFrame(f frames.Frame) {
	if f != nil {
		Drop(f)
	}
}
