import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

interface Row {
  readonly id: number;
  readonly n: number;
}

/** What a client has gone through. */
export interface FollowerCounts {
  connections: number;
  changes: number;
  resyncs: number;
  /** Reconnects after which the service still knew the position of the client. */
  resumed: number;
}

/**
 * A client that keeps a copy of a collection by its subscription alone. When it loses its connection it connects to any process, with the
 * position of its last message.
 */
export class FollowingClient {
  readonly rows = new Map<number, number>();
  readonly counts: FollowerCounts = { connections: 0, changes: 0, resyncs: 0, resumed: 0 };
  readonly #urls: () => readonly string[];
  #position: string | undefined;
  #socket: WebSocket | undefined;
  #isStopped = false;

  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
    void this.#run();
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Breaks the connection, as a client does that changes its network. */
  disconnect(): void {
    this.#socket?.terminate();
  }

  stop(): void {
    this.#isStopped = true;
    this.disconnect();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const urls = this.#urls();
      const url = urls[Math.floor(Math.random() * urls.length)];
      if (url !== undefined) await this.#connect(url);
      await pause(50 + Math.random() * 200);
    }
  }

  /** Resolves when the connection has ended. */
  #connect(url: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = new WebSocket(url);
    this.#socket = socket;
    const since = this.#position;
    socket.on('error', () => {});
    socket.on('close', () => resolve());
    socket.on('open', () => {
      this.counts.connections++;
      const query = { fields: ['id', 'n'], limit: -1 };
      socket.send(JSON.stringify({ type: 'subscribe', collection: 'thing', uid: '1', query, positions: true, since }));
    });
    socket.on('message', (text) => {
      const message = JSON.parse(String(text));
      if (message.type === 'ping') socket.send('{"type":"pong"}');
      else if (message.type === 'subscription') this.#take(message);
      // A database that is away refuses a subscription: another attempt follows.
      else if (message.status === 'error') socket.terminate();
    });
    return promise;
  }

  #take(message: { event: string; data?: unknown; resync?: boolean; position?: string }): void {
    const { event, data, resync, position } = message;
    if (event === 'init') {
      if (resync) this.counts.resyncs++;
      if (data === undefined) this.counts.resumed++;
      else {
        this.rows.clear();
        this.#put(data as Row[]);
      }
    } else {
      this.counts.changes++;
      if (event === 'delete') for (const id of data as number[]) this.rows.delete(id);
      else this.#put(data as Row[]);
    }
    // An empty position is none: the service reads again then.
    this.#position = position === '' ? undefined : position;
  }

  #put(rows: readonly Row[]): void {
    for (const { id, n } of rows) this.rows.set(id, n);
  }
}
