package flows_test

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/turnwise/turnwise/flows"
)

func TestState(t *testing.T) {
	size, name := flows.NewKey[int]("size"), flows.NewKey[string]("name")
	var mu sync.Mutex
	var changes []string
	s := newStub(t, func(c *flows.Config) {
		c.State = flows.NewState(map[string]any{"name": "Ann"})
		c.OnEvent = func(e flows.Event) {
			if e.Kind == flows.EventStateChanged {
				b, _ := json.Marshal(e.State)
				mu.Lock()
				defer mu.Unlock()
				changes = append(changes, e.Detail+" "+string(b))
			}
		}
	})
	state := s.fm.State()
	if got, ok := name.Get(state); got != "Ann" || !ok {
		t.Errorf("the initial name is %q, %v", got, ok)
	}
	if got, ok := size.Get(state); got != 0 || ok {
		t.Errorf("a size that was never set is %d, %v", got, ok)
	}
	size.Set(state, 4)
	if got := size.Value(state); got != 4 {
		t.Errorf("the size is %d", got)
	}
	if got, ok := flows.NewKey[string]("size").Get(state); got != "" || ok {
		t.Errorf("the size as a string is %q, %v", got, ok)
	}
	copied := state.Snapshot()
	if !name.Delete(state) || name.Delete(state) {
		t.Error("a name is deleted once")
	}
	if !maps.Equal(copied, map[string]any{"size": 4, "name": "Ann"}) {
		t.Errorf("the copy is %v", copied)
	}
	want := []string{`size {"name":"Ann","size":4}`, `name {"size":4}`}
	if !slices.Equal(changes, want) {
		t.Errorf("the changes are %q, want %q", changes, want)
	}
}

func TestStateIsSafeForConcurrentUse(t *testing.T) {
	state := flows.NewState(nil)
	count := flows.NewKey[int]("count")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 100 {
				count.Set(state, i)
				_ = count.Value(state)
				_ = state.Snapshot()
			}
		})
	}
	wg.Wait()
	if v, ok := count.Get(state); !ok || v > 7 {
		t.Errorf("the count is %d, %v", v, ok)
	}
}
