import type { RawData, WebSocket } from 'ws';
import { type Failure, fail } from '#kernel';
import type { RealtimeSocket } from '../contract.ts';
import type { HeartbeatSocket } from './heartbeat.ts';
import { MessageRate } from './message-rate.ts';

/** Bytes that may wait to be sent before a client counts as slow. */
const READY_BELOW = 65_536;
/** Messages over the limit, one after the other, after which a client is closed. */
const MAX_EXCESS = 500;
/** Close codes of RFC 6455: going away, policy violation. */
const GOING_AWAY = 1001;
const POLICY = 1008;
const TEXT = { binary: false } as const;

interface Options {
  /** Messages within a second. */
  readonly messages: number;
  /** The socket can take more after it could not. */
  onReady(): void;
  onEnd(): void;
  /** For events: an error of the protocol, such as a frame that is too large. */
  onError(error: Error): void;
}

/** A socket of the library `ws` behind the contract: bounds of what comes in, and knowledge of what waits to go out. */
export class ServerSocket implements RealtimeSocket, HeartbeatSocket {
  readonly openedAt = performance.now();
  isAlive = true;
  readonly #ws: WebSocket;
  readonly #options: Options;
  readonly #rate: MessageRate;
  #excess = 0;
  #wasReady = true;
  #handleMessage: (text: string) => void = () => {};
  #handleRefused: (failure: Failure) => void = () => {};
  #handleBeat: () => void = () => {};

  constructor(ws: WebSocket, options: Options) {
    this.#ws = ws;
    this.#options = options;
    this.#rate = new MessageRate(options.messages);
    ws.on('message', (data, isBinary) => this.#receive(data, isBinary));
    // Control frames cost the service something too; the library answers them.
    ws.on('ping', () => void this.#isWithinRate());
    ws.on('close', options.onEnd);
    ws.on('error', options.onError);
  }

  get protocol(): string {
    return this.#ws.protocol;
  }

  get isReady(): boolean {
    const isReady = this.#ws.bufferedAmount < READY_BELOW;
    if (!isReady) this.#wasReady = false;
    return isReady;
  }

  send(message: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#ws.send(message, TEXT, () => {
        resolve();
        if (this.#wasReady || !this.isReady) return;
        this.#wasReady = true;
        this.#options.onReady();
      });
    });
  }

  close(code?: number, reason?: string): void {
    if (code === undefined) this.#ws.close();
    else this.#ws.close(code, reason);
  }

  /** Ends the socket without waiting for its client. */
  terminate(): void {
    this.#ws.terminate();
  }

  onMessage(handle: (text: string) => void): void {
    this.#handleMessage = handle;
  }

  onRefused(handle: (failure: Failure) => void): void {
    this.#handleRefused = handle;
  }

  onClose(handle: (code: number, reason: string) => void): void {
    this.#ws.on('close', (code, reason) => handle(code, reason.toString()));
  }

  onHeartbeat(handle: () => void): void {
    this.#handleBeat = handle;
  }

  beat(): void {
    this.#handleBeat();
  }

  expire(): void {
    this.close(GOING_AWAY, 'no answer to the heartbeat');
    this.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.isAlive = true;
    if (!this.#isWithinRate()) return;
    if (isBinary) this.#handleRefused(fail('INVALID_PAYLOAD', 'messages are texts'));
    else this.#handleMessage(data.toString());
  }

  /** The first message over the limit is answered; a client that goes on is closed. */
  #isWithinRate(): boolean {
    if (this.#rate.take()) {
      this.#excess = 0;
      return true;
    }
    this.#excess++;
    if (this.#excess === 1)
      this.#handleRefused(fail('REQUESTS_EXCEEDED', `more than ${this.#options.messages} messages in a second`));
    if (this.#excess === MAX_EXCESS) {
      this.close(POLICY, 'too many messages');
      this.terminate();
    }
    return false;
  }
}
