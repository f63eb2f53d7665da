package flows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/speech"
)

func TestTurnsAreTakenAsTheNodeWants(t *testing.T) {
	slow := &speech.TurnSettings{Watchdog: 20 * time.Second}
	usual := node("usual")
	alsoSlow := node("also slow", fn("finish", "", usual))
	alsoSlow.Turns = slow
	first := node("first", fn("go", "", alsoSlow))
	first.Turns = slow
	usual.Functions = []flows.NodeFunction{fn("on", "", node("last"))}

	s := newStub(t, nil)
	if err := s.fm.Initialize(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	var told []*speech.TurnSettings
	settings := func() {
		for _, f := range s.queue.queue {
			if f, ok := f.(*speech.TurnSettingsFrame); ok {
				told = append(told, f.Settings)
			}
		}
		s.queue.take()
	}
	settings()
	for _, edge := range []string{"go", "finish", "on"} {
		if _, err := s.call(edge, "{}"); err != nil {
			t.Fatal(err)
		}
		settings()
	}
	if len(told) != 3 || told[0] != slow || told[1] != slow || told[2] != nil {
		t.Errorf("turn taking was told %v; two nodes have settings, and after them it goes back to its own once", told)
	}

	wrong := node("wrong")
	wrong.Turns = &speech.TurnSettings{Noise: -time.Second}
	var problem *flows.NodeError
	if err := newStub(t, nil).fm.Initialize(t.Context(), wrong); !errors.As(err, &problem) || problem.Node != "wrong" {
		t.Errorf("settings that cannot be are met with %v", err)
	}
}
