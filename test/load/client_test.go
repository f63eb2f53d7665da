package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// replyLimit is how long a client waits for a reply to be complete before it
	// counts an error and gives the conversation up.
	replyLimit = 30 * time.Second
	// closeLimit bounds the closing handshake.
	closeLimit = 2 * time.Second
)

// errOver tells that the server ended the conversation in good order, as it does
// when the flow is over.
var errOver = errors.New("the conversation is over")

// message is what a client looks at of a server's message, and when it came.
type message struct {
	Type string `json:"type"`
	Data struct {
		Error string `json:"error"`
	} `json:"data"`
	at  time.Time
	err error // the connection's end
}

// client is one user: it holds one conversation after the other, each through
// the whole script, a turn every interval.
type client struct {
	url    string
	script []string
	every  time.Duration
	result *result
}

// run talks until ctx ends, beginning after delay.
func (c *client) run(ctx context.Context, delay time.Duration) {
	if !pause(ctx, delay) {
		return
	}
	for ctx.Err() == nil {
		begun := time.Now()
		if err := c.converse(ctx); err != nil && ctx.Err() == nil {
			c.result.failed(err)
		}
		// One that ended early, or failed, does not become a faster client.
		if !pause(ctx, c.every-time.Since(begun)) {
			return
		}
	}
}

// converse is one conversation: connect, hear the greeting, say the script, leave.
func (c *client) converse(ctx context.Context) error {
	begun := time.Now()
	conn, messages, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_ = conn.Close()
		for range messages { // until the reader has ended
		}
	}()
	if err := send(conn, `{"label":"rtvi-ai","type":"client-ready","id":"ready","data":{"version":"2.1.0","about":{"library":"load"}}}`); err != nil {
		return fmt.Errorf("send client-ready: %w", err)
	}
	if _, err := await(ctx, messages, begun, "bot-ready"); err != nil {
		return fmt.Errorf("wait for bot-ready: %w", err)
	}
	if _, err := awaitReply(ctx, messages, begun); err != nil {
		return fmt.Errorf("wait for the greeting: %w", err)
	}
	c.result.connected(time.Since(begun))

	for _, text := range c.script {
		if !c.listen(ctx, messages) {
			break
		}
		err := c.turn(ctx, conn, messages, text)
		if errors.Is(err, errOver) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("turn %q: %w", text, err)
		}
	}
	c.result.left(leave(conn, messages))
	return nil
}

// connect opens the socket and starts its reader, whose channel is closed when the
// connection has ended.
func (c *client) connect(ctx context.Context) (*websocket.Conn, <-chan message, error) {
	conn, response, err := websocket.DefaultDialer.DialContext(ctx, c.url, nil)
	if err != nil {
		if response != nil {
			// gorilla hands over the beginning of the body, which says why.
			detail, _ := io.ReadAll(response.Body)
			return nil, nil, fmt.Errorf("connect: %s: %s", response.Status, bytes.TrimSpace(detail))
		}
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	messages := make(chan message, 256)
	go func() {
		defer close(messages)
		for {
			_, raw, err := conn.ReadMessage()
			m := message{at: time.Now(), err: err}
			if err == nil {
				m.err = json.Unmarshal(raw, &m)
			}
			messages <- m
			if err != nil {
				return
			}
		}
	}()
	return conn, messages, nil
}

// listen waits for the next turn, reading what comes; it reports false when there
// will be none.
func (c *client) listen(ctx context.Context, messages <-chan message) bool {
	next := time.NewTimer(c.every)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-next.C:
			return true
		case m, open := <-messages:
			if !open || m.err != nil {
				return false
			}
		}
	}
}

// turn says one thing and waits until the reply is complete.
func (c *client) turn(ctx context.Context, conn *websocket.Conn, messages <-chan message, text string) error {
	quoted, err := json.Marshal(text)
	if err != nil {
		return err
	}
	sent := time.Now()
	if err := send(conn, `{"label":"rtvi-ai","type":"send-text","id":"t","data":{"content":`+string(quoted)+`}}`); err != nil {
		return err
	}
	first, err := awaitReply(ctx, messages, sent)
	if err != nil {
		return err
	}
	c.result.turned(first, time.Since(sent))
	return nil
}

// awaitReply waits until the bot has said something and stopped, and returns how
// long its first word took.
func awaitReply(ctx context.Context, messages <-chan message, since time.Time) (first time.Duration, err error) {
	at, err := await(ctx, messages, since, "bot-llm-text", "bot-output")
	if err != nil {
		return 0, err
	}
	_, err = await(ctx, messages, since, "bot-llm-stopped")
	return at.Sub(since), err
}

// await reads until a message of one of the types has come, and says when it did.
func await(ctx context.Context, messages <-chan message, since time.Time, types ...string) (time.Time, error) {
	limit := time.NewTimer(replyLimit - time.Since(since))
	defer limit.Stop()
	for {
		select {
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-limit.C:
			return time.Time{}, fmt.Errorf("no %v within %s", types, replyLimit)
		case m, open := <-messages:
			switch {
			case !open || websocket.IsCloseError(m.err, websocket.CloseNormalClosure):
				return time.Time{}, errOver
			case m.err != nil:
				return time.Time{}, m.err
			case m.Type == "error" || m.Type == "error-response":
				return time.Time{}, fmt.Errorf("the server answered %s: %s", m.Type, m.Data.Error)
			}
			for _, t := range types {
				if m.Type == t {
					return m.at, nil
				}
			}
		}
	}
}

// leave closes the connection with the handshake of the protocol, and reports
// whether the server answered it.
func leave(conn *websocket.Conn, messages <-chan message) bool {
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	if err := conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(closeLimit)); err != nil {
		return errors.Is(err, websocket.ErrCloseSent) // the server was faster
	}
	if err := conn.SetReadDeadline(time.Now().Add(closeLimit)); err != nil {
		return false
	}
	for m := range messages {
		if websocket.IsCloseError(m.err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
			return true
		}
	}
	return false
}

func send(conn *websocket.Conn, text string) error {
	return conn.WriteMessage(websocket.TextMessage, []byte(text))
}

// pause waits; it reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
