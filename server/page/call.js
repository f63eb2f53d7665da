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

/** Call is the way of one conversation. */
export class Call {
  #microphone = null; // the track
  #connection = null;
  #channel = null;
  #speaker = null;
  #id = ''; // of the connection, as the server knows it
  #endpoint = '';
  #candidates = [];
  #closed = false;

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

  /** open calls. The audio line comes first: that is where servers look for it. */
  async open({ opened, received, ended }) {
    const { sessionId, iceConfig } = await ask('start', { transport: 'webrtc' });
    if (this.#closed) return;
    this.#endpoint = `sessions/${encodeURIComponent(sessionId)}/api/offer`;
    const connection = new RTCPeerConnection({ iceServers: iceConfig?.iceServers ?? [] });
    this.#connection = connection;
    connection.addTransceiver(this.#microphone, { direction: 'sendrecv' });
    connection.ontrack = ({ track }) => this.#play(track);
    connection.onicecandidate = ({ candidate }) => {
      if (candidate) this.#candidates.push(candidate);
      this.#tell();
    };
    connection.onconnectionstatechange = () => {
      if (connection.connectionState === 'failed') ended('The connection was lost.', false);
    };
    this.#microphone.onended = () => ended('The microphone has been switched off.', true);
    const channel = connection.createDataChannel('chat', { ordered: true });
    this.#channel = channel;
    channel.onopen = opened;
    channel.onmessage = ({ data }) => {
      if (hasLeft(data)) ended('The conversation is over.', true);
      else received(data);
    };
    channel.onclose = () => ended('The connection was lost.', false);

    await connection.setLocalDescription();
    const { sdp, type } = connection.localDescription;
    const answer = await ask(this.#endpoint, { sdp, type });
    if (this.#closed) return;
    this.#id = answer.pc_id;
    await connection.setRemoteDescription({ sdp: answer.sdp, type: answer.type });
    this.#tell();
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
    if (this.#microphone) this.#microphone.onended = null;
    this.#microphone?.stop();
    if (this.#channel) this.#channel.onclose = null;
    this.#connection?.close();
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
