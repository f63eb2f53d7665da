// The way of a spoken conversation: a call over WebRTC.

import { ask } from './connection.js';

/** Words for the reasons why there is no microphone. */
const MICROPHONE = {
  NotAllowedError: 'The microphone may not be used. Allow it for this page in the browser’s settings, then try again.',
  NotFoundError: 'There is no microphone. Connect one, then try again.',
  NotReadableError: 'The microphone cannot be used; perhaps another program has it.',
};

/** callable tells why this browser cannot call; empty when it can. */
export function callable() {
  if (!('RTCPeerConnection' in window)) return 'This browser cannot make calls.';
  if (navigator.mediaDevices?.getUserMedia) return '';
  return 'Browsers lend the microphone only to pages that come over https or from this machine.';
}

const COME_BACK_WITHIN = 15000; // ms for which the server keeps the session of a lost call
const NOTICE_AFTER = 1500; // ms without packets that are no hiccup
const AGAIN_AFTER = 1000; // ms between attempts

/** Call is the way of one conversation. */
export class Call {
  #microphone = null; // the track
  #connection = null;
  #old = []; // connections that were lost, until there is a new one
  #channel = null;
  #speaker = null;
  #id = ''; // of the connection, as the server knows it
  #endpoint = '';
  #ice = [];
  #candidates = [];
  #closed = false;
  #told = null; // what to tell of the call
  #lostAt = 0; // when the connection was lost; 0 while there is one
  #timer = 0;

  constructor(speaker) {
    this.#speaker = speaker;
  }

