package meter

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Process adds what operators want to know of any process: goroutines, heap and
// resident memory, where the system tells.
func (r *Registry) Process() {
	r.Gauge("go_goroutines", "Goroutines of the process.", func() (float64, bool) {
		return float64(runtime.NumGoroutine()), true
	})
	r.Gauge("go_memstats_heap_alloc_bytes", "Bytes of objects in use, and of garbage that has not been collected yet.", func() (float64, bool) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc), true
	})
	r.Gauge("process_resident_memory_bytes", "Resident memory of the process.", resident)
}

// resident reads the resident memory from /proc, where there is one.
func resident() (float64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()), err == nil
}
