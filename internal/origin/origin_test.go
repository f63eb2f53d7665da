package origin_test

import (
	"errors"
	"testing"

	"github.com/turnwise/turnwise/internal/origin"
)

func TestWhichPagesAreLetIn(t *testing.T) {
	plain, secure := origin.Own{Host: "bot.example:8080"}, origin.Own{Host: "bot.example", TLS: true}
	for _, c := range []struct {
		name, origin string
		own          origin.Own
		list         []string
		want         bool
	}{
		{"no browser", "", plain, nil, true},
		{"the server's own page", "http://bot.example:8080", plain, nil, true},
		{"its page behind a proxy that ends TLS", "https://bot.example:8080", plain, nil, true},
		{"its page over TLS", "https://bot.example", secure, nil, true},
		{"a plain page of a server with TLS, which anyone on the way can write", "http://bot.example", secure, nil, false},
		{"an extension of the same name", "chrome-extension://bot.example:8080", plain, nil, false},
		{"another port", "http://bot.example:9090", plain, nil, false},
		{"a user before the host", "http://bot.example:8080@evil.example", plain, nil, false},
		{"a user before the server's own host", "http://user@bot.example:8080", plain, nil, false},
		{"a path", "http://bot.example:8080/x", plain, nil, false},
		{"an opaque origin", "null", plain, nil, false},
		{"an opaque origin where all may", "null", plain, []string{"*"}, true},
		{"a listed page", "https://shop.example", plain, []string{"https://shop.example"}, true},
		{"a listed page, with another scheme", "http://shop.example", plain, []string{"https://shop.example"}, false},
		{"a page beside a listed one", "https://shop.example.evil", plain, []string{"https://shop.example"}, false},
		{"capitals", "HTTPS://Shop.Example", plain, []string{"https://shop.example"}, true},
		{"nonsense", "::", plain, []string{"https://shop.example"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := origin.Allowed(c.origin, c.own, c.list); got != c.want {
				t.Errorf("Allowed(%q) = %v", c.origin, got)
			}
		})
	}
}

func TestAListTakesOrigins(t *testing.T) {
	for entry, good := range map[string]bool{
		"*": true, "https://app.example.org": true, "http://localhost:3000": true, "https://[::1]:8443": true,
		"shop": false, "shop.example": false, "https://": false, "https://shop.example/": false, "https://a@shop.example": false,
		"https://shop.example?x": false, "https://:80": false, "": false,
	} {
		if err := origin.Check(entry); (err == nil) != good || err != nil && !errors.Is(err, origin.ErrMalformed) {
			t.Errorf("Check(%q) = %v", entry, err)
		}
	}
}

func TestAHostIsANameAndNothingMore(t *testing.T) {
	for name, good := range map[string]bool{
		"bot.internal": true, "bot": true, "": false, "bot.internal:80": false, "https://bot.internal": false,
		"bot.internal/x": false, "*.internal": false, "a@bot": false, "two names": false,
	} {
		if err := origin.CheckHost(name); (err == nil) != good || err != nil && !errors.Is(err, origin.ErrHost) {
			t.Errorf("CheckHost(%q) = %v", name, err)
		}
	}
}
