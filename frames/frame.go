// Package frames holds the things that move through a pipeline and the
// conversation they build.
//
// Every value that travels between processors is a [Frame]. A frame belongs to
// one of three classes, which decide how it is queued and what an interruption
// does to it; custom frames take a class by embedding [SystemFrame],
// [ControlFrame], [DataFrame] or [UninterruptibleFrame]:
//
//	type Applause struct {
//		frames.DataFrame
//		Seconds int
//	}
//
// Frames are created by anyone, but once handed to a pipeline they belong to its
// session loop: a processor may read and change the frame it is given until it
// pushes it on, and nobody may touch it afterwards. The package imports nothing
// else of Turnwise.
package frames

// Class says how a frame is queued and whether an interruption drops it.
type Class uint8

// The classes. The low bits name the class, [ClassUninterruptible] is a mark on
// top of control or data.
const (
	// ClassSystem frames overtake everything and are never dropped.
	ClassSystem Class = 1 + iota
	// ClassControl frames keep their order; an interruption drops queued ones.
	ClassControl
	// ClassData frames keep their order; an interruption drops queued ones.
	ClassData

	// ClassUninterruptible marks a control or data frame that keeps its order
	// and yet survives interruptions.
	ClassUninterruptible Class = 1 << 4

	classKind = ClassUninterruptible - 1
)

// Kind is the class without its marks: [ClassSystem], [ClassControl] or
// [ClassData].
func (c Class) Kind() Class { return c & classKind }

// IsSystem reports whether the frame overtakes ordered ones.
func (c Class) IsSystem() bool { return c&classKind == ClassSystem }

// Survives reports whether an interruption leaves a queued frame of this class
// alone.
func (c Class) Survives() bool { return c&classKind == ClassSystem || c&ClassUninterruptible != 0 }

// String names the class for logs.
func (c Class) String() string {
	name := "unknown"
	switch c.Kind() {
	case ClassSystem:
		name = "system"
	case ClassControl:
		name = "control"
	case ClassData:
		name = "data"
	}
	if c&ClassUninterruptible != 0 {
		name += " (uninterruptible)"
	}
	return name
}

// Frame is what moves through a pipeline. It is implemented by embedding one of
// the class types of this package in a struct and using a pointer to it.
type Frame interface {
	// Class is constant for a type of frame.
	Class() Class
	// Header is the frame's stamp, for the pipeline.
	Header() *Meta
}

// Meta is the part every frame carries. The zero value is an unstamped frame.
type Meta struct {
	turn  uint64
	trail Trail
}

// Header returns the meta part itself; embedding promotes it.
func (h *Meta) Header() *Meta { return h }

// Turn is the number of the turn the frame was made in; 0 means that it belongs
// to no turn, or that it has not been pushed yet.
func (h *Meta) Turn() uint64 { return h.turn }

// Stamped reports whether the frame has been given its turn.
func (h *Meta) Stamped() bool { return h.trail.stamped }

// Stamp gives the frame its turn. The session loop stamps frames when they are
// first pushed or queued; other code has no reason to.
func (h *Meta) Stamp(turn uint64) { h.turn, h.trail.stamped = turn, true }

// Unstamp makes the frame as new, so that it can be used again.
func (h *Meta) Unstamp() { *h = Meta{} }

// Trail is what a pipeline notes about a frame on its way; other code has no use
// for it.
func (h *Meta) Trail() *Trail { return &h.trail }

// Trail holds a pipeline's notes about one frame.
type Trail struct {
	// Left has a bit set for each parallel section that the frame has left.
	Left uint32
	// Copies counts the branches, beyond one, that still have the frame.
	Copies uint16
	// Settled tells that the frame has arrived or was dropped.
	Settled bool

	stamped bool
}

// SystemFrame is embedded by frames that overtake everything else and are never
// dropped: start, cancel, interruption, user speech, errors.
type SystemFrame struct{ Meta }

// Class is [ClassSystem].
func (*SystemFrame) Class() Class { return ClassSystem }

// ControlFrame is embedded by frames that steer and keep their order; an
// interruption drops queued ones.
type ControlFrame struct{ Meta }

// Class is [ClassControl].
func (*ControlFrame) Class() Class { return ClassControl }

// DataFrame is embedded by frames that carry content and keep their order; an
// interruption drops queued ones.
type DataFrame struct{ Meta }

// Class is [ClassData].
func (*DataFrame) Class() Class { return ClassData }

// UninterruptibleFrame is embedded by control frames that keep their order and
// survive interruptions: function results, node entries, settings, end.
type UninterruptibleFrame struct{ Meta }

// Class is [ClassControl] marked [ClassUninterruptible].
func (*UninterruptibleFrame) Class() Class { return ClassControl | ClassUninterruptible }

// Interrupting is implemented by frames that interrupt the bot by nature, such as
// typed text or the start of the user's speech. The interruption happens at the
// session's door, before the frame is queued behind anything.
type Interrupting interface {
	Frame
	// Interrupts reports whether this frame interrupts, and why.
	Interrupts() (reason string, ok bool)
}

// Droppable is implemented by frames that want to know when an interruption, a
// full queue or the end of the session dropped them. Exactly one of "processed by
// the end of the pipeline" and Dropped happens.
type Droppable interface {
	Frame
	// Dropped runs on the session loop and must not block.
	Dropped()
}
