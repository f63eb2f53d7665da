package words

// Concept is the common name of a group of stems that are about the same thing,
// or the stem itself when it is in no group.
func Concept(stem string) string {
	switch stem {
	case "reserv", "book":
		return "book"
	case "peopl", "guest", "diner", "adult", "pax", "attende", "visitor", "head", "group", "folk", "part":
		return "people"
	case "person", "human", "agent", "representativ", "rep", "operator", "staf", "colleagu", "somebod", "someone",
		"someon", "advisor", "adviser", "supervisor", "manager", "employe":
		return "person"
	case "child", "children", "kid", "bab", "toddler":
		return "child"
	case "chang", "modif", "edit", "alter", "updat", "switch", "adjust", "revis", "different", "amend", "mov", "reschedul":
		return "change"
	case "cancel", "abort", "withdraw", "delet", "scrap":
		return "cancel"
	case "open", "clos", "shut":
		return "open"
	case "menu", "dish", "meal", "food", "eat", "cours", "plat", "cuisin", "serv":
		return "food"
	case "vegetarian", "vegan", "veggi", "veggy", "veg", "meatles", "meatfre":
		return "vegetarian"
	case "talk", "speak", "chat", "connect", "transfer", "escalat":
		return "talk"
	case "problem", "issu", "troubl", "complaint", "complain":
		return "problem"
	case "technical", "tech", "bug", "crash", "error", "broken", "broke", "fault", "defect", "malfunction", "freez", "froz":
		return "technical"
	case "pay", "bil", "invoic", "charg", "refund", "paid", "mone":
		return "billing"
	case "deliver", "delivery", "ship", "shipp", "parcel", "packag", "courier", "dispatch", "arriv", "track":
		return "delivery"
	case "account", "login", "password", "log", "signin", "profil":
		return "account"
	case "pric", "cost", "fee", "expens", "expensiv", "cheap":
		return "price"
	case "order", "purchas", "buy", "bought":
		return "order"
	case "addres", "loc", "locat", "direct", "where":
		return "place"
	case "park", "garag":
		return "park"
	case "help", "assist", "support":
		return "help"
	case "mail", "email":
		return "email"
	case "phon", "telephon", "mobil", "cel":
		return "phone"
	case "dat", "day":
		return "date"
	case "describ", "descript":
		return "describe"
	case "end", "finish", "stop", "quit", "done":
		return "end"
	}
	return stem
}

// Stop reports whether a lower-case word carries no topic of its own.
func Stop(w string) bool {
	switch w {
	case "a", "an", "the", "this", "that", "these", "those", "some", "any", "all", "each", "every", "both", "such", "other",
		"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "you", "your", "yours", "he", "him", "his", "she",
		"her", "it", "its", "they", "them", "their", "theirs", "one", "who", "whom", "whose", "which", "what", "when",
		"how", "why", "there", "here", "i'm", "i'd", "i'll", "i've", "we're", "we'd", "we'll", "we've", "you're", "you'd",
		"you'll", "it's", "it'd", "it'll", "that's", "there's", "what's", "let's", "they're", "he's", "she's", "who's",
		"where's", "when's", "how's", "am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "done",
		"doing", "have", "has", "had", "having", "will", "would", "can", "could", "shall", "should", "may", "might", "must",
		"ain't", "isn't", "aren't", "wasn't", "don't", "doesn't", "didn't", "won't", "wouldn't", "can't", "cannot",
		"couldn't", "shouldn't", "haven't", "hasn't", "not", "no", "nor", "never", "yes", "and", "or", "but", "if", "then",
		"so", "because", "as", "than", "though", "of", "to", "in", "on", "at", "by", "for", "from", "with", "without",
		"about", "into", "onto", "over", "under", "up", "down", "out", "off", "per", "via", "please", "thanks", "thank",
		"ok", "okay", "well", "oh", "um", "uh", "er", "hm", "hmm", "hi", "hello", "hey", "just", "only", "also", "too",
		"very", "really", "quite", "now", "again", "still", "yet", "even", "more", "most", "less", "much", "many", "want",
		"wants", "wanted", "like", "likes", "need", "needs", "needed", "get", "got", "give", "tell", "let", "make", "makes",
		"made", "go", "going", "take", "know", "think", "say", "see", "us'", "actually", "maybe", "perhaps", "sorry", "mean",
		"something", "anything", "everything", "thing", "things", "way", "kind", "sort", "lot", "bit", "etc", "eg", "ie",
		"sure", "fine", "good", "great", "im", "dont", "would've", "wanna", "gonna", "gotta", "u", "s", "t", "d", "ll",
		"right", "today", "look", "looking", "around", "using", "whether":
		return true
	}
	return false
}

