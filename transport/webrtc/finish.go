package webrtc

import "time"

// discard ends a call that has no session.
func (c *Conn) discard() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.finish()
}

// finish closes the connection and waits, within the time there is, for what the call
// has started. A call that was ended by us for the client's fault has its last
// message sent before.
func (c *Conn) finish() {
	if c.refused() {
		c.farewell(c.engine.cfg.CloseTimeout / 2)
	}
	c.mu.Lock()
	if c.finished {
		c.mu.Unlock()
		<-c.done
		return
	}
	c.finished = true
	if c.cause == nil {
		close(c.gone)
	}
	c.absent.Stop()
	if c.ready != nil {
		c.ready.Stop()
	}
	p, entry := c.peer, c.entry
	c.mu.Unlock()
	c.live.Store(nil)
	if entry != nil {
		entry.Remove()
	}
	c.out.close()
	var closed <-chan struct{}
	if p != nil {
		closed = c.engine.closePeer(p.pc)
	}
	// Only now may the engine forget the call: whoever closes the engine waits
	// for the peers of those that have left.
	c.engine.leave(c)
	c.voice.source.Store(nil)
	c.settle(closed)
	close(c.done)
}

// refused reports whether the call was ended by us while the client was there.
func (c *Conn) refused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause != nil && !c.closing && c.away == ""
}

// settle waits for the goroutines of the call, which end with its connection.
func (c *Conn) settle(closed <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		if closed != nil {
			<-closed
		}
		c.jobs.Wait()
		c.out.jobs.Wait()
	}()
	limit := time.NewTimer(c.engine.cfg.CloseTimeout / 2)
	defer limit.Stop()
	select {
	case <-over:
	case <-limit.C:
		c.logger().Warn("a call was left behind that does not close")
	}
}

// awaitEnd waits for the end of everything, up to a limit.
func (c *Conn) awaitEnd(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c.done:
	case <-t.C:
		c.discard()
	}
}
