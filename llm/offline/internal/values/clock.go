package values

import (
	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Half is the half of a day a time was said to be in.
type Half uint8

// The halves.
const (
	// HalfUnknown leaves it to the listener, as "at seven" does.
	HalfUnknown Half = iota
	// HalfAM is before noon.
	HalfAM
	// HalfPM is after noon.
	HalfPM
	// HalfGiven tells that the hour is on the 24-hour clock.
	HalfGiven
)

// Clock is a time of day somebody said.
type Clock struct {
	Span
	Hour, Minute int
	Half         Half
}

// On24 is the time on the 24-hour clock. Where the words leave the half of the day
// open, twelve is noon and, with evening, 1 to 11 are after noon; without it only
// 1 to 6 are.
func (c Clock) On24(evening bool) (hour, minute int) {
	h := c.Hour
	switch c.Half {
	case HalfAM:
		h %= 12
	case HalfPM:
		h = h%12 + 12
	case HalfUnknown:
		if h >= 1 && (h < 7 || evening && h < 12) {
			h += 12
		}
	}
	return h, c.Minute
}

type clockReader struct {
	tokens  []words.Token
	numbers []Number
	dates   []Date
	hint    Half
}

// Clocks finds the times of day in a text. Plain numbers are not times unless
// "at" stands before them.
func Clocks(tokens []words.Token, numbers []Number, dates []Date) []Clock {
	r := clockReader{tokens: tokens, numbers: numbers, dates: dates, hint: partOfDay(tokens)}
	var found []Clock
	for i := 0; i < len(tokens); {
		c, ok := r.at(i)
		if !ok || r.inDate(c.Span) {
			i++
			continue
		}
		found = append(found, c)
		i = c.To
	}
	return found
}

// ClockOf reads a plain number as a time, for when a time was asked for.
func ClockOf(n Number, tokens []words.Token) (Clock, bool) {
	if n.Ordinal || !wholeHour(n.Value) {
		return Clock{}, false
	}
	r := clockReader{tokens: tokens, hint: partOfDay(tokens)}
	return r.finish(n.From, n.To, int(n.Value), 0, false)
}

func (r *clockReader) inDate(s Span) bool {
	for _, d := range r.dates {
		if d.Overlaps(s) {
			return true
		}
	}
	return false
}

func (r *clockReader) at(i int) (Clock, bool) {
	switch r.low(i) {
	case "noon", "midday", "lunchtime":
		return Clock{Span{i, i + 1}, 12, 0, HalfGiven}, true
	case "midnight":
		return Clock{Span{i, i + 1}, 0, 0, HalfGiven}, true
	}
	for _, read := range [...]func(int) (Clock, bool){r.digital, r.spoken, r.hourAndMinute, r.hour} {
		if c, ok := read(i); ok {
			return c, true
		}
	}
	return Clock{}, false
}

func (r *clockReader) low(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].Low
}

func (r *clockReader) number(i int) (Number, bool) {
	for _, n := range r.numbers {
		if n.From == i && !n.Ordinal && n.Value == float64(int(n.Value)) {
			return n, true
		}
	}
	return Number{}, false
}

// digital reads 19:30, 7:30 pm, 7.30pm and 19h30.
func (r *clockReader) digital(i int) (Clock, bool) {
	if r.tokens[i].Kind != words.Digits || len(r.tokens[i].Text) > 2 || i+2 >= len(r.tokens) {
		return Clock{}, false
	}
	sep, after := r.tokens[i+1], r.tokens[i+2]
	if !sep.Glued || !after.Glued || after.Kind != words.Digits || len(after.Text) != 2 {
		return Clock{}, false
	}
	hour, minute := small(r.tokens[i].Text), small(after.Text)
	if hour > 24 || minute > 59 {
		return Clock{}, false
	}
	end := i + 3
	if r.low(end) == ":" && end+1 < len(r.tokens) && r.tokens[end+1].Kind == words.Digits && r.tokens[end+1].Glued {
		end += 2
	}
	half, width := r.half(end)
	switch sep.Low {
	case ":", "h":
	case ".":
		if half == HalfUnknown && r.low(i-1) != "at" {
			return Clock{}, false
		}
	default:
		return Clock{}, false
	}
	if half == HalfUnknown && r.tokens[i].Text[0] == '0' {
		return Clock{Span{i, end}, hour, minute, HalfGiven}, true
	}
	return r.made(i, end+width, hour, minute, half)
}

func small(digits string) int {
	v := 0
	for _, c := range digits {
		v = v*10 + int(c-'0')
	}
	return v
}

// spoken reads "half past seven", "a quarter to eight", "ten past six", "half
// seven".
func (r *clockReader) spoken(i int) (Clock, bool) {
	start := i
	if r.low(i) == "a" && r.low(i+1) == "quarter" {
		i++
	}
	minutes, next := 0, i+1
	switch r.low(i) {
	case "half":
		minutes = 30
		if n, ok := r.number(next); ok && wholeHour(n.Value) && n.Value >= 1 && n.Value <= 12 {
			return r.finish(start, n.To, int(n.Value), 30, false)
		}
	case "quarter":
		minutes = 15
	default:
		n, ok := r.number(i)
		if !ok || n.Value < 1 || n.Value > 29 {
			return Clock{}, false
		}
		minutes, next = int(n.Value), n.To
		if r.low(next) == "minutes" || r.low(next) == "mins" {
			next++
		} else if minutes%5 != 0 {
			return Clock{}, false
		}
	}
	before := false
	switch r.low(next) {
	case "past", "after":
	case "to", "before", "til", "till":
		before = true
	default:
		return Clock{}, false
	}
	n, ok := r.number(next + 1)
	if !ok || !wholeHour(n.Value) || r.low(start-1) == "from" {
		return Clock{}, false
	}
	return r.finish(start, n.To, int(n.Value), minutes, before)
}