// Plumbing reports whether a concept is about the working of functions rather
// than about their topic, as "record" and "user" are in a description.
func Plumbing(concept string) bool {
	switch concept {
	case "record", "set", "sav", "stor", "collect", "get", "fetch", "retriev", "handl", "function", "tool", "cal", "use",
		"user", "customer", "caller", "client", "valu", "format", "string", "integer", "number", "boolean", "argument",
		"return", "provid", "given", "giv", "giving", "ask", "answer", "sa", "said", "say", "stat", "request", "requir", "valid", "iso", "hh",
		"mm", "yyyy", "dd", "proced", "node", "flow", "next", "step", "whenever", "once", "onc", "tel", "inform", "respons", "repl",
		"wish", "choos", "choic", "chosen", "select", "pick", "submit", "check", "look", "find", "list", "show", "read",
		"true", "fals", "option", "optional", "mention", "explain", "want", "need", "lik", "data", "tru", "exampl":
		return true
	}
	return false
}

// Common reports whether a lower-case word is an everyday word that is not
// somebody's name.
func Common(w string) bool {
	if Stop(w) {
		return true
	}
	switch w {
	case "hungry", "happy", "afraid", "late", "early", "ready", "back", "calling", "trying", "new", "old", "free", "busy",
		"vegetarian", "vegan", "table", "booking", "reservation", "name", "people", "person", "guest", "guests", "party",
		"order", "number", "problem", "issue", "question", "menu", "food", "time", "date", "day", "night", "morning",
		"evening", "afternoon", "noon", "midnight", "tonight", "tomorrow", "yesterday", "week", "weekend", "month", "year",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march",
		"april", "june", "july", "august", "september", "october", "november", "december", "half", "quarter", "past",
		"pm", "clock", "o'clock", "open", "opening", "close", "hours", "cancel", "change", "help", "wait", "stop", "start",
		"yeah", "yep", "yup", "nope", "nah", "correct", "wrong", "perfect", "exactly", "absolutely", "definitely",
		"certainly", "course", "agree", "everything", "nothing", "nobody", "none", "bye", "goodbye", "later", "soon",
		"working", "work", "works", "broken", "bad", "nice", "cool", "awesome", "bot", "robot", "human", "real", "ai",
		"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "couple", "few",
		"dozen", "zero", "twenty", "thirty", "hundred", "thousand", "first", "second", "third", "last", "next", "book",
		"hotel", "restaurant", "flight", "pizza", "home", "house", "phone", "email", "mail", "address", "customer", "same",
		"different", "possible", "impossible", "interested", "asking", "weather", "money", "price", "cheap", "expensive",
		"come", "coming", "eat", "drink", "speak", "talk", "call", "hear", "show", "why", "lost", "angry", "tired", "sick",
		"bored", "confused", "curious", "wondering", "love", "hate", "joke", "where", "dinner", "lunch", "breakfast", "gluten",
		"another", "whatever", "everyone", "someone", "anyone", "pardon", "repeat", "test", "testing", "agent", "big", "small":
		return true
	}
	return false
}
