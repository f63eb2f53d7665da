package main

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTwilioIsToldToStreamTheCallHere(t *testing.T) {
	const token = "0123456789abcdef"
	srv, err := newServer(t.Context(), "https://bot.example", token)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Drain(context.Background(), 0)
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/phone/twilio?token="+token, strings.NewReader("From=%2B1")))
	want := xml.Header + `<Response><Connect><Stream url="wss://bot.example/phone/stream"><Parameter name="from" value="+1"/><Parameter name="token" value="` + token + `"/></Stream></Connect></Response>`
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("got %d %s\nwant %s", w.Code, w.Body, want)
	}
}
