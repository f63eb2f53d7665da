package rtvi

import (
	"encoding/json"

	"github.com/turnwise/turnwise/frames"
)

// callsStarted tells that calls begin, one message for each.
func (o *Output) callsStarted(f *frames.FunctionCallsStartedFrame) {
	for i := range f.Calls {
		level := o.cfg.Functions.level(f.Calls[i].Name)
		if level == ReportDisabled {
			continue
		}
		var d FunctionCallStarted
		if level != ReportNone {
			d.FunctionName = f.Calls[i].Name
		}
		o.send(TypeFunctionCallStarted, "", d, Essential)
	}
}

// callInProgress tells that a call runs; a tool in the client acts on it.
func (o *Output) callInProgress(f *frames.FunctionCallInProgressFrame) {
	level := o.cfg.Functions.level(f.Call.Name)
	if level == ReportDisabled {
		return
	}
	d := FunctionCallInProgress{ToolCallID: f.Call.ID}
	if level != ReportNone {
		d.FunctionName = f.Call.Name
	}
	if level == ReportFull {
		d.Arguments = asJSON(string(f.Call.Args))
	}
	o.send(TypeFunctionCallInProgress, "", d, Essential)
}

// callStopped tells how a call ended.
func (o *Output) callStopped(f *frames.FunctionCallResultFrame) {
	level := o.cfg.Functions.level(f.Call.Name)
	if level == ReportDisabled {
		return
	}
	d := FunctionCallStopped{ToolCallID: f.Call.ID, Cancelled: f.Status == frames.FunctionCancelled}
	if level != ReportNone {
		d.FunctionName = f.Call.Name
	}
	if level == ReportFull {
		d.Result = asJSON(f.Result)
	}
	o.send(TypeFunctionCallStopped, "", d, Essential)
}

// asJSON is s as a JSON value: itself where it is one, a string otherwise.
func asJSON(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	if json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return appendString(nil, s)
}

// metrics sends measurements.
func (o *Output) metrics(f *frames.MetricsFrame) {
	if o.cfg.NoMetrics {
		return
	}
	measured := func(v float64) []Measurement {
		if v == 0 {
			return nil
		}
		return []Measurement{{Processor: f.Processor, Model: f.Model, Value: v}}
	}
	d := Metrics{
		TTFB:       measured(f.TTFB.Seconds()),
		Processing: measured(f.Processing.Seconds()),
		Characters: measured(float64(f.Characters)),
	}
	if u := f.Usage; u != nil {
		d.Tokens = []Tokens{{
			Processor: f.Processor, Model: f.Model, PromptTokens: u.Prompt, CompletionTokens: u.Completion,
			TotalTokens: u.Total, CacheReadTokens: u.CachedPrompt, ReasoningTokens: u.Reasoning,
		}}
	}
	if d.TTFB == nil && d.Processing == nil && d.Characters == nil && d.Tokens == nil {
		return
	}
	o.send(TypeMetrics, "", d, Droppable)
}
