package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/server"
)

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   string
}

func do(t *testing.T, method, url string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func (a answer) detail(t *testing.T) string {
	t.Helper()
	var d struct{ Detail string }
	if err := json.Unmarshal([]byte(a.body), &d); err != nil || d.Detail == "" {
		t.Fatalf("an error without a detail: %q", a.body)
	}
	return d.Detail
}

func TestEveryAddressAnswers(t *testing.T) {
	_, address := serve(t, server.Config{})
	for _, c := range []struct{ path, mediaType, part string }{
		{"/", "text/html; charset=utf-8", "<title>Turnwise"},
		{"/app.js", "text/javascript; charset=utf-8", "import"},
		{"/style.css", "text/css; charset=utf-8", "prefers-color-scheme"},
		{"/icon.svg", "image/svg+xml", "<svg"},
		{"/healthz", "text/plain; charset=utf-8", "ok"},
		{"/readyz", "text/plain; charset=utf-8", "ready"},
		{"/api/flow", "application/json", `"title":"Test flow"`},
		{"/api/flow/graph.svg", "image/svg+xml", `id="node-hello"`},
	} {
		a := do(t, http.MethodGet, address+c.path)
		if a.status != http.StatusOK || a.header.Get("Content-Type") != c.mediaType || !strings.Contains(a.body, c.part) {
			t.Errorf("GET %s: %d %s %.60q", c.path, a.status, a.header.Get("Content-Type"), a.body)
		}
		if a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s: no nosniff", c.path)
		}
	}
}

func TestThePageMayUseItsServerAlone(t *testing.T) {
	_, address := serve(t, server.Config{})
	a := do(t, http.MethodGet, address+"/")
	policy := a.header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q has no %q", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	again := do(t, http.MethodGet, address+"/", "If-None-Match", a.header.Get("ETag"))
	if again.status != http.StatusNotModified || again.body != "" {
		t.Errorf("the same page again: %d with %d bytes", again.status, len(again.body))
	}
}

func TestRefusalsAreJSONWithADetail(t *testing.T) {
	_, address := serve(t, server.Config{})
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/nothing", http.StatusNotFound},
		{http.MethodGet, "/../server.go", http.StatusNotFound},
		{http.MethodGet, "/index.html", http.StatusNotFound},
		{http.MethodPost, "/nothing", http.StatusNotFound},
		{http.MethodDelete, "/", http.StatusMethodNotAllowed},
		{http.MethodPut, "/connect", http.StatusMethodNotAllowed},
		{http.MethodGet, "/ws", http.StatusBadRequest},
		{http.MethodGet, "/connect", http.StatusMethodNotAllowed},
		{http.MethodGet, "/start", http.StatusMethodNotAllowed},
	} {
		a := do(t, c.method, address+c.path)
		if a.status != c.status {
			t.Errorf("%s %s: %d, not %d", c.method, c.path, a.status, c.status)
		}
		a.detail(t)
	}
}

func TestARefusedMethodNamesThoseThatAreTaken(t *testing.T) {
	_, address := serve(t, server.Config{})
	for path, want := range map[string]string{
		"/": "GET, HEAD", "/app.js": "GET, HEAD", "/healthz": "GET, HEAD", "/api/flow": "GET, HEAD", "/metrics": "GET, HEAD", "/ws": "GET", "/connect": "POST, OPTIONS", "/start": "POST, OPTIONS",
		"/api/offer": "PATCH, POST, OPTIONS", "/sessions/1/api/offer": "PATCH, POST, OPTIONS",
	} {
		if a := do(t, http.MethodDelete, address+path); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != want {
			t.Errorf("DELETE %s: %d, allowed are %q, not %q", path, a.status, a.header.Get("Allow"), want)
		}
	}
}

// A request that is no WebSocket handshake is answered without taking a place from
// those who connect, however often it comes.
func TestWhatIsNoHandshakeTakesNoPlace(t *testing.T) {
	_, address := serve(t, server.Config{ConnectRate: 1, ConnectBurst: 1})
	for range 5 {
		if a := do(t, http.MethodGet, address+"/ws"); a.status != http.StatusBadRequest {
			t.Errorf("GET /ws: %d", a.status)
		}
	}
	c := dial(t, address)
	c.ready()
	c.hears("Who are you?")
}

