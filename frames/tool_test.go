package frames_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnwise/turnwise/frames"
)

func TestAToolsetKeepsOrderAndTheFirstOfEachName(t *testing.T) {
	s := frames.NewToolset(
		frames.Tool{Name: "b", Description: "first"}, frames.Tool{Name: "a"}, frames.Tool{Name: "b", Description: "second"})
	if got := s.Names(); !slices.Equal(got, []string{"b", "a"}) || s.Len() != 2 || len(s.Tools()) != 2 {
		t.Errorf("the tools are %q", got)
	}
	if b, ok := s.Lookup("b"); !ok || b.Description != "first" {
		t.Errorf("b is %+v, %t", b, ok)
	}
	if _, ok := s.Lookup("c"); ok {
		t.Error("c was found")
	}
}

func TestNoToolsetIsEmpty(t *testing.T) {
	var s *frames.Toolset
	_, found := s.Lookup("a")
	if s.Len() != 0 || len(s.Tools()) != 0 || len(s.Names()) != 0 || found || s.Encoded(&frames.Encoder{}) != nil {
		t.Error("the nil toolset has something")
	}
}

func TestTheWireFormIsMadeOncePerEntryAndEncoder(t *testing.T) {
	var made atomic.Int32
	encoder := func(name string) *frames.Encoder {
		return &frames.Encoder{
			Message: func(dst []byte, m *frames.Message) []byte { made.Add(1); return append(dst, name+m.Text...) },
			Tools:   func(dst []byte, tools []frames.Tool) []byte { made.Add(1); return append(dst, name+tools[0].Name...) },
		}
	}
	one, two := encoder("one "), encoder("two ")
	c := frames.NewLLMContext("")
	id := c.AddUserMessage("hi")
	c.SetTools([]frames.Tool{{Name: "f"}})
	s := c.Snapshot()
	for range 3 {
		if got := string(s.Entries[0].Encoded(one)) + ", " + string(s.Tools.Encoded(one)); got != "one hi, one f" {
			t.Errorf("encoded %q", got)
		}
	}
	if made.Load() != 2 {
		t.Errorf("made %d times", made.Load())
	}
	if got := string(s.Entries[0].Encoded(two)); got != "two hi" {
		t.Errorf("another encoder gave %q", got)
	}
	c.Replace(id, user("ho"))
	if got := string(c.Snapshot().Entries[0].Encoded(two)); got != "two ho" {
		t.Errorf("the new entry gave %q", got)
	}
	if got := string(s.Entries[0].Encoded(two)); got != "two hi" {
		t.Errorf("the old entry gave %q", got)
	}
}

func TestTheWireFormMayBeAskedForByManyAtOnce(t *testing.T) {
	e := &frames.Encoder{
		Message: func(dst []byte, m *frames.Message) []byte { return append(dst, m.Text...) },
		Tools:   func(dst []byte, tools []frames.Tool) []byte { return append(dst, tools[0].Name...) },
	}
	c := frames.NewLLMContext("")
	c.AddUserMessage("hi")
	c.SetTools([]frames.Tool{{Name: "f"}})
	s := c.Snapshot()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := string(s.Entries[0].Encoded(e)) + string(s.Tools.Encoded(e)); got != "hif" {
				t.Errorf("encoded %q", got)
			}
		})
	}
	wg.Wait()
}