  /** listen asks for the microphone. Errors are in words. */
  async listen() {
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
      });
    } catch (problem) {
      throw new Error(MICROPHONE[problem.name] ?? 'The microphone cannot be used.');
    }
    [this.#microphone] = stream.getAudioTracks();
  }

  /**
   * open calls. When the network fails, the call comes back by itself; lost and back
   * are told of it.
   */
  async open(told) {
    this.#told = told;
    const { sessionId, iceConfig } = await ask('start', { transport: 'webrtc' });
    if (this.#closed) return;
    this.#endpoint = `sessions/${encodeURIComponent(sessionId)}/api/offer`;
    this.#ice = iceConfig?.iceServers ?? [];
    this.#microphone.onended = () => told.ended('The microphone has been switched off.', true);
    await this.#connect();
  }

  /**
   * connect makes a connection, in the place of the one there was. The audio line comes
   * first: that is where servers look for it.
   */
  async #connect() {
    const connection = new RTCPeerConnection({ iceServers: this.#ice });
    this.#connection = connection;
    this.#candidates = [];
    const previous = this.#id;
    this.#id = '';
    connection.addTransceiver(this.#microphone, { direction: 'sendrecv' });
    connection.ontrack = ({ track }) => this.#play(track);
    connection.onicecandidate = ({ candidate }) => {
      if (candidate && connection === this.#connection) this.#candidates.push(candidate);
      this.#tell();
    };
    connection.onconnectionstatechange = () => this.#changed(connection);
    const channel = connection.createDataChannel('chat', { ordered: true });
    channel.onopen = () => this.#opened(channel);
    channel.onmessage = ({ data }) => {
      if (hasLeft(data)) this.#told.ended('The conversation is over.', true);
      else this.#told.received(data);
    };
    channel.onclose = () => { if (connection === this.#connection) this.#lose(); };
    try {
      await connection.setLocalDescription();
      const { sdp, type } = connection.localDescription;
      const restart = previous ? { pc_id: previous, restart_pc: true } : {};
      const answer = await ask(this.#endpoint, { sdp, type, ...restart });
      if (this.#closed || connection !== this.#connection) return;
      this.#id = answer.pc_id;
      this.#forget();
      await connection.setRemoteDescription({ sdp: answer.sdp, type: answer.type });
    } catch (problem) {
      this.#id ||= previous;
      throw problem;
    }
    this.#tell();
  }

  #forget() {
    for (const connection of this.#old.splice(0)) connection.close();
  }

  #opened(channel) {
    const first = this.#channel === null;
    this.#channel = channel;
    if (first) {
      this.#told.opened();
      return;
    }
    clearTimeout(this.#timer);
    this.#lostAt = 0;
    this.mute(!this.#microphone.enabled);
    this.#told.back();
  }

  /** changed follows a connection. One that fails for long is replaced by a new one. */
  #changed(connection) {
    if (this.#closed || connection !== this.#connection || this.#lostAt) return;
    clearTimeout(this.#timer);
    switch (connection.connectionState) {
      case 'failed':
        this.#lose();
        break;
      case 'disconnected':
        this.#timer = setTimeout(() => this.#lose(), NOTICE_AFTER);
        break;
    }
  }

  /** lose begins to come back, or gives up a call that has never been one. */
  #lose() {
    if (this.#closed || this.#lostAt) return;
    if (!this.#channel || !this.#id) {
      this.#told.ended('The connection was lost.', false);
      return;
    }
    clearTimeout(this.#timer);
    this.#lostAt = performance.now();
    this.#told.lost();
    this.#comeBack();
  }

  /** comeBack tries to connect to the same session, until it is there no longer. */
  async #comeBack() {
    const begun = performance.now();
    try {
      // Only a call that the server knows can be gone on with.
      await ask(this.#endpoint, { pc_id: this.#id, candidates: [] }, 'PATCH');
      if (this.#closed) return;
      // A connection that ends by itself would be taken for hanging up.
      this.#old.push(this.#connection);
      await this.#connect();
    } catch (problem) {
      if (problem.status >= 400 && problem.status < 500) {
        this.#told.ended('The connection was lost.', false);
        return;
      }
    }
    if (this.#closed || !this.#lostAt) return;
    const left = this.#lostAt + COME_BACK_WITHIN - performance.now();
    if (left <= 0) {
      this.#told.ended('The connection was lost and could not be made again.', false);
      return;
    }
    // A connection that was answered gets some time to be made.
    const wait = this.#connection?.signalingState === 'stable' ? 4 * AGAIN_AFTER : AGAIN_AFTER;
    this.#timer = setTimeout(() => { if (this.#lostAt) this.#comeBack(); }, Math.min(left, Math.max(0, begun + wait - performance.now())));
  }

  send(text) {
    if (this.#channel?.readyState !== 'open') return false;
    this.#channel.send(text);
    return true;
  }

  /** mute keeps the microphone's sound from the bot, or lets it through again. */
  mute(on) {
    this.#microphone.enabled = !on;
    this.send(JSON.stringify({
      type: 'signalling',
      message: { type: 'trackStatus', receiver_index: 0, enabled: !on },
    }));
  }

  /** close hangs up and lets the microphone go. */
  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#microphone) this.#microphone.onended = null;
    this.#microphone?.stop();
    if (this.#channel) {
      // That a connection was closed is not told to the other side by every browser.
      this.#channel.onclose = null;
      this.#channel.close();
    }
    this.#connection?.close();
    this.#forget();
    this.#speaker.srcObject = null;
  }

  #play(track) {
    this.#speaker.srcObject = new MediaStream([track]);
    this.#speaker.play().catch(() => { /* it is played once the page has been touched */ });
  }

  /** tell sends the addresses of this side that the server does not know yet. */
  async #tell() {
    if (!this.#id || this.#closed || this.#candidates.length === 0) return;
    const candidates = this.#candidates.splice(0).map((c) => ({
      candidate: c.candidate, sdp_mid: c.sdpMid, sdp_mline_index: c.sdpMLineIndex,
    }));
    try {
      await ask(this.#endpoint, { pc_id: this.#id, candidates }, 'PATCH');
    } catch { /* others may do; if none does, the call does not connect */ }
  }
}

/** hasLeft recognises the message that the bot is gone. */
function hasLeft(raw) {
  if (typeof raw !== 'string' || !raw.includes('peerLeft')) return false;
  try {
    const { type, message } = JSON.parse(raw);
    return type === 'signalling' && message?.type === 'peerLeft';
  } catch {
    return false;
  }
}
