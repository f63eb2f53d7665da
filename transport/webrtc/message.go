package webrtc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	// maxBody bounds the body of a request in bytes; an offer with many codecs takes
	// some 20 KB.
	maxBody = 256 << 10
	// maxID bounds the ids that clients send.
	maxID = 128
	// maxList bounds the addresses in one request.
	maxList = 128
)

// offer is what a client posts to set up, change or restore a call.
type offer struct {
	SDP     string          `json:"sdp"`
	Type    string          `json:"type"`
	ID      string          `json:"pc_id"`
	Restart bool            `json:"restart_pc"`
	Data    json.RawMessage `json:"requestData"`
	OldData json.RawMessage `json:"request_data"`
}

// answer is what it gets.
type answer struct {
	SDP  string `json:"sdp"`
	Type string `json:"type"`
	ID   string `json:"pc_id"`
}

// patch is what a client sends to tell addresses that it found later.
type patch struct {
	ID         string      `json:"pc_id"`
	Candidates []Candidate `json:"candidates"`
}

// Candidate is an address of a client's, as it tells it.
type Candidate struct {
	// Candidate is in the form of RFC 8839; empty marks the end of all.
	Candidate string `json:"candidate"`
	// Mid and Line say which media line it is for.
	Mid  *string `json:"sdp_mid"`
	Line *uint16 `json:"sdp_mline_index"`
}

// Refusal is an error that is answered with a status and a reason that the client may
// show. Clients take a status below 500 as final, and try again otherwise.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	// Detail is the reason, in words for people.
	Detail string
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("webrtc: refused with status %d: %s", r.Status, r.Detail)
}

func refusef(status int, format string, args ...any) error {
	return &Refusal{Status: status, Detail: fmt.Sprintf(format, args...)}
}

// readBody reads the body of a request; an error is a [Refusal].
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refusef(http.StatusRequestEntityTooLarge, "The request is larger than %d bytes.", maxBody)
	case err != nil:
		return nil, refusef(http.StatusBadRequest, "The request could not be read.")
	}
	return body, nil
}

// readOffer decodes an offer; an error is a [Refusal].
func readOffer(body []byte) (offer, error) {
	var o offer
	if err := json.Unmarshal(body, &o); err != nil {
		return o, refusef(http.StatusBadRequest, "The offer must be a JSON object with sdp, type and pc_id.")
	}
	switch {
	case o.Type != "offer":
		return o, refusef(http.StatusBadRequest, `The type of the description must be "offer".`)
	case o.SDP == "":
		return o, refusef(http.StatusBadRequest, "The offer has no sdp.")
	case len(o.ID) > maxID:
		return o, refusef(http.StatusBadRequest, "The pc_id is longer than %d bytes.", maxID)
	}
	if isNull(o.Data) {
		o.Data = o.OldData
	}
	if isNull(o.Data) {
		o.Data = nil
	}
	return o, nil
}

func isNull(data json.RawMessage) bool { return len(data) == 0 || string(data) == "null" }

// readPatch decodes a client's addresses; an error is a [Refusal].
func readPatch(body []byte) (patch, error) {
	var p patch
	if err := json.Unmarshal(body, &p); err != nil {
		return p, refusef(http.StatusBadRequest, "The request must be a JSON object with pc_id and candidates.")
	}
	switch {
	case p.ID == "" || len(p.ID) > maxID:
		return p, refusef(http.StatusBadRequest, "The pc_id is missing or too long.")
	case len(p.Candidates) > maxList:
		return p, refusef(http.StatusBadRequest, "At most %d candidates may come in one request.", maxList)
	}
	return p, nil
}

// reply answers a request with JSON.
func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // strings always encode
		body = []byte("{}")
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client's loss
}
