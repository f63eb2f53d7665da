package server_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/server"
)

func TestMessagesOfApplicationsAreAnswered(t *testing.T) {
	shop := func(_ *server.Session, m *frames.ClientMessageFrame) (any, error) {
		if m.Type != "price" {
			return nil, errors.New("we only know prices")
		}
		return map[string]json.RawMessage{"of": m.Data}, nil
	}
	for _, c := range []struct {
		name, message string
		handler       server.MessageHandler
		answer, holds string
	}{
		{"by the bot's handler", "price", shop, "server-response", `{"t":"price","d":{"of":"tea"}}`},
		{"with the handler's error", "weather", shop, "error-response", "we only know prices"},
		{"with a refusal where there is no handler", "price", nil, "error-response", "takes no messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bot := testBot()
			bot.OnMessage = c.handler
			_, address := serve(t, server.Config{Bot: bot})
			client := dial(t, address)
			client.ready()
			client.send("client-message", map[string]any{"t": c.message, "d": "tea"})
			m := client.until("the message is answered", func(m message) bool { return m.ID == "id-client-message" })
			if m.Type != c.answer || !strings.Contains(string(m.Data), c.holds) {
				t.Errorf("the answer is %s %s", m.Type, m.Data)
			}
		})
	}
}
