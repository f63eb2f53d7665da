package jitter_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/turnwise/turnwise/transport/webrtc/internal/jitter"
)

func TestWhatIsInOrderPassesAtOnce(t *testing.T) {
	b := newBench()
	for n := range 3000 { // the numbers and the timestamps wrap around on the way
		b.to(time.Duration(n) * duration)
		if !b.put(n) {
			t.Fatalf("packet %d was not taken", n)
		}
		if got := b.out[len(b.out)-1]; got.n != n || got.held != 0 || got.kind != jitter.Packet {
			t.Fatalf("packet %d: %+v", n, got)
		}
	}
	b.order(t)
	if st := b.b.Stats(); st.Lost+st.Late+st.Duplicate+st.Reordered != 0 || st.Expected != 3000 || st.Filled != 0 {
		t.Errorf("%+v", st)
	}
}

func TestTwoPacketsThatChangePlacesComeOutInOrder(t *testing.T) {
	b := newBench()
	for _, n := range []int{0, 1, 3, 2, 4} {
		b.to(b.now + duration/4)
		b.put(n)
	}
	b.order(t)
	if k := b.kinds(0); k[jitter.Packet] != 5 || k[jitter.Lost] != 0 {
		t.Errorf("%v", k)
	}
	if st := b.b.Stats(); st.Reordered != 1 {
		t.Errorf("%+v", st)
	}
}

func TestALostPacketIsGivenUpAfterTheHoldWithTheOneToRecoverItFrom(t *testing.T) {
	b := newBench()
	for _, n := range []int{0, 1, 2, 4} {
		b.to(time.Duration(n) * duration)
		b.put(n)
	}
	b.to(b.now + minHold - time.Millisecond)
	if k := b.kinds(0); k[jitter.Lost] != 0 {
		t.Fatalf("given up too early: %+v", b.out)
	}
	b.to(b.now + duration)
	if len(b.out) != 5 {
		t.Fatalf("%+v", b.out)
	}
	if lost := b.out[3]; lost.kind != jitter.Lost || lost.n != 4 || lost.d != duration {
		t.Errorf("%+v, want the loss of 20 ms, with packet 4", lost)
	}
	if got := b.out[4]; got.n != 4 || got.held < minHold {
		t.Errorf("%+v, want packet 4 after the hold", got)
	}
}

func TestDuplicatesAndBrokenPacketsAreNotUsed(t *testing.T) {
	b := newBench()
	for _, n := range []int{0, 0, 1, 3, 3, 2, 2, 1} {
		b.put(n)
	}
	if b.b.Put(b.begin, b.first+4, 0, []byte{1}) {
		t.Error("a broken packet was taken")
	}
	b.order(t)
	if st := b.b.Stats(); st.Duplicate != 4 || st.Invalid != 1 || st.Received != 9 {
		t.Errorf("%+v", st)
	}
}

func TestTheHoldFollowsTheNetwork(t *testing.T) {
	b := newBench()
	n := 0
	feed := func(late time.Duration, packets int) {
		var list []arrival
		for range packets {
			a := arrival{at: time.Duration(n) * duration, n: n}
			if n%20 == 10 {
				a.at += late
			}
			list = append(list, a)
			n++
		}
		slices.SortStableFunc(list, func(x, y arrival) int { return int(x.at - y.at) })
		for _, a := range list {
			b.to(max(a.at, b.now))
			b.put(a.n)
		}
	}
	feed(150*time.Millisecond, 400)
	st := b.b.Stats()
	if st.Late == 0 || st.Late > 3 {
		t.Errorf("%d packets were late until the hold had followed, want 1 to 3", st.Late)
	}
	if st.Hold < 130*time.Millisecond || st.Hold > 180*time.Millisecond {
		t.Errorf("the hold is %v for packets that are 150 ms late", st.Hold)
	}
	feed(0, 6000)
	if st := b.b.Stats(); st.Hold > minHold+5*time.Millisecond {
		t.Errorf("after two minutes without trouble the hold is still %v", st.Hold)
	}
}

