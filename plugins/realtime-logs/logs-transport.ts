import type { RealtimeClient, RealtimeSocket, SocketTransport } from '../realtime/contract.ts';
import { createMessageQueue } from '../realtime/library.ts';
import type { LogLines } from './log-lines.ts';

interface Deps {
  readonly lines: LogLines;
  /** The lowest level that is shown. */
  readonly lowestLevel: string;
  readonly connectionLimit: number;
  /** Names the process in messages. */
  readonly processId: string;
}

/** Levels of pino, by their names. */
const LEVELS = new Map<unknown, number>([
  ['trace', 10],
  ['debug', 20],
  ['info', 30],
  ['warn', 40],
  ['error', 50],
  ['fatal', 60],
]);
/** Close code of RFC 6455: policy violation. */
const POLICY = 1008;

/** The socket by which admins follow the log of the process (conventions, "Logs socket"). */
export const createLogsTransport = (deps: Deps): SocketTransport => ({
  name: 'logs',
  authentication: 'strict',
  connectionLimit: deps.connectionLimit,
  open: (client, socket) => void new LogFollower(deps, client, socket),
});

class LogFollower {
  readonly #deps: Deps;
  readonly #client: RealtimeClient;
  readonly #socket: RealtimeSocket;
  #stop: (() => void) | undefined;
  #level = Number.POSITIVE_INFINITY;
  #waiting: string[] = [];

  constructor(deps: Deps, client: RealtimeClient, socket: RealtimeSocket) {
    this.#deps = deps;
    this.#client = client;
    this.#socket = socket;
    const queue = createMessageQueue(client, (text) => this.#handle(text));
    socket.onMessage((text) => void queue.push(text));
    socket.onRefused(({ code, message }) => this.#sendError(code, message));
    socket.onHeartbeat(() => void socket.send('{"type":"ping"}'));
    socket.onClose(() => this.#unfollow());
    client.onExpired(() => socket.close(POLICY, 'TOKEN_EXPIRED'));
    void this.#assertAdmin();
  }

  async #handle(text: string): Promise<void> {
    if (!(await this.#assertAdmin())) return;
    const message = parse(text);
    if (message.type === 'ping') return void this.#socket.send('{"type":"pong"}');
    if (message.type === 'unsubscribe') {
      this.#unfollow();
      return void this.#socket.send('{"type":"logs","event":"unsubscribe"}');
    }
    if (message.type === 'subscribe') return this.#subscribe(message.log_level ?? this.#deps.lowestLevel);
    if (message.type !== 'pong') this.#sendError('INVALID_PAYLOAD', '"type" must be subscribe or unsubscribe.');
  }

  #subscribe(name: unknown): void {
    const level = LEVELS.get(name);
    if (level === undefined) {
      this.#sendError('INVALID_PAYLOAD', `"log_level" must be one of ${[...LEVELS.keys()]}.`);
      return;
    }
    const { lowestLevel } = this.#deps;
    const applied = level < (LEVELS.get(lowestLevel) ?? 0) ? lowestLevel : name;
    this.#level = LEVELS.get(applied) ?? level;
    this.#stop ??= this.#deps.lines.follow((line) => this.#take(line));
    void this.#socket.send(JSON.stringify({ type: 'logs', event: 'subscribe', log_level: applied }));
  }

  /** Lines of one moment are sent together. A slow admin misses lines: the log itself is elsewhere. */
  #take(line: string): void {
    if (levelOf(line) < this.#level || !this.#socket.isReady) return;
    this.#waiting.push(line.trimEnd());
    if (this.#waiting.length === 1) setImmediate(() => void this.#flush());
  }

  async #flush(): Promise<void> {
    const isAdmin = await this.#assertAdmin();
    const lines = this.#waiting;
    this.#waiting = [];
    if (!isAdmin) return;
    const uid = JSON.stringify(this.#deps.processId);
    for (const line of lines) void this.#socket.send(`{"type":"logs","data":${line},"uid":${uid}}`);
  }

  /** Closes the socket where the client is no admin, or no more. */
  async #assertAdmin(): Promise<boolean> {
    const isAdmin = await this.#client.caller().then(
      ({ admin }) => admin,
      () => false,
    );
    if (!isAdmin) {
      this.#unfollow();
      this.#sendError('FORBIDDEN', 'Only admins may follow the log.');
      this.#socket.close(POLICY, 'FORBIDDEN');
    }
    return isAdmin;
  }

  #unfollow(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#waiting = [];
  }

  #sendError(code: string, message: string): void {
    void this.#socket.send(JSON.stringify({ type: 'logs', status: 'error', error: { code, message } }));
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The level of a line, which pino writes first: `{"level":30,…`. */
const levelOf = (line: string): number => Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0);
