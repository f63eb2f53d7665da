package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/internal/caller"
)

// speaks is a WebSocket server for tests that answers each message of an object with
// others. Packages of speech services have stricter ones.
func speaks(t *testing.T, address string, answer func(m map[string]any) []any) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	connections := new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.RequestURI(), address) {
			t.Errorf("a handshake for %s, not %s", r.URL, address)
		}
		connections.Add(1)
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		for {
			kind, data, err := ws.ReadMessage()
			if err != nil {
				return
			}
			m := map[string]any{}
			if kind == websocket.TextMessage && json.Unmarshal(data, &m) != nil {
				t.Errorf("no object: %s", data)
			}
			for _, a := range answer(m) {
				if ws.WriteJSON(a) != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s, connections
}

type object = map[string]any

// sound is 400 ms of a tone at 24 kHz.
func sound(t *testing.T) string {
	t.Helper()
	tone, err := audio.NewTone(audio.Mono(24000), 440, -20)
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]int16, 9600)
	if _, err := tone.Read(samples); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(audio.AppendBytes(nil, samples))
}

// question is a WAV file in which something is said, whatever it is.
func question(t *testing.T) string {
	t.Helper()
	f, err := os.Open("../../audio/vad/silero/testdata/speech16k.wav")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := wav.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := audio.ReadAll(audio.Take(in, 1500*time.Millisecond), 16000*2)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "question.wav")
	if err := os.WriteFile(path, wav.Append(nil, in.Format(), samples), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACallWithServicesThatHearAndSpeak(t *testing.T) {
	tone := sound(t)
	heard := "We need a table for four people."
	listeners := map[string]func(m object) []any{
		"deepgram /v1/listen?": func(m object) []any {
			if m["type"] != "Finalize" {
				return nil
			}
			return []any{object{"type": "Results", "is_final": true, "from_finalize": true, "channel": object{"alternatives": []object{{"transcript": heard}}}}}
		},
		"openai-realtime /v1/realtime?intent=transcription": func(m object) []any {
			if m["type"] != "input_audio_buffer.commit" {
				return nil
			}
			return []any{object{"type": "conversation.item.input_audio_transcription.completed", "item_id": "a", "transcript": heard}}
		},
	}
	speakers := map[string]func(m object) []any{
		"cartesia /tts/websocket": func(m object) []any {
			if m["transcript"] == nil {
				return nil
			}
			return []any{
				object{"type": "chunk", "context_id": m["context_id"], "data": tone}, object{"type": "done", "context_id": m["context_id"]},
			}
		},
		"elevenlabs /v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/multi-stream-input?": func(m object) []any {
			if m["close_context"] == nil {
				return nil
			}
			return []any{object{"audio": tone, "contextId": m["context_id"]}, object{"isFinal": true, "contextId": m["context_id"]}}
		},
	}
	for ears, mouth := range map[string]string{
		"deepgram /v1/listen?":                              "elevenlabs /v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/multi-stream-input?",
		"openai-realtime /v1/realtime?intent=transcription": "cartesia /tts/websocket",
	} {
		stt, listenAt, _ := strings.Cut(ears, " ")
		tts, speakAt, _ := strings.Cut(mouth, " ")
		t.Run(stt+" and "+tts, func(t *testing.T) {
			listener, _ := speaks(t, listenAt, listeners[ears])
			speaker, spoke := speaks(t, speakAt, speakers[mouth])
			sttURL := listener.URL
			if stt == voiceRealtime {
				sttURL += "/v1"
			}
			env := map[string]string{"OPENAI_API_KEY": "key-o", "DEEPGRAM_API_KEY": "key-d", "ELEVENLABS_API_KEY": "key-e", "CARTESIA_API_KEY": "key-c"}
			address := servingWith(t, env, 0, "serve", "--addr", "127.0.0.1:0", "--log-level", "warn", "--drain", "10s",
				"--stt", stt, "--stt-url", sttURL, "--tts", tts, "--tts-url", speaker.URL)
			got := run(t, nil, "", "call", "--json", "--wav", question(t), address)
			if got.code != 0 {
				t.Fatalf("exit code %d: %s\n%s", got.code, got.stderr, got.stdout)
			}
			var report caller.Report
			if err := json.Unmarshal([]byte(got.stdout), &report); err != nil {
				t.Fatalf("%v in %s", err, got.stdout)
			}
			var said strings.Builder
			for _, l := range report.Lines {
				said.WriteString(string(l.Who) + ": " + l.Text + "\n")
			}
			if all := said.String(); !strings.Contains(all, "you: "+heard) || strings.Count(all, "bot: ") < 2 {
				t.Errorf("said was\n%s", all)
			}
			if n := spoke.Load(); n != 1 {
				t.Errorf("the bot spoke over %d connections", n)
			}
		})
	}
}