func TestTheHoldIsBounded(t *testing.T) {
	b := newBench()
	var list []arrival
	for n := range 2000 {
		at := time.Duration(n) * duration
		if n%50 == 25 {
			at += 700 * time.Millisecond
		}
		list = append(list, arrival{at, n})
	}
	b.network(list)
	if st := b.b.Stats(); st.Hold > maxHold || st.Late != 40 {
		t.Errorf("%+v", st)
	}
	for _, o := range b.out {
		if o.held > maxHold+duration {
			t.Fatalf("a packet was held for %v", o.held)
		}
	}
}

// TestABadNetwork loses one packet in ten, sends some twice, and delays each by up to
// 300 ms, for ten minutes.
func TestABadNetwork(t *testing.T) {
	b := newBench()
	rnd := rand.New(rand.NewPCG(1, 2))
	const n = 30000
	var list []arrival
	sent := 0
	for i := range n {
		if rnd.IntN(10) == 0 {
			continue
		}
		sent++
		at := time.Duration(i)*duration + time.Duration(rnd.IntN(300))*time.Millisecond
		list = append(list, arrival{at, i})
		if rnd.IntN(20) == 0 {
			list = append(list, arrival{at + time.Duration(rnd.IntN(100))*time.Millisecond, i})
		}
	}
	b.network(list)
	b.order(t)
	got := b.kinds(0)[jitter.Packet]
	if late := sent - got; late > sent/500 {
		t.Errorf("%d of %d packets that came were not used", late, sent)
	}
	var total time.Duration
	worst := time.Duration(0)
	for _, o := range b.out {
		total += o.d
		if o.kind == jitter.Packet {
			worst = max(worst, o.at-time.Duration(o.n)*duration)
		}
	}
	if off := (total - n*duration).Abs(); off > time.Second {
		t.Errorf("ten minutes of sound lasted %v longer or shorter", off)
	}
	if worst > 300*time.Millisecond+maxHold+2*duration {
		t.Errorf("a packet came out %v after it was spoken", worst)
	}
	st := b.b.Stats()
	t.Logf("%d sent, %d used, %+v; the last came out %v after it was spoken at worst", sent, got, st, worst)
	if share := float64(st.Lost) / n; share < 0.09 || share > 0.11 {
		t.Errorf("%.1f %% were given up of 10 %% that were lost", share*100)
	}
	if st.Jitter < 50*time.Millisecond || st.Jitter > 150*time.Millisecond {
		t.Errorf("the jitter is given as %v", st.Jitter)
	}
}

func TestAPauseOfTheSenderIsFilledInWhileItLasts(t *testing.T) {
	b := newBench()
	b.quiet[9] = true
	for n := range 10 {
		b.to(time.Duration(n) * duration)
		b.put(n)
	}
	spoken := b.now
	b.to(spoken + 400*time.Millisecond)
	if k := b.kinds(10); k[jitter.Silence] < 18 || k[jitter.Silence] > 20 {
		t.Errorf("in 400 ms of pause %v were filled in", k)
	}
	for i, o := range b.out[10:] {
		if late := o.at - spoken - time.Duration(i+2)*duration; late > duration {
			t.Errorf("piece %d of the silence came %v late", i, late)
		}
	}
	b.putAt(10, 9+21)
	total := time.Duration(0)
	for _, o := range b.out {
		total += o.d
	}
	if off := (total - 31*duration).Abs(); off > duration {
		t.Errorf("620 ms lasted %v", total)
	}
	if got := b.out[len(b.out)-1]; got.n != 10 {
		t.Errorf("the packet after the pause: %+v", got)
	}
}

