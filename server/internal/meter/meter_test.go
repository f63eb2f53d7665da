package meter_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	dto "github.com/prometheus/client_model/go"

	"github.com/turnwise/turnwise/server/internal/meter"
)

// scrape reads what a registry writes the way Prometheus does.
func scrape(t *testing.T, r *meter.Registry) map[string]*dto.MetricFamily {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatalf("Prometheus cannot read it: %v", err)
	}
	return families
}

func TestPrometheusReadsWhatIsCounted(t *testing.T) {
	var r meter.Registry
	turns := r.Counter("turns_total", "Turns, with a \\ and\na second line.")
	ends := r.CounterBy("ends_total", "Ends.", "end", "done", `odd "one"`+"\n\\")
	wait := r.Histogram("wait_seconds", "Waits.", 0.1, 1)
	r.Gauge("open", "Open.", func() (float64, bool) { return 2.5, true })
	r.Gauge("absent", "Absent.", func() (float64, bool) { return 0, false })
	turns.Add(3)
	ends.Add("done", 2)
	ends.Add(`odd "one"`+"\n\\", 1)
	ends.Add("never heard of", 4)
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		wait.Observe(v)
	}

	got := scrape(t, &r)
	if v := got["turns_total"].Metric[0].Counter.GetValue(); v != 3 {
		t.Errorf("the counter is %v", v)
	}
	if help := got["turns_total"].GetHelp(); help != "Turns, with a \\ and\na second line." {
		t.Errorf("its help is %q", help)
	}
	values := map[string]float64{}
	for _, m := range got["ends_total"].Metric {
		values[m.Label[0].GetValue()] = m.Counter.GetValue()
	}
	if values["done"] != 2 || values[`odd "one"`+"\n\\"] != 1 || values[meter.Other] != 4 || len(values) != 3 {
		t.Errorf("the counters by label are %v", values)
	}
	h := got["wait_seconds"].Metric[0].Histogram
	if h.GetSampleCount() != 4 || h.GetSampleSum() != 7.65 {
		t.Errorf("the histogram has %d values with the sum %v", h.GetSampleCount(), h.GetSampleSum())
	}
	for i, want := range []uint64{2, 3, 4} {
		if n := h.Bucket[i].GetCumulativeCount(); n != want {
			t.Errorf("bucket %d holds %d, not %d", i, n, want)
		}
	}
	if v := got["open"].Metric[0].Gauge.GetValue(); v != 2.5 {
		t.Errorf("the gauge is %v", v)
	}
	if got["absent"] != nil {
		t.Error("a gauge that cannot be read was written")
	}
}

func TestTheProcessTellsOfItself(t *testing.T) {
	var r meter.Registry
	r.Process()
	got := scrape(t, &r)
	for _, name := range []string{"go_goroutines", "go_memstats_heap_alloc_bytes"} {
		if got[name] == nil || got[name].Metric[0].Gauge.GetValue() < 1 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
}

func TestNothingIsLostWhenManyCount(t *testing.T) {
	var r meter.Registry
	h := r.Histogram("h", "H.", 1)
	c := r.CounterBy("c", "C.", "l", "a")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				h.Observe(2)
				c.Add("a", 1)
			}
		})
	}
	wg.Wait()
	got := scrape(t, &r)
	if s := got["h"].Metric[0].Histogram.GetSampleSum(); s != 16000 {
		t.Errorf("the sum is %v", s)
	}
	if n := got["c"].Metric[0].Counter.GetValue(); n != 8000 {
		t.Errorf("the counter is %v", n)
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	var r meter.Registry
	h := r.Histogram("h", "H.", 1, 2, 3)
	c := r.CounterBy("c", "C.", "l", "a")
	n := testing.AllocsPerRun(100, func() {
		h.Observe(2)
		c.Add("a", 1)
		c.Add("b", 1)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCounterBy(b *testing.B) {
	var r meter.Registry
	c := r.CounterBy("c", "C.", "l", "a", "b", "c")
	b.ReportAllocs()
	for b.Loop() {
		c.Add("b", 1)
	}
}
