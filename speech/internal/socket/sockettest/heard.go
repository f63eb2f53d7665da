package sockettest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/speech"
)

// RefuseWith has handshakes answered with a status, header fields and a body.
func (s *Server) RefuseWith(status int, header map[string]string, body string) {
	s.Refuse = func(w http.ResponseWriter, _ *http.Request) bool {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
		return true
	}
}

// Ramp is sound that can be told apart.
func Ramp(n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(i * 7 % 20000)
	}
	return s
}

// RampBytes is [Ramp] as it travels.
func RampBytes(n int) []byte { return audio.AppendBytes(nil, Ramp(n)) }

// Heard collects what a synthesizer emits.
type Heard struct {
	Samples []int16
	Words   []speech.Word
}

// Emit takes what is emitted.
func (h *Heard) Emit(s speech.Speech) error {
	h.Samples = append(h.Samples, s.Samples...)
	h.Words = append(h.Words, s.Words...)
	return nil
}

// PrintsWithout fails the test when a configuration shows a secret, however it is
// printed.
func PrintsWithout(tb testing.TB, secret string, cfg slog.LogValuer) {
	tb.Helper()
	b, err := json.Marshal(cfg)
	if out := fmt.Sprintf("%v %+v %#v %s %s", cfg, cfg, cfg, b, cfg.LogValue()); err != nil || strings.Contains(out, secret) {
		tb.Errorf("printed %s, %v", out, err)
	}
}