func TestAGapOfTheTimestampsIsSilence(t *testing.T) {
	b := newBench()
	b.put(0)
	b.to(duration)
	b.putAt(1, 5) // at once, as if the network had held it back
	if len(b.out) != 3 || b.out[1].kind != jitter.Silence || b.out[1].d != 4*duration {
		t.Errorf("%+v", b.out)
	}
	b.putAt(2, 5+1000)
	if got := b.out[3]; got.kind != jitter.Silence || got.d > time.Second {
		t.Errorf("a jump of 20 s is filled in with %v", got.d)
	}
}

func TestAStreamThatEndsIsFilledInForAWhileOnly(t *testing.T) {
	b := newBench()
	for n := range 10 {
		b.to(time.Duration(n) * duration)
		b.put(n)
	}
	b.to(b.now + 250*time.Millisecond)
	if k := b.kinds(10); k[jitter.Silence] != 0 {
		t.Errorf("sound that is merely late was filled in for: %v", k)
	}
	b.to(b.now + time.Hour)
	filled := time.Duration(b.kinds(10)[jitter.Silence]) * duration
	if filled < time.Second || filled > 3*time.Second {
		t.Errorf("%v of silence after the end", filled)
	}
	n := len(b.out)
	b.putAt(10, 10+int(time.Hour/duration))
	if got := b.out[len(b.out)-1]; got.n != 10 || len(b.out)-n > 2 {
		t.Errorf("after an hour of nothing: %+v", b.out[n:])
	}
}

func TestASenderThatBeginsAnewIsFollowed(t *testing.T) {
	b := newBench()
	for n := range 10 {
		b.put(n)
	}
	if b.put(20000) {
		t.Error("a single stray packet was taken")
	}
	b.put(10)
	for n := 30000; n < 30010; n++ {
		b.to(b.now + duration)
		b.put(n)
	}
	k := b.kinds(0)
	if k[jitter.Packet] < 20 || k[jitter.Lost] > 0 {
		t.Errorf("%v", k)
	}
}

func TestALongLossIsBridged(t *testing.T) {
	b := newBench()
	for n := range 10 {
		b.to(time.Duration(n) * duration)
		b.put(n)
	}
	for n := 400; n < 450; n++ {
		b.to(time.Duration(n) * duration)
		b.put(n)
	}
	b.to(b.now + maxHold)
	b.order(t)
	if k := b.kinds(0); k[jitter.Packet] != 60 {
		t.Errorf("%v", k)
	}
	if st := b.b.Stats(); st.Lost != 390 || st.Expected != 450 {
		t.Errorf("%+v", st)
	}
}

func TestARowOfLossesLastsAsLongAsTheTimestampsSay(t *testing.T) {
	for slots, want := range map[int]time.Duration{30: 29 * duration, 10: 9 * duration, 1: 0, 60: 29*duration + 400*time.Millisecond} {
		b := newBench()
		b.put(0)
		b.putAt(30, slots)
		b.to(minHold + duration)
		total := time.Duration(0)
		for _, o := range b.out {
			if o.kind != jitter.Packet {
				total += o.d
			}
		}
		if total != want {
			t.Errorf("29 packets lost within %v became %v", time.Duration(slots-1)*duration, total)
		}
	}
}

func TestNoOrderOfPacketsBreaksTheBuffer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		b := newBench()
		for range 500 {
			b.to(b.now + time.Duration(rnd.IntN(50))*time.Millisecond)
			n := rnd.IntN(200)
			if rnd.IntN(50) == 0 {
				n = rnd.IntN(65536)
			}
			b.putAt(n, rnd.IntN(1<<30))
			if b.b.Waiting() > 64 {
				t.Fatalf("%d packets wait", b.b.Waiting())
			}
		}
		for _, o := range b.out {
			if o.d < 0 || o.d > time.Second {
				t.Fatalf("a piece lasts %v", o.d)
			}
		}
	}
}

func BenchmarkInOrder(b *testing.B) {
	buf := jitter.New(config())
	now := time.Now()
	p := payload(1, false)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(duration)
		buf.Put(now, uint16(n), uint32(n*ticks), p)
		for buf.Next(now).Kind != jitter.None {
		}
		n++
	}
}
