package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/internal/caller"
	"github.com/turnwise/turnwise/speech/local"
	"github.com/turnwise/turnwise/test/peer"
)

func TestACoffeeIsOrderedInACall(t *testing.T) {
	if r := local.Find(t.Context()); len(r.Install()) > 0 {
		peer.Missing(t, "no local voice: "+r.String())
	}
	srv, err := newServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hs := httptest.NewServer(srv.Handler())
	defer hs.Close()
	defer srv.Drain(context.Background(), 0)
	report, err := caller.Call(t.Context(), caller.Config{
		URL: hs.URL, Turns: []caller.Turn{{Name: "the order", Text: "two cups of coffee please"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, l := range report.Lines {
		said = append(said, string(l.Who)+": "+l.Text)
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{"node: ask", "node: thank", "coffee, cups 2"} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %q in\n%s", want, all)
		}
	}
	if !report.HungUp || len(report.Replies) != 2 || report.Replies[1].Latency <= 0 {
		t.Errorf("the bot hung up: %v; what was answered aloud: %+v", report.HungUp, report.Replies)
	}
}

func TestTheBotIsShort(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(program, []byte("\n")); n >= 60 {
		t.Errorf("the bot has %d lines; it is promised to have less than 60", n)
	}
}
