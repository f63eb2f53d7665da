package webrtc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/transport/rtvi"
	"github.com/turnwise/turnwise/transport/webrtc"
)

// A server takes calls at /api/offer. What the bot says goes through a playout, whose
// buffer the connection sends from.
func Example() {
	engine, err := webrtc.NewEngine(webrtc.Config{Loopback: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	signalling, err := engine.Signalling(webrtc.SignallingConfig{Open: func(call *webrtc.Call) error {
		conn, err := call.Accept()
		if err != nil {
			return err
		}
		task, err := newTask(conn)
		if err != nil {
			return err // the connection is closed
		}
		go func() {
			if err := conn.Run(context.Background(), task); err != nil && !errors.Is(err, webrtc.ErrPeerGone) {
				fmt.Println(err)
			}
		}()
		return nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/api/offer", signalling)
	mux.HandleFunc("POST /start", signalling.ServeStart)
	fmt.Println("calls:", engine.Calls())
	// Output: calls: 0
}

// newTask makes a session that only plays what it is told to.
func newTask(conn *webrtc.Conn) (*pipeline.Task, error) {
	buffer := &speech.Buffer{}
	conn.Play(buffer)
	playout, err := speech.NewPlayout(speech.PlayoutConfig{Buffer: buffer, Rate: conn.OutputRate()})
	if err != nil {
		return nil, err
	}
	out, err := rtvi.NewOutput(conn, rtvi.OutputConfig{})
	if err != nil {
		return nil, err
	}
	pipe, err := pipeline.New(playout, out)
	if err != nil {
		return nil, err
	}
	return pipeline.NewTask(pipe, pipeline.Params{OnError: out.Report, AudioInRate: webrtc.InputRate, AudioOutRate: conn.OutputRate()})
}
