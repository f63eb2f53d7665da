package values

import (
	"time"

	"github.com/turnwise/turnwise/llm/offline/internal/words"
)

// Date is a day somebody said.
type Date struct {
	Span
	// Day is midnight of it, in the place of the clock it was read by.
	Day time.Time
}

// dateReader reads the dates of one text.
type dateReader struct {
	tokens  []words.Token
	numbers []Number
	today   time.Time
}

// Dates finds the days in a text. Days without a year, weekdays and "tomorrow"
// are counted from now; a day that has passed means the next one. Numbers
// separated by slashes or dots are read day first unless that is impossible.
func Dates(tokens []words.Token, numbers []Number, now time.Time) []Date {
	y, m, d := now.Date()
	r := dateReader{tokens: tokens, numbers: numbers, today: time.Date(y, m, d, 0, 0, 0, 0, now.Location())}
	var found []Date
	for i := 0; i < len(tokens); {
		day, ok := r.at(i)
		if !ok {
			i++
			continue
		}
		found = append(found, day)
		i = day.To
	}
	return found
}

func (r *dateReader) at(i int) (Date, bool) {
	if r.tokens[i].Kind == words.Digits {
		if d, ok := r.numeric(i); ok {
			return d, true
		}
	}
	for _, read := range [...]func(int) (Date, bool){r.relative, r.weekday, r.monthFirst, r.dayFirst, r.ordinal} {
		if d, ok := read(i); ok {
			return d, true
		}
	}
	return Date{}, false
}

func (r *dateReader) low(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].Low
}

func (r *dateReader) number(i int) (Number, bool) {
	for _, n := range r.numbers {
		if n.From == i {
			return n, true
		}
	}
	return Number{}, false
}

// relative reads days counted from today.
func (r *dateReader) relative(i int) (Date, bool) {
	for _, p := range [...]struct {
		phrase string
		days   int
	}{
		{"the day after tomorrow", 2}, {"day after tomorrow", 2}, {"tomorrow", 1}, {"tmrw", 1}, {"today", 0}, {"tonight", 0},
		{"this evening", 0}, {"this afternoon", 0}, {"this morning", 0}, {"next week", 7}, {"a week today", 7}, {"in a week", 7},
		{"in a fortnight", 14}, {"a week tomorrow", 8}, {"yesterday", -1},
	} {
		if n := matchPhrase(r.tokens, i, p.phrase); n > 0 {
			return Date{Span{i, i + n}, r.today.AddDate(0, 0, p.days)}, true
		}
	}
	if matchPhrase(r.tokens, i, "weekend") > 0 || matchPhrase(r.tokens, i, "this weekend") > 0 {
		n := 1
		if r.low(i) == "this" {
			n = 2
		}
		return Date{Span{i, i + n}, r.coming(time.Saturday)}, true
	}
	return r.counted(i)
}

// counted reads "in three days".
func (r *dateReader) counted(i int) (Date, bool) {
	if r.low(i) != "in" {
		return Date{}, false
	}
	n, ok := r.number(i + 1)
	if !ok || n.Value != float64(int(n.Value)) || n.Value < 0 || n.Value > 1000 {
		return Date{}, false
	}
	switch r.low(n.To) {
	case "day", "days":
		return Date{Span{i, n.To + 1}, r.today.AddDate(0, 0, int(n.Value))}, true
	case "week", "weeks":
		return Date{Span{i, n.To + 1}, r.today.AddDate(0, 0, 7*int(n.Value))}, true
	case "month", "months":
		return Date{Span{i, n.To + 1}, r.today.AddDate(0, int(n.Value), 0)}, true
	}
	return Date{}, false
}

// weekday reads "friday" as the coming one, today included, and "next friday" as
// the one in the week that begins next monday.
func (r *dateReader) weekday(i int) (Date, bool) {
	start := i
	next := false
	if w := r.low(i); w == "next" || w == "this" || w == "coming" || w == "on" {
		next = w == "next"
		i++
		if i < len(r.tokens) && r.low(start) == "this" && r.low(i) == "coming" {
			i++
		}
	}
	day, short, ok := weekdayName(r.low(i))
	if !ok || short && i == start && len(r.tokens) > 4 {
		return Date{}, false
	}
	d := r.coming(day)
	if next {
		monday := r.today.AddDate(0, 0, 7-(int(r.today.Weekday())+6)%7)
		d = monday.AddDate(0, 0, (int(day)+6)%7)
	}
	return Date{Span{start, i + 1}, d}, true
}

func (r *dateReader) coming(day time.Weekday) time.Time {
	return r.today.AddDate(0, 0, (int(day)-int(r.today.Weekday())+7)%7)
}

func weekdayName(w string) (day time.Weekday, short, ok bool) {
	switch w {
	case "sunday", "sundays":
		return time.Sunday, false, true
	case "monday", "mondays":
		return time.Monday, false, true
	case "tuesday", "tuesdays":
		return time.Tuesday, false, true
	case "wednesday", "wednesdays":
		return time.Wednesday, false, true
	case "thursday", "thursdays":
		return time.Thursday, false, true
	case "friday", "fridays":
		return time.Friday, false, true
	case "saturday", "saturdays":
		return time.Saturday, false, true
	case "sun":
		return time.Sunday, true, true
	case "mon":
		return time.Monday, true, true
	case "tue", "tues":
		return time.Tuesday, true, true
	case "wed", "weds":
		return time.Wednesday, true, true
	case "thu", "thur", "thurs":
		return time.Thursday, true, true
	case "fri":
		return time.Friday, true, true
	case "sat":
		return time.Saturday, true, true
	}
	return 0, false, false
}

