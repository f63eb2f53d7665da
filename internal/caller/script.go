package caller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/transport/rtvi"
)

// script lets the bot greet, says the turns, and takes leave.
func (c *call) script(ctx context.Context) error {
	if err := c.await(ctx, c.ready); err != nil {
		return err
	}
	err := c.answered(ctx, "greeting", time.Now())
	for i, turn := range c.cfg.Turns {
		if err != nil {
			break
		}
		var since time.Time
		if since, err = c.say(ctx, turn); err == nil {
			err = c.answered(ctx, turn.Name, since)
		}
		if errors.Is(err, ErrHungUp) && i == len(c.cfg.Turns)-1 {
			c.report.HungUp, err = true, nil // in good order: everything was said
		}
	}
	if err != nil || c.report.HungUp {
		return err
	}
	return c.leave(ctx)
}

// await waits for something that the bot does before the first word.
func (c *call) await(ctx context.Context, what <-chan struct{}) error {
	limit := time.NewTimer(c.cfg.Patience)
	defer limit.Stop()
	for {
		select {
		case <-what:
			return nil
		case e := <-c.events:
			if err := c.note(e); err != nil {
				return err
			}
		case <-c.over:
			return ErrHungUp
		case <-limit.C:
			return fmt.Errorf("%w: it did not get ready within %s", ErrSilent, c.cfg.Patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// say says a turn and returns when its last sound was sent.
func (c *call) say(ctx context.Context, turn Turn) (time.Time, error) {
	if len(turn.Samples) == 0 {
		now := time.Now()
		c.write(Line{At: now.Sub(c.begun), Who: You, Text: turn.Text})
		return now, c.send(rtvi.TypeSendText, rtvi.SendText{Content: turn.Text})
	}
	done := c.mouth.say(turn.Samples)
	for {
		select {
		case at := <-done:
			return at, nil
		case e := <-c.events:
			if err := c.note(e); err != nil {
				return time.Time{}, err
			}
		case <-c.over:
			return time.Time{}, fmt.Errorf("%w while %s was said", ErrHungUp, turn.Name)
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}

// answered waits until the bot has spoken after since and is silent again.
func (c *call) answered(ctx context.Context, turn string, since time.Time) error {
	c.ear.listen(since)
	limit := time.NewTimer(time.Until(since.Add(c.cfg.Patience)))
	defer limit.Stop()
	quiet := time.NewTimer(0)
	if !quiet.Stop() {
		<-quiet.C
	}
	defer quiet.Stop()
	spoke := false
	for {
		select {
		case e := <-c.events:
			switch e.kind {
			case rtvi.TypeBotStartedSpeaking:
				spoke = true
				limit.Stop()
				quiet.Stop()
			case rtvi.TypeBotStoppedSpeaking:
				if spoke {
					quiet.Reset(c.cfg.Pause)
				}
			}
			if err := c.note(e); err != nil {
				return err
			}
		case <-quiet.C:
			c.reply(turn, since)
			return nil
		case <-c.over:
			c.rest()
			if spoke {
				c.reply(turn, since)
			}
			return fmt.Errorf("%w after %s", ErrHungUp, turn)
		case <-limit.C:
			return fmt.Errorf("%w %s within %s", ErrSilent, turn, c.cfg.Patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reply notes how long an answer took.
func (c *call) reply(turn string, since time.Time) {
	r := Reply{Turn: turn}
	if at := c.ear.first(); !at.IsZero() {
		r.Latency = at.Sub(since)
	}
	r.Parts, c.parts = c.parts, nil
	c.report.Replies = append(c.report.Replies, r)
}

// leave asks the bot to end, and gives it a moment.
func (c *call) leave(ctx context.Context) error {
	if err := c.send(rtvi.TypeDisconnectBot, nil); err != nil {
		return err
	}
	limit := time.NewTimer(3 * time.Second)
	defer limit.Stop()
	for {
		select {
		case e := <-c.events:
			if err := c.note(e); err != nil {
				return err
			}
		case <-c.over:
			c.rest()
			return nil
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rest notes what came before the end.
func (c *call) rest() {
	for {
		select {
		case e := <-c.events:
			_ = c.note(e) // the call is over anyhow
		default:
			return
		}
	}
}

// note writes down what an event tells.
func (c *call) note(e event) error {
	line := Line{At: e.at.Sub(c.begun)}
	switch e.kind {
	case rtvi.TypeUserTranscription:
		if !e.data.Final {
			return nil
		}
		line.Who, line.Text = You, e.data.Text
	case rtvi.TypeBotOutput:
		if e.data.SpokenStatus != "" && e.data.SpokenStatus != "completed" {
			return nil
		}
		line.Who, line.Text = Bot, e.data.Text
	case rtvi.TypeServerMessage:
		if e.data.Event == "latency" {
			c.measured(e.data.Latency)
		}
		if e.data.Event != "node" {
			return nil
		}
		line.Who, line.Text = Node, e.data.Node
	case rtvi.TypeError:
		if e.data.Fatal {
			return fmt.Errorf("%w: %s", ErrServer, e.data.Error)
		}
		return nil
	default:
		return nil
	}
	c.write(line)
	return nil
}

// measured takes in where the time until an answer went.
func (c *call) measured(took map[string]float64) {
	c.parts = nil
	for _, p := range (speech.Latency{}).Parts() {
		c.parts = append(c.parts, Part{p.Name, time.Duration(took[p.Name] * float64(time.Second))})
	}
}

// write writes a line down.
func (c *call) write(line Line) {
	c.report.Lines = append(c.report.Lines, line)
	if c.cfg.OnLine != nil {
		c.cfg.OnLine(line)
	}
}