func TestPagesThatAreRefusedASocketAreCounted(t *testing.T) {
	_, address := serve(t, server.Config{})
	_, response, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(address, "http")+"/ws", http.Header{"Origin": {"https://evil.example"}})
	if err == nil || response.StatusCode != http.StatusForbidden {
		t.Fatalf("a foreign page: %v %v", err, response)
	}
	if a := do(t, http.MethodGet, address+"/metrics"); !strings.Contains(a.body, `reason="origin"} 1`) {
		t.Errorf("the metrics do not count it:\n%s", a.body)
	}
}

// A page elsewhere whose name resolves to this machine is, to the browser, the
// server's own page.
func TestAServerForThisMachineAloneAnswersOnlyToItsNames(t *testing.T) {
	for _, c := range []struct {
		name, listen, host string
		cfg                server.Config
		status             int
	}{
		{"its address", "127.0.0.1:0", "127.0.0.1:8080", server.Config{}, 200},
		{"localhost", "127.0.0.1:0", "localhost:8080", server.Config{}, 200},
		{"a name below localhost", "127.0.0.1:0", "bot.localhost", server.Config{}, 200},
		{"an IPv6 address", "127.0.0.1:0", "[::1]:8080", server.Config{}, 200},
		{"a name that was rebound", "127.0.0.1:0", "evil.example:8080", server.Config{}, 421},
		{"a name beside localhost", "127.0.0.1:0", "localhost.evil.example", server.Config{}, 421},
		{"the public address, behind a proxy", "127.0.0.1:0", "bot.example", server.Config{PublicURL: "https://bot.example/x"}, 200},
		{"a listed name", "127.0.0.1:0", "Bot.internal:80", server.Config{AllowedHosts: []string{"bot.internal"}}, 200},
		{"any name where others come in too", "0.0.0.0:0", "bot.lan", server.Config{}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Bot = testBot()
			srv, err := server.New(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", c.listen)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- srv.Serve(ctx, l) }()
			_, port, _ := net.SplitHostPort(l.Addr().String())
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/api/flow", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = c.host
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != c.status {
				t.Errorf("a request for %s: %d", c.host, response.StatusCode)
			}
			http.DefaultClient.CloseIdleConnections()
			stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestABotWithoutAFlowHasNoGraph(t *testing.T) {
	_, address := serve(t, server.Config{Bot: server.BotFunc(func(s *server.Session) (*pipeline.Task, error) { return testBot().Session(s) })})
	a := do(t, http.MethodGet, address+"/api/flow/graph.svg")
	if a.status != http.StatusNotFound {
		t.Errorf("the graph of no flow: %d", a.status)
	}
	a.detail(t)
	if a := do(t, http.MethodGet, address+"/api/flow"); a.status != http.StatusOK || !json.Valid([]byte(a.body)) {
		t.Errorf("no flow: %d %q", a.status, a.body)
	}
}

func TestTheServerWithoutPageAndMetricsHasNone(t *testing.T) {
	_, address := serve(t, server.Config{NoPage: true, NoMetrics: true})
	for _, path := range []string{"/", "/app.js", "/metrics"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if a := do(t, method, address+path); a.status != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, a.status)
			}
		}
	}
}

func TestConnectTellsTheAddressAsTheClientReachesIt(t *testing.T) {
	for _, c := range []struct {
		name, public, proto, want string
	}{
		{"directly", "", "", "ws://HOST/ws"},
		{"behind a proxy that ends TLS", "", "https", "wss://HOST/ws"},
		{"with a public address", "https://bot.example/chat/", "", "wss://bot.example/chat/ws"},
		{"with a public address without TLS", "http://bot.example", "https", "ws://bot.example/ws"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, address := serve(t, server.Config{PublicURL: c.public})
			for _, path := range []string{"/connect", "/start"} {
				a := do(t, http.MethodPost, address+path, "X-Forwarded-Proto", c.proto)
				var keys map[string]any
				if err := json.Unmarshal([]byte(a.body), &keys); err != nil {
					t.Fatal(err)
				}
				want := strings.Replace(c.want, "HOST", strings.TrimPrefix(address, "http://"), 1)
				if len(keys) != 1 || keys["wsUrl"] != want {
					t.Errorf("POST %s: %v, not %s", path, keys, want)
				}
			}
		})
	}
}

