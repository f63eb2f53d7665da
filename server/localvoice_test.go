package server_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/turnwise/turnwise/server"
	"github.com/turnwise/turnwise/speech/local"
)

// lines is a log in memory.
type lines struct {
	mu sync.Mutex
	strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Builder.Write(p)
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.String()
}

// Programs that are there and cannot be used: users are told that, and the operator why.
func TestWhyALocalVoiceCannotBeUsedIsForTheLog(t *testing.T) {
	log := &lines{}
	broken := local.Report{
		Flite:        local.Program{Engine: local.Flite, Path: "relative/flite"},
		PocketSphinx: local.Program{Engine: local.PocketSphinx, Path: "relative/pocketsphinx"},
	}
	_, address := serve(t, server.Config{
		Logger: slog.New(slog.NewTextHandler(log, nil)), Voice: func() server.Voice { return server.LocalVoice(broken) },
	})
	a := do(t, http.MethodGet, address+"/api/flow")
	if !strings.Contains(a.body, "The operator finds the reason in the log.") || strings.Contains(a.body, "relative/") {
		t.Errorf("users are told %s", a.body)
	}
	if !strings.Contains(log.all(), "no voice") {
		t.Errorf("the log is %s", log.all())
	}
}
