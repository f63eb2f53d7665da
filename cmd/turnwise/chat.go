package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/turnwise/turnwise/flows"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/server"
)

// quitWithin is how soon a second Ctrl-C means to quit.
const quitWithin = 2 * time.Second

// conversation is one chat in the terminal.
type conversation struct {
	w     *world
	paper *paper
	turns *turns
	task  *pipeline.Task
	lines chan string // closed at the end of the input
	// faults are what makes the exit code that of a failure.
	faults faults
}

// run holds a conversation in the terminal.
func (c *chatCmd) run(ctx context.Context, w *world, g *cli) error {
	log, err := g.logger(w.stderr, slog.LevelWarn)
	if err != nil {
		return err
	}
	pace := time.Duration(0)
	if w.interactive {
		pace = defaultPace
	}
	model, info, err := c.model(w, log, pace)
	if err != nil {
		return err
	}
	bot := newBot(model, info)
	chat := newConversation(w, c.Inside)
	chat.follow(bot)
	if info.StandIn && w.interactive {
		chat.paper.note("An offline stand-in answers, not a language model. Ctrl-C interrupts it, Ctrl-D ends.")
	}
	session := server.NewSession(server.SessionConfig{
		Output: &terminal{paper: chat.paper, turns: chat.turns}, Logger: log,
		OnError: chat.failed,
	})
	task, err := session.Build(ctx, bot)
	if err != nil {
		return err
	}
	defer session.Close()
	return chat.hold(session.Context(), task)
}

// failed tells of an error in the conversation. Someone who reads it can say the
// same again; whoever waits at the end of a pipe learns it from the exit code.
func (c *conversation) failed(f *frames.ErrorFrame) {
	c.paper.note(f.Public)
	if !c.w.interactive {
		c.faults.add(errModelFailed, fmt.Errorf("%w: %s", errModelFailed, f.Public))
	}
}

func newConversation(w *world, inside bool) *conversation {
	return &conversation{
		w: w, turns: newTurns(), lines: make(chan string),
		paper: &paper{
			w: w.stdout, insides: inside, prompt: w.interactive,
			colour: w.interactive && w.getenv("NO_COLOR") == "" && w.getenv("TERM") != "dumb",
		},
	}
}

// follow has the bot's flow tell what happens in it.
func (c *conversation) follow(bot *server.FlowBot) {
	ends := map[string]bool{}
	for _, n := range bot.Describe().Nodes {
		ends[n.Name] = n.End
	}
	bot.Configure = func(_ *server.Session, f *flows.Config) {
		f.OnEvent = func(e flows.Event) {
			if e.Kind == flows.EventNodeEntered && ends[e.Node] {
				c.turns.parting()
			}
			c.paper.event(e)
		}
	}
}

// hold runs the task and talks with it until it ends.
func (c *conversation) hold(ctx context.Context, task *pipeline.Task) error {
	c.task = task
	c.paper.broken = func(err error) {
		if c.faults.add(errOutput, fmt.Errorf("%w: %w", errOutput, err)) {
			task.Cancel("the output cannot be written")
		}
	}
	c.turns.probe = func(reached func()) { task.QueueFrame(&frames.MarkFrame{Keep: true, Reached: reached}) }
	task.QueueFrame(&frames.ClientConnectedFrame{About: "terminal"})
	go c.read()
	talking, over := context.WithCancel(ctx)
	defer over()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.talk(talking)
	}()
	err := task.Run(ctx)
	over()
	<-done
	var cancelled *pipeline.CancelError
	if errors.As(err, &cancelled) {
		err = nil
	}
	return errors.Join(err, c.faults.err())
}

// read hands over the lines of the input. It ends with the input, or with the
// process.
func (c *conversation) read() {
	defer close(c.lines)
	err := readLines(c.w.stdin, func(line string) bool {
		select {
		case c.lines <- line:
			return true
		case <-c.task.Done():
			return false
		}
	})
	if err != nil {
		c.faults.add(errInput, err)
	}
}

// talk brings the user's lines to the bot until the input or the conversation
// ends. Someone who types may do so at any time, and so interrupt the bot; from a
// pipe a line waits until the bot has answered the one before.
func (c *conversation) talk(ctx context.Context) {
	var breaks <-chan os.Signal
	if c.w.interactive {
		var stop func()
		breaks, stop = c.w.interrupts()
		defer stop()
	}
	var last time.Time
	for {
		if !c.w.interactive && !c.turns.wait(ctx) {
			return
		}
		busy, changed := c.turns.busy()
		if !busy {
			c.paper.ask()
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case line, more := <-c.lines:
			if !more {
				c.task.End("the input has ended")
				return
			}
			c.say(line)
		case <-breaks:
			if time.Since(last) < quitWithin {
				c.task.Cancel("Ctrl-C")
				return
			}
			last = time.Now()
			c.interrupt(busy)
		}
	}
}

// say brings one line to the bot.
func (c *conversation) say(line string) {
	c.paper.typed()
	line = strings.TrimSpace(line)
	if line == "" {
		return
	}
	if !c.w.interactive {
		c.paper.line("you", line)
	}
	c.turns.asked()
	c.task.QueueFrame(&frames.UserTextFrame{Text: line})
}

// interrupt stops the bot without saying anything.
func (c *conversation) interrupt(busy bool) {
	if !busy {
		c.paper.note("Ctrl-C again to quit.")
		return
	}
	c.turns.silenced()
	c.task.QueueFrame(&frames.UserTextFrame{NoRun: true})
}
