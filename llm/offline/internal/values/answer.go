package values

import "github.com/turnwise/turnwise/llm/offline/internal/words"

// Answer is a yes or a no.
type Answer struct {
	Span
	// Given tells that there is an answer at all.
	Given bool
	Yes   bool
}

// YesNo reads how a text answers a yes-no question: by how it begins, after
// fillers. "I don't know" answers nothing.
func YesNo(tokens []words.Token) Answer {
	i := skipFillers(tokens, 0)
	if i >= len(tokens) {
		return Answer{}
	}
	if longest(tokens, i, undecided[:]) > 0 {
		return Answer{}
	}
	noes, yeses := longest(tokens, i, denials[:]), longest(tokens, i, consents[:])
	switch {
	case yeses > noes:
		return Answer{Span{i, i + yeses}, true, true}
	case noes > 0:
		return Answer{Span{i, i + noes}, true, false}
	}
	return Answer{}
}

func skipFillers(tokens []words.Token, i int) int {
	for ; i < len(tokens); i++ {
		switch tokens[i].Low {
		case "oh", "well", "um", "uh", "er", "erm", "hm", "hmm", "ah", "so", "and", "actually", "honestly", "i", "think", "guess", "believe":
			if tokens[i].Low == "i" && !(i+1 < len(tokens) && opinion(tokens[i+1].Low)) {
				return i
			}
		default:
			if tokens[i].Kind != words.Mark {
				return i
			}
		}
	}
	return i
}

func opinion(w string) bool { return w == "think" || w == "guess" || w == "believe" }

func longest(tokens []words.Token, i int, phrases []string) int {
	best := 0
	for _, p := range phrases {
		if n := matchSpoken(tokens, i, p); n > best {
			best = n
		}
	}
	return best
}

// matchSpoken is matchPhrase passing over commas in the text. A phrase ending in
// "$" must end the text or its sentence.
func matchSpoken(tokens []words.Token, i int, phrase string) int {
	n := 0
	for len(phrase) > 0 {
		word := phrase
		rest := ""
		for k := range len(phrase) {
			if phrase[k] == ' ' {
				word, rest = phrase[:k], phrase[k+1:]
				break
			}
		}
		phrase = rest
		if word == "$" {
			if i+n < len(tokens) && tokens[i+n].Kind != words.Mark && tokens[i+n].Low != "please" && tokens[i+n].Low != "thanks" {
				return 0
			}
			return n
		}
		for n > 0 && i+n < len(tokens) && tokens[i+n].Text == "," {
			n++
		}
		if i+n >= len(tokens) || tokens[i+n].Low != word {
			return 0
		}
		n++
	}
	return n
}

var undecided = [...]string{
	"not sure", "i don't know", "i do not know", "dunno", "maybe", "perhaps", "no idea", "i'm not sure", "i am not sure", "right now",
	"right away", "good morning", "good evening", "good afternoon", "good day", "good question", "no one", "true or", "not only",
	"fine dining", "great britain", "ok what", "ok but", "okay what", "okay but", "ok how", "ok when", "don't know",
}

var consents = [...]string{
	"yes", "yeah", "yea", "yep", "yup", "yess", "aye", "ja", "sure", "ok", "okay", "okey", "k $", "of course", "certainly", "absolutely",
	"definitely", "exactly", "correct", "right", "all right", "alright", "true", "affirmative", "indeed", "please $", "please do",
	"go ahead", "do it", "do that", "do so", "i do $", "i am $", "i would", "i agree", "i confirm", "agreed", "confirmed", "confirm $",
	"perfect", "fine", "great", "good", "lovely", "wonderful", "excellent", "brilliant", "super", "why not", "by all means", "you bet",
	"that's right", "that's correct", "that's fine", "that's it", "that's good", "that's great", "that's perfect", "that's all right",
	"that is right", "that is correct", "that is fine", "that is all correct", "that's all correct", "that's ok", "that's okay",
	"that works", "that'll do", "that will do", "it is $", "it's correct", "it's right", "it's fine", "it does", "it did", "they are $",
	"sounds good", "sounds great", "sounds right", "sounds perfect", "sounds fine", "looks good", "looks right", "looks correct",
	"looks great", "looks fine", "looks perfect", "all good", "all correct", "all right then", "everything is right",
	"everything is correct", "everything is fine", "everything's fine", "everything's correct", "everything's right", "book it",
	"no problem", "no problems", "no worries", "not a problem", "i'd love to", "i'd like that", "very much", "very good", "for sure",
	"no that's right", "no that's correct", "no that's fine", "no it's fine", "no it's correct", "y $", "totally", "happy with that",
	"i'm happy", "i am happy", "i'm satisfied", "i am satisfied",
}

var denials = [...]string{
	"no", "nope", "nah", "nay", "never", "negative", "wrong", "incorrect", "false", "not", "don't", "do not", "i don't", "i do not",
	"i didn't", "i did not", "i'm not", "i am not", "i wouldn't", "i would not", "i'd rather not", "i'd prefer not", "rather not",
	"it isn't", "it is not", "it's not", "it's wrong", "it is wrong", "it doesn't", "it didn't", "it does not", "it did not",
	"that's wrong", "that is wrong", "that's not", "that is not", "that isn't", "that's incorrect", "that was wrong", "they aren't",
	"absolutely not", "of course not", "certainly not", "definitely not", "no thanks", "no thank you", "not really", "not yet",
	"not at all", "no way", "unfortunately not", "sorry no", "thanks but no", "n $", "nothing", "none", "unsatisfied", "i'm unhappy",
	"i am unhappy", "sure not", "ok no", "okay no", "yes but no",
}
