package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/llm"
)

func testTemplate(t testing.TB) *template {
	t.Helper()
	tpl, err := newTemplate(&Config{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func testRequest(messages int) *llm.Request {
	convo := frames.NewLLMContext("You book tables.")
	for i := range messages {
		role := []frames.Role{frames.RoleUser, frames.RoleAssistant}[i%2]
		convo.Append(frames.Message{Role: role, Text: fmt.Sprintf("%d: I would like a table for four people tomorrow at eight, please.", i)})
	}
	var tools []frames.Tool
	for i := range 5 {
		tools = append(tools, frames.Tool{
			Name: fmt.Sprintf("function_%d", i), Description: "Records what the guest said.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"size":{"type":"integer","minimum":1,"maximum":12}},"required":["size"]}`),
		})
	}
	convo.SetTools(tools)
	return &llm.Request{Context: convo.Snapshot()}
}

func TestBodyReadsTheSameInAnyPieces(t *testing.T) {
	for _, messages := range []int{0, 1, 2, 7} {
		b, err := testTemplate(t).body(testRequest(messages))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := io.ReadAll(b.reader())
		if err != nil || !json.Valid(whole) || int64(len(whole)) != b.size {
			t.Fatalf("%d bytes, announced %d, %v: %s", len(whole), b.size, err, whole)
		}
		for size := 1; size < 200; size++ {
			var got []byte
			r, buf := b.reader(), make([]byte, size)
			for {
				n, err := r.Read(buf)
				got = append(got, buf[:n]...)
				if err == io.EOF {
					break
				}
			}
			if string(got) != string(whole) {
				t.Fatalf("in pieces of %d: %s", size, got)
			}
		}
		if err := iotest.TestReader(b.reader(), whole); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkBody makes the body of a request and reads it, as a connection does.
// "encode" is what it costs to encode the same request anew, "copy" to copy its
// bytes.
func BenchmarkBody(b *testing.B) {
	for _, messages := range []int{10, 1000} {
		tpl, req := testTemplate(b), testRequest(messages)
		first, err := tpl.body(req)
		if err != nil {
			b.Fatal(err)
		}
		whole, err := io.ReadAll(first.reader())
		if err != nil {
			b.Fatal(err)
		}
		buf := make([]byte, 32<<10)
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(whole)))
			for b.Loop() {
				body, err := tpl.body(req)
				if err != nil {
					b.Fatal(err)
				}
				for r := body.reader(); ; {
					if _, err := r.Read(buf); err != nil {
						break
					}
				}
			}
		})
		b.Run(fmt.Sprintf("messages=%d/copy", messages), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(whole)))
			for b.Loop() {
				for rest := whole; len(rest) > 0; {
					rest = rest[copy(buf, rest):]
				}
			}
		})
		b.Run(fmt.Sprintf("messages=%d/encode", messages), func(b *testing.B) {
			var plain goopenai.ChatCompletionRequest
			if err := json.Unmarshal(whole, &plain); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
