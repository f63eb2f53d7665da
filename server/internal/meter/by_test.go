package meter_test

import (
	"testing"

	"github.com/turnwise/turnwise/server/internal/meter"
)

func TestPrometheusReadsWhatIsCountedByALabel(t *testing.T) {
	var r meter.Registry
	parts := r.HistogramBy("part_seconds", "Parts.", "part", []string{"first", "second"}, 0.1, 1)
	r.CountedBy("packets_total", "Packets.", "what", []string{"sent", "lost"}, func() []uint64 { return []uint64{7, 2} })
	parts.Observe("first", 0.5)
	parts.Observe("first", 2)

	got := scrape(t, &r)
	counts := map[string]uint64{}
	for _, m := range got["part_seconds"].Metric {
		counts[m.Label[0].GetValue()] = m.Histogram.GetSampleCount()
		if m.Label[0].GetValue() == "first" && m.Histogram.Bucket[1].GetCumulativeCount() != 1 {
			t.Errorf("one of two values is up to a second: %v", m.Histogram)
		}
	}
	if len(counts) != 2 || counts["first"] != 2 || counts["second"] != 0 {
		t.Errorf("the parts have so many values: %v", counts)
	}
	packets := map[string]float64{}
	for _, m := range got["packets_total"].Metric {
		packets[m.Label[0].GetValue()] = m.Counter.GetValue()
	}
	if len(packets) != 2 || packets["sent"] != 7 || packets["lost"] != 2 {
		t.Errorf("the packets are %v", packets)
	}
}
