package telephony

import (
	"encoding/xml"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Document is the XML with which the question of what to do with a call is answered, so
// that the carrier streams it to streamURL, a wss address. The parameters are passed to
// the stream, where the carrier has a way to: at Twilio as custom parameters, else
// as a query. Exotel is configured in its console and takes no document.
func Document(c Carrier, streamURL string, parameters map[string]string) ([]byte, error) {
	u, err := url.Parse(streamURL)
	if err != nil || u.Host == "" || u.Scheme != "wss" && u.Scheme != "ws" {
		return nil, fmt.Errorf("telephony: the stream's address %q is none of wss", streamURL)
	}
	if c != Twilio && len(parameters) > 0 {
		q := u.Query()
		for name, value := range parameters {
			q.Set(name, value)
		}
		u.RawQuery = q.Encode()
	}
	var b strings.Builder
	b.WriteString(xml.Header + "<Response>")
	switch c {
	case Twilio:
		b.WriteString(`<Connect><Stream url="` + escaped(u.String()) + `">`)
		for _, name := range slices.Sorted(maps.Keys(parameters)) {
			b.WriteString(`<Parameter name="` + escaped(name) + `" value="` + escaped(parameters[name]) + `"/>`)
		}
		b.WriteString(`</Stream></Connect>`)
	case Telnyx:
		b.WriteString(`<Connect><Stream url="` + escaped(u.String()) + `" bidirectionalMode="rtp"/></Connect>`)
	case Plivo:
		b.WriteString(`<Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">` + escaped(u.String()) + `</Stream>`)
	default:
		return nil, fmt.Errorf("telephony: %q is answered with no document", c)
	}
	b.WriteString("</Response>")
	return []byte(b.String()), nil
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
