package speech

import (
	"strings"
	"time"

	"github.com/turnwise/turnwise/frames"
)

// The bot's own voice in the user's microphone. Voice activity takes it for speech, and
// the recognizer for words; neither is to interrupt the bot.

const (
	// echoLasts is how long after it was heard a word of the bot's may come back.
	echoLasts = 15 * time.Second
	// echoWords is how many words the least echo has. Fewer may be an answer that
	// takes up a word of the question.
	echoWords = 3
	// echoDelay is how long before voice activity finds speech the words of an echo
	// have been heard at most.
	echoDelay = 700 * time.Millisecond
	// midway is how much the bot must have had left to say when it was paused, for
	// fewer words to be an echo: right before its end, they may be an answer.
	midway = 800 * time.Millisecond
	// trustAfter is after how many sounds without words in a row sound alone does
	// not stop the bot any more, until the user has said something.
	trustAfter = 2
)

// saidFrame tells turn taking what the user has just heard of the bot.
type saidFrame struct {
	frames.SystemFrame
	text string
}

// pausedFrame tells turn taking how much the bot had left to say when it was paused.
type pausedFrame struct {
	frames.SystemFrame
	left time.Duration
}

// saidWord is a word of the bot's, folded, with when it was heard.
type saidWord struct {
	word string
	at   time.Time
}

// echo recognises the bot's own words.
type echo struct {
	said   []saidWord
	alarms int // sounds in a row that stopped the bot and had no words
}

// heard takes in what the user has heard of the bot.
func (e *echo) heard(text string, now time.Time) {
	old := 0
	for old < len(e.said) && now.Sub(e.said[old].at) > echoLasts {
		old++
	}
	e.said = append(e.said[:0], e.said[old:]...)
	for _, w := range plainWords(text) {
		e.said = append(e.said, saidWord{w, now})
	}
}

// isEcho reports whether words that were spoken while the bot spoke are its own. Of
// words that are not final, few may become many, and are held back.
func (e *echo) isEcho(words string, final bool) bool {
	spoken := plainWords(words)
	if len(spoken) == 0 || (final && len(spoken) < echoWords) {
		return false
	}
	// A recognizer does not understand every word of what is faint and late.
	return 3*e.inOrder(spoken) >= 2*len(spoken)
}

// isRecent reports whether words that are few were heard, as they are, since a time.
func (e *echo) isRecent(words string, since time.Time) bool {
	spoken := plainWords(words)
	n := len(spoken)
	if n == 0 || n >= echoWords {
		return false
	}
	for i := len(e.said) - n; i >= 0 && e.said[i].at.After(since); i-- {
		same := true
		for k, w := range spoken {
			same = same && e.said[i+k].word == w
		}
		if same {
			return true
		}
	}
	return false
}

// inOrder is how many of the words the bot has said in this order: the longest common
// subsequence.
func (e *echo) inOrder(words []string) int {
	row := make([]int, len(e.said)+1)
	for _, w := range words {
		diagonal := 0
		for i, s := range e.said {
			above := row[i+1]
			row[i+1] = max(above, row[i])
			if s.word == w {
				row[i+1] = max(row[i+1], diagonal+1)
			}
			diagonal = above
		}
	}
	return row[len(e.said)]
}

// plainWords are the words of a text, folded.
func plainWords(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		if f := string(folded(w)); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// echoes reports whether words are the bot's own, which the microphone has picked up.
func (t *Turns) echoes(sig Signal, words string) bool {
	if t.settings.KeepEcho || (sig != SignalInterim && sig != SignalFinal) {
		return false
	}
	over := t.bot.Speaking
	if t.turn != nil {
		over = t.turn.over
	}
	if !over || (t.turn != nil && t.turn.interrupted) {
		return false
	}
	// Few words are an echo only of what was heard when the sound began, and only where
	// the bot was not about to be answered, or has been stopped in vain before.
	few := t.turn != nil && (t.turn.midway || t.echo.alarms >= trustAfter) && t.echo.isRecent(words, t.turn.begun.Add(-echoDelay))
	if !few && !t.echo.isEcho(words, sig == SignalFinal) {
		return false
	}
	t.echo.alarms = trustAfter
	return true
}

// tried reports whether sound alone has stopped the bot in vain often enough.
func (t *Turns) tried(sig Signal) bool {
	return sig == SignalVoiceStarted && t.bot.Speaking && !t.settings.KeepEcho && t.echo.alarms >= trustAfter
}
