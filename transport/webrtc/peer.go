package webrtc

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

const (
	// channelLabel is the name of the data channel that carries messages.
	channelLabel = "chat"
	// maxLines bounds the media lines of an offer.
	maxLines = 16
	// maxCandidates bounds the addresses a client may tell for one connection.
	maxCandidates = 256
	// maxRTP is the largest packet that is read.
	maxRTP = 1500
)

// peer is one peer connection of a call, which may have several one after the other.
type peer struct {
	id   string
	conn *Conn
	pc   *webrtc.PeerConnection
	// writeRTCP sends reports over pc.
	writeRTCP func([]rtcp.Packet) error

	negotiation sync.Mutex // held while an offer is answered
	out         *track     // nil until a line for sound was offered
	candidates  int
	sender      *webrtc.RTPSender
}

// newPeer makes a peer connection.
func newPeer(c *Conn) (*peer, error) {
	cfg, err := c.engine.configuration()
	if err != nil {
		return nil, err
	}
	pc, err := c.engine.api.NewPeerConnection(cfg)
	if err != nil {
		return nil, fmt.Errorf("webrtc: make a peer connection: %w", err)
	}
	p := &peer{id: rand.Text(), conn: c, pc: pc, writeRTCP: pc.WriteRTCP}
	pc.OnConnectionStateChange(p.changed)
	pc.OnTrack(p.hear)
	pc.OnDataChannel(func(d *webrtc.DataChannel) {
		d.OnOpen(func() {
			if d.Label() == channelLabel {
				c.opened(p, d)
				return
			}
			_ = d.Close() // what is not read would hold up the one that is
		})
	})
	return p, nil
}

// answer answers an offer; all of this side's addresses are in the answer.
func (p *peer) answer(ctx context.Context, offer string) (string, error) {
	p.negotiation.Lock()
	defer p.negotiation.Unlock()
	if strings.Count(offer, "\nm=") > maxLines {
		return "", fmt.Errorf("%w: it has more than %d media lines", ErrOffer, maxLines)
	}
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	if err := p.lines(); err != nil {
		return "", err
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	limit := time.NewTimer(p.conn.engine.cfg.GatherTimeout)
	defer limit.Stop()
	select {
	case <-gathered:
	case <-limit.C: // those that are known have to do
	case <-ctx.Done():
		return "", fmt.Errorf("webrtc: the client did not wait for the answer: %w", ctx.Err())
	}
	return p.pc.LocalDescription().SDP, nil
}

// lines gives the bot's voice the first line for sound, which so is the one with the
// microphone, and declines all others.
func (p *peer) lines() error {
	for _, t := range p.pc.GetTransceivers() {
		if t.Sender() != nil && t.Sender() == p.sender {
			continue
		}
		if p.sender == nil && t.Kind() == webrtc.RTPCodecTypeAudio {
			used, err := p.speak(t)
			if err != nil {
				return err
			}
			if used {
				continue
			}
		}
		if err := t.Stop(); err != nil {
			return fmt.Errorf("webrtc: decline a media line: %w", err)
		}
	}
	return nil
}

// speak puts the bot's voice on a line. It reports false when the line has no codec
// in common.
func (p *peer) speak(t *webrtc.RTPTransceiver) (bool, error) {
	codecs := prefer(t.Receiver().GetParameters().Codecs)
	if len(codecs) == 0 {
		return false, nil
	}
	if err := t.SetCodecPreferences(codecs); err != nil {
		return false, fmt.Errorf("webrtc: choose a codec: %w", err)
	}
	out := &track{}
	sender, err := p.pc.AddTrack(out)
	if err != nil {
		return false, fmt.Errorf("webrtc: add the bot's voice: %w", err)
	}
	p.out, p.sender = out, sender
	p.conn.spawn(func() { p.readReports(sender.Read) })
	return true, nil
}

// addCandidates takes addresses of the client's. Those that make no sense are left
// out, as an empty one that marks the end.
func (p *peer) addCandidates(list []Candidate) {
	p.negotiation.Lock()
	defer p.negotiation.Unlock()
	for _, c := range list {
		if strings.TrimSpace(c.Candidate) == "" || p.candidates >= maxCandidates {
			continue
		}
		p.candidates++
		err := p.pc.AddICECandidate(webrtc.ICECandidateInit{Candidate: c.Candidate, SDPMid: c.Mid, SDPMLineIndex: c.Line})
		if err != nil {
			p.conn.logger().Debug("an address of the client's was left out", "err", err)
		}
	}
}

// changed is told of the connection's state.
func (p *peer) changed(s webrtc.PeerConnectionState) {
	switch s {
	case webrtc.PeerConnectionStateConnected:
		p.conn.connected(p)
	case webrtc.PeerConnectionStateDisconnected, webrtc.PeerConnectionStateFailed:
		p.conn.lost(p, "no packets come any more")
	}
}

// hear listens to a track of the client's.
func (p *peer) hear(t *webrtc.TrackRemote, r *webrtc.RTPReceiver) {
	if t.Kind() != webrtc.RTPCodecTypeAudio {
		_ = r.Stop() // it was declined; what comes all the same is not to be kept
		return
	}
	codecs := map[uint8]codec{}
	for _, c := range r.GetParameters().Codecs {
		codecs[uint8(c.PayloadType)] = codecOf(c.MimeType)
	}
	h := p.conn.hears(codecs)
	if h == nil {
		_ = r.Stop()
		return
	}
	p.conn.spawn(func() { p.readReports(r.Read) })
	p.conn.spawn(func() { listen(t, h) })
}

// listen hands packets to h until the track is over.
func listen(t *webrtc.TrackRemote, h *hearing) {
	var buf [maxRTP]byte
	for {
		n, _, err := t.Read(buf[:])
		if n == 0 && err != nil {
			return
		}
		// With a packet, an error says that its payload type is unknown.
		if err == nil {
			h.packet(time.Now(), buf[:n])
		}
	}
}