// monthFirst reads "May 3rd, 2027".
func (r *dateReader) monthFirst(i int) (Date, bool) {
	month, ok := monthName(r.low(i))
	if !ok {
		return Date{}, false
	}
	j := i + 1
	if r.low(j) == "the" || r.low(j) == "." {
		j++
	}
	n, ok := r.number(j)
	if !ok || !wholeDay(n.Value) {
		return Date{}, false
	}
	return r.inYear(i, n.To, month, int(n.Value))
}

// dayFirst reads "the 3rd of May 2027".
func (r *dateReader) dayFirst(i int) (Date, bool) {
	j := i
	if r.low(j) == "the" {
		j++
	}
	n, ok := r.number(j)
	if !ok || !wholeDay(n.Value) {
		return Date{}, false
	}
	j = n.To
	if r.low(j) == "of" || r.low(j) == "." {
		j++
	}
	month, ok := monthName(r.low(j))
	if !ok {
		return Date{}, false
	}
	return r.inYear(i, j+1, month, int(n.Value))
}

// inYear finishes a date with the year that follows it, or the next that makes it
// lie ahead.
func (r *dateReader) inYear(from, to int, month time.Month, day int) (Date, bool) {
	j := to
	if r.low(j) == "," {
		j++
	}
	if n, ok := r.number(j); ok && n.Value >= 1900 && n.Value < 2200 && n.To == j+1 {
		return r.exact(Span{from, n.To}, int(n.Value), month, day)
	}
	for year := r.today.Year(); year < r.today.Year()+9; year++ {
		d, ok := r.exact(Span{from, to}, year, month, day)
		if ok && !d.Day.Before(r.today) {
			return d, true
		}
	}
	return Date{}, false
}

// exact refuses days that do not exist.
func (r *dateReader) exact(s Span, year int, month time.Month, day int) (Date, bool) {
	d := time.Date(year, month, day, 0, 0, 0, 0, r.today.Location())
	return Date{s, d}, d.Month() == month && d.Day() == day && month >= 1 && month <= 12
}

// ordinal reads "the 15th" as the next day of a month with that number.
func (r *dateReader) ordinal(i int) (Date, bool) {
	if r.low(i) != "the" {
		return Date{}, false
	}
	n, ok := r.number(i + 1)
	if !ok || !n.Ordinal || !wholeDay(n.Value) || r.tokens[i+1].Kind != words.Digits {
		return Date{}, false
	}
	for k := range 13 {
		year, month, _ := r.today.AddDate(0, 0, 1-r.today.Day()).AddDate(0, k, 0).Date()
		if d, ok := r.exact(Span{i, n.To}, year, month, int(n.Value)); ok && !d.Day.Before(r.today) {
			return d, true
		}
	}
	return Date{}, false
}

func wholeDay(v float64) bool { return v >= 1 && v <= 31 && v == float64(int(v)) }

func monthName(w string) (time.Month, bool) {
	if len(w) < 3 {
		return 0, false
	}
	for m, name := range [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"} {
		if w[:3] == name[:3] && (len(w) == 3 || w == name || w == "sept") {
			return time.Month(m + 1), true
		}
	}
	return 0, false
}

// numeric reads 2026-05-03, 3/5/2026, 3.5.2026 and 3.5.
func (r *dateReader) numeric(i int) (Date, bool) {
	parts, seps, end := r.numericParts(i)
	if len(parts) < 2 {
		return Date{}, false
	}
	if len(parts) == 3 {
		switch {
		case len(r.tokens[i].Text) == 4:
			return r.exact(Span{i, end}, parts[0], time.Month(parts[1]), parts[2])
		case parts[2] >= 1900 && parts[2] < 2200:
			day, month := dayAndMonth(parts[0], parts[1])
			return r.exact(Span{i, end}, parts[2], time.Month(month), day)
		}
		return Date{}, false
	}
	if seps == "/" || seps == "." && r.low(end) == "." {
		day, month := dayAndMonth(parts[0], parts[1])
		if wholeDay(float64(day)) && month >= 1 && month <= 12 {
			return r.inYear(i, end, time.Month(month), day)
		}
	}
	return Date{}, false
}

func dayAndMonth(a, b int) (day, month int) {
	if b > 12 && a <= 12 {
		return b, a
	}
	return a, b
}

// numericParts reads up to three short groups of digits that touch each other,
// with the same separator between them.
func (r *dateReader) numericParts(i int) (parts []int, separator string, end int) {
	for j := i; j < len(r.tokens) && r.tokens[j].Kind == words.Digits && len(r.tokens[j].Text) <= 4; {
		v := 0
		for _, c := range r.tokens[j].Text {
			v = v*10 + int(c-'0')
		}
		parts, end = append(parts, v), j+1
		if len(parts) == 3 || j+2 >= len(r.tokens) || !r.tokens[j+1].Glued || !r.tokens[j+2].Glued {
			break
		}
		sep := r.tokens[j+1].Text
		if sep != "-" && sep != "/" && sep != "." || separator != "" && sep != separator {
			break
		}
		separator = sep
		j += 2
	}
	return parts, separator, end
}