// finish adds what may follow the hour; before counts the minutes back from it.
func (r *clockReader) finish(from, to, hour, minute int, before bool) (Clock, bool) {
	for r.low(to) == "o'clock" || r.low(to) == "sharp" || r.low(to) == "ish" {
		to++
	}
	half, width := r.half(to)
	c, ok := r.made(from, to+width, hour, minute, half)
	if ok && before && minute > 0 {
		c.Minute = 60 - minute
		c.Hour = (c.Hour + 23) % 24
		if c.Half != HalfGiven && c.Hour == 0 {
			c.Hour = 12
		}
	}
	return c, ok
}

func (r *clockReader) made(from, to, hour, minute int, half Half) (Clock, bool) {
	if hour > 24 || minute > 59 || hour == 24 && minute > 0 {
		return Clock{}, false
	}
	c := Clock{Span{from, to}, hour % 24, minute, half}
	switch {
	case hour == 0 || hour > 12:
		c.Half = HalfGiven
	case half == HalfUnknown:
		c.Half = r.hint
	}
	return c, true
}

// hourAndMinute reads "seven thirty".
func (r *clockReader) hourAndMinute(i int) (Clock, bool) {
	n, ok := r.number(i)
	if !ok || !wholeHour(n.Value) || n.Value < 1 {
		return Clock{}, false
	}
	m, ok := r.number(n.To)
	if !ok || r.tokens[n.To].Glued || m.Value < 10 || m.Value > 59 || int(m.Value)%5 != 0 {
		return Clock{}, false
	}
	if r.tokens[i].Kind != r.tokens[n.To].Kind {
		return Clock{}, false
	}
	half, _ := r.half(m.To)
	if m.To < len(r.tokens) && r.tokens[m.To].Kind == words.Word && !r.tokens[m.To].Stop && half == HalfUnknown {
		return Clock{}, false
	}
	return r.finish(i, m.To, int(n.Value), int(m.Value), false)
}

// hour reads "7 pm", "seven o'clock" and "at seven".
func (r *clockReader) hour(i int) (Clock, bool) {
	n, ok := r.number(i)
	if !ok || !wholeHour(n.Value) {
		return Clock{}, false
	}
	half, _ := r.half(n.To)
	if half == HalfUnknown && r.low(n.To) != "o'clock" && !r.afterAt(i, n) {
		return Clock{}, false
	}
	return r.finish(i, n.To, int(n.Value), 0, false)
}

// afterAt reports "at seven", with nothing behind it that seven could count.
func (r *clockReader) afterAt(i int, n Number) bool {
	switch r.low(i - 1) {
	case "at", "@", "around":
	case "about":
		if r.low(i-2) != "at" {
			return false
		}
	default:
		return false
	}
	if n.To < len(r.tokens) && r.tokens[n.To].Kind == words.Word {
		return r.tokens[n.To].Stop || r.low(n.To) == "tomorrow" || r.low(n.To) == "tonight" || weekdayAt(r.low(n.To))
	}
	return n.To >= len(r.tokens) || r.low(n.To) != "%"
}

func weekdayAt(w string) bool {
	_, _, ok := weekdayName(w)
	return ok
}

// half reads am, pm and the like at i and how many tokens they are.
func (r *clockReader) half(i int) (Half, int) {
	switch r.low(i) {
	case "am":
		return HalfAM, 1
	case "pm":
		return HalfPM, 1
	case "a", "p":
		if r.low(i+1) == "." && r.low(i+2) == "m" {
			width := 3
			if r.low(i+3) == "." && r.tokens[i+3].Glued {
				width = 4
			}
			if r.low(i) == "a" {
				return HalfAM, width
			}
			return HalfPM, width
		}
	case "in":
		if r.low(i+1) == "the" {
			return halfName(r.low(i + 2)), 3 * bit(halfName(r.low(i+2)) != HalfUnknown)
		}
	case "at":
		if r.low(i+1) == "night" {
			return HalfPM, 2
		}
	}
	return HalfUnknown, 0
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func halfName(w string) Half {
	switch w {
	case "morning":
		return HalfAM
	case "afternoon", "evening":
		return HalfPM
	}
	return HalfUnknown
}

// partOfDay looks for words anywhere in the text that tell the half of the day.
func partOfDay(tokens []words.Token) Half {
	for i, t := range tokens {
		if t.Low == "tonight" || t.Low == "dinner" {
			return HalfPM
		}
		if i > 0 && (t.Low == "morning" || t.Low == "evening" || t.Low == "afternoon") && tokens[i-1].Low != "good" {
			return halfName(t.Low)
		}
	}
	return HalfUnknown
}

func wholeHour(v float64) bool { return v >= 0 && v <= 24 && v == float64(int(v)) }