func TestTheServerWorksUnderAPrefix(t *testing.T) {
	srv, err := server.New(server.Config{Bot: testBot()})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/bot/", http.StripPrefix("/bot", srv.Handler()))
	hs := httptest.NewServer(mux)
	defer hs.Close()
	a := do(t, http.MethodPost, hs.URL+"/bot/connect?x=1")
	if want := strings.Replace(hs.URL, "http", "ws", 1) + "/bot/ws"; !strings.Contains(a.body, want) {
		t.Errorf("the address is %s, not %s", a.body, want)
	}
	c := dial(t, hs.URL+"/bot")
	c.ready()
	c.hears("Who are you?")
	_ = c.ws.Close()
	eventually(t, "the session ends", func() bool { return srv.Sessions() == 0 })
	http.DefaultClient.CloseIdleConnections()
}

func TestOnlyListedOriginsMayConnect(t *testing.T) {
	for _, c := range []struct {
		name, origin string
		allowed      []string
		ok           bool
	}{
		{"no browser", "", nil, true},
		{"the server's own page", "OWN", nil, true},
		{"a foreign page", "https://evil.example", nil, false},
		{"a listed page", "https://shop.example", []string{"https://shop.example"}, true},
		{"a page beside a listed one", "https://shop.example.evil", []string{"https://shop.example"}, false},
		{"any page when all are allowed", "https://evil.example", []string{"*"}, true},
		{"no origin at all", "null", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, address := serve(t, server.Config{AllowedOrigins: c.allowed})
			origin := strings.Replace(c.origin, "OWN", address, 1)
			post := do(t, http.MethodPost, address+"/connect", "Origin", origin)
			preflight := do(t, http.MethodOptions, address+"/connect", "Origin", origin, "Access-Control-Request-Headers", "content-type,x-shop")
			if c.ok != (post.status == http.StatusOK) || c.ok != (preflight.status == http.StatusNoContent) {
				t.Errorf("POST gave %d, OPTIONS %d", post.status, preflight.status)
			}
			if !c.ok {
				post.detail(t)
				return
			}
			if origin != "" && post.header.Get("Access-Control-Allow-Origin") != origin {
				t.Errorf("POST allows %q", post.header.Get("Access-Control-Allow-Origin"))
			}
			if got := preflight.header.Get("Access-Control-Allow-Headers"); got != "content-type,x-shop" {
				t.Errorf("the preflight allows the headers %q", got)
			}
		})
	}
}

// Whoever is on the way between a browser and a server with TLS can write a plain
// page of the server's name, but not one over TLS.
func TestAPlainPageMayNotUseAServerWithTLS(t *testing.T) {
	for _, c := range []struct {
		name, public, proto, scheme string
		status                      int
	}{
		{"a plain page of a plain server", "", "", "http", 200},
		{"a page over TLS of a server behind a proxy that says nothing", "", "", "https", 200},
		{"a page over TLS behind a proxy that tells", "", "https", "https", 200},
		{"a plain page behind a proxy that tells", "", "https", "http", 403},
		{"a plain page of the public address with TLS", "https://OWN", "", "http", 403},
		{"a page of the public address with TLS", "https://OWN", "", "https", 200},
		{"a plain page of the server's own address beside the public one", "https://bot.example", "", "http", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			own := l.Addr().String()
			srv, err := server.New(server.Config{Bot: testBot(), PublicURL: strings.Replace(c.public, "OWN", own, 1)})
			if err != nil {
				t.Fatal(err)
			}
			hs := &httptest.Server{Listener: l, Config: &http.Server{Handler: srv.Handler()}}
			hs.Start()
			defer hs.Close()
			if a := do(t, http.MethodPost, hs.URL+"/connect", "Origin", c.scheme+"://"+own, "X-Forwarded-Proto", c.proto); a.status != c.status {
				t.Errorf("status %d, not %d", a.status, c.status)
			}
			http.DefaultClient.CloseIdleConnections()
		})
	}
}

func TestConfigurationsNameWhatIsWrong(t *testing.T) {
	for field, cfg := range map[string]server.Config{
		"Bot":            {},
		"MaxSessions":    {Bot: testBot(), MaxSessions: -1},
		"ConnectRate":    {Bot: testBot(), ConnectRate: -1},
		"ConnectRate is": {Bot: testBot(), ConnectRate: 1 << 62},
		"ConnectBurst":   {Bot: testBot(), ConnectBurst: 1 << 62},
		"Drain":          {Bot: testBot(), Drain: -1},
		"PublicURL":      {Bot: testBot(), PublicURL: "bot.example"},
		"AllowedHosts":   {Bot: testBot(), AllowedHosts: []string{"bot.example:8080"}},
		"AllowedOrigins": {Bot: testBot(), AllowedOrigins: []string{"shop.example/x"}},
	} {
		if _, err := server.New(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("a wrong %s: %v", field, err)
		}
	}
}
