package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// What the model is told about calls. The texts are JSON objects, so that they
// cannot be taken for something the user said.

const pendingText = `{"status":"in progress"}`

// maxErrorText bounds what the model is told of an error, in bytes.
const maxErrorText = 600

var errCallSettled = errors.New("llm: the call has settled")

func jsonText(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		k, _ := json.Marshal(pairs[i])
		v, _ := json.Marshal(pairs[i+1])
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.String()
}

func errorText(what string) string {
	if len(what) > maxErrorText {
		what = strings.ToValidUTF8(what[:maxErrorText], "") + " …"
	}
	return jsonText("error", what)
}

func unknownText(name string, offered []string) string {
	if len(offered) == 0 {
		return errorText(fmt.Sprintf("there is no function %q and none is on offer now; answer in words", name))
	}
	return errorText(fmt.Sprintf("there is no function %q now; on offer are: %s", name, strings.Join(offered, ", ")))
}

func timeoutText(name string, after time.Duration) string {
	return jsonText("status", "timeout", "error", fmt.Sprintf("%s did not finish within %s", name, after))
}

func cancelledText(why string) string {
	return jsonText("status", "cancelled", "reason", why)
}

func runningText(name string) string {
	return jsonText("status", "running", "note", name+" is running; its result will be told when it is there")
}

func asyncText(name, id string, status frames.FunctionStatus, result string) string {
	return fmt.Sprintf("The function %s (call %s) has ended with status %s. Its result: %s", name, id, status, result)
}

// reportPanic logs a handler's panic with the session's logger, which the call's
// context carries.
func reportPanic(ctx context.Context, name string, value any, stack []byte) {
	if log, ok := ctx.Value(logKey{}).(*slog.Logger); ok {
		log.Error("a function panicked", "function", name, "panic", value, "stack", string(stack))
	}
}

type logKey struct{}
