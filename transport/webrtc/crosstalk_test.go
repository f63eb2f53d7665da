package webrtc_test

import (
	"flag"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/transport/webrtc"
)

var (
	manyCalls = flag.Int("calls", 8, "how many calls are held at once by the test of that")
	manyFor   = flag.Duration("calls-for", 3*time.Second, "how long they last")
)

func TestCallsAtTheSameTimeHearTheirOwnSoundAlone(t *testing.T) { // RT48
	s := serve(t, webrtc.Config{})
	var filters resample.Filters
	filter, err := filters.Get(webrtc.InputRate, 24000)
	if err != nil {
		t.Fatal(err)
	}
	s.wrap = func(conn *webrtc.Conn, plain *session) webrtc.Session {
		e := &echo{session: plain, out: &source{}, convert: filter.New(1)}
		conn.Play(e.out)
		return e
	}
	var all sync.WaitGroup
	late := make([][]time.Duration, *manyCalls)
	for i := range *manyCalls {
		c := newClient(t, s.URL+"/api/offer", options{}).connect()
		s.take(t)
		hz := 300 + float64(i*1500 / *manyCalls)
		track := <-c.tracks
		all.Go(func() {
			stop, spoken := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(spoken)
				c.speak(tone(48000, hz, *manyFor+30*time.Second), 48000, stop)
			}()
			defer func() { close(stop); <-spoken }()
			last := time.Now()
			heard := listen(t, track, func(n int) bool {
				now := time.Now()
				late[i] = append(late[i], (now.Sub(last) - 20*time.Millisecond).Abs())
				last = now
				return n >= int(manyFor.Seconds()*16000)
			})
			// What it hears of another call's tone would pull the frequency there.
			if got := follow(heard[3200:], 16000, hz); math.Abs(got.hz-hz) > hz/100 {
				t.Errorf("who hums at %.0f Hz hears %.1f Hz", hz, got.hz)
			}
		})
	}
	all.Wait()
	jitter := slices.Concat(late...)
	slices.Sort(jitter)
	t.Logf("%d calls: of %d packets, the distance of half is within %s of 20 ms, that of 99 %% within %s",
		*manyCalls, len(jitter), jitter[len(jitter)/2], jitter[len(jitter)*99/100])
}

func TestAStormOfReconnectsKeepsOneSession(t *testing.T) {
	s := serve(t, webrtc.Config{})
	c := newClient(t, s.URL+"/api/offer", options{}).connect()
	call := s.take(t)
	c.ready()
	id := c.id
	const storms = 12
	for range storms {
		next := newClient(t, s.URL+"/api/offer", options{})
		next.call(id, true) // and before it stands, the next one comes
		id = next.id
	}
	last := newClient(t, s.URL+"/api/offer", options{})
	open := make(chan struct{})
	last.dc.OnOpen(func() { close(open) })
	last.call(id, true)
	last.waitFor("the channel", open)
	if n := s.engine.Calls(); n != 1 {
		t.Errorf("%d calls", n)
	}
	if st := call.conn.Stats(); st.Reattached != storms+1 {
		t.Errorf("reattached %d times, not %d", st.Reattached, storms+1)
	}
	if n := call.session.disconnects(); n != 0 {
		t.Errorf("the session was told %d times that its caller has gone", n)
	}
}
