import { once } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';

/** What the driver knows of a connection and does not declare. */
interface CancelAddress {
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | object;
  readonly processID: number;
  readonly secretKey: unknown;
}

interface CancelConnection extends Omit<pg.Connection, 'stream'> {
  stream: Socket;
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: unknown): void;
}

/** A signal, or how to get at one that is made when it is needed. */
export type SignalSource = AbortSignal | (() => AbortSignal | undefined);

export const resolveSignal = (signal: SignalSource | undefined): AbortSignal | undefined =>
  typeof signal === 'function' ? signal() : signal;

/** Milliseconds. */
const GRACE = 250;
/** A request that came before its statement did nothing, so it is made again while the statement runs. */
const RETRY_INTERVAL = 250;
const ATTEMPTS = 8;
const SEND_TIMEOUT = 5000;

/**
 * Runs a statement that is cancelled when its signal aborts, and then fails with the signal's reason. It answers only when
 * no request to cancel is under way any more: the server closes such a request's connection after it has told the
 * backend, so nothing that runs on this connection afterwards can be hit.
 *
 * The signal is looked at when the statement has taken `GRACE`: most are over by then, and a listener on a signal costs
 * more than the timer.
 */
export async function runCancellable<T>(
  client: pg.ClientBase,
  signal: SignalSource,
  run: () => Promise<T>,
): Promise<T> {
  let watch: CancelWatch | undefined;
  const timer = setTimeout(() => {
    const resolved = resolveSignal(signal);
    if (resolved) watch = watchSignal(client, resolved);
  }, GRACE);
  try {
    return await run();
  } catch (error) {
    throw watch?.signal.aborted ? watch.signal.reason : error;
  } finally {
    clearTimeout(timer);
    if (watch) await watch.end();
  }
}

/** A connection whose statements are cancelled when the signal aborts; `end` resolves when no request to cancel is under way. */
export interface CancelWatch {
  readonly signal: AbortSignal;
  end(): Promise<void> | undefined;
}

export function watchSignal(client: pg.ClientBase, signal: AbortSignal): CancelWatch {
  let isEnded = false;
  let wake = () => {};
  let cancelling: Promise<void> | undefined;
  const cancel = async () => {
    for (let attempt = 0; attempt < ATTEMPTS && !isEnded; attempt++) {
      await sendCancel(client as unknown as CancelAddress).catch(() => {});
      if (isEnded) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      setTimeout(resolve, RETRY_INTERVAL);
      await promise;
    }
  };
  const abort = () => {
    cancelling = cancel();
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  return {
    signal,
    end() {
      isEnded = true;
      signal.removeEventListener('abort', abort);
      wake();
      return cancelling;
    },
  };
}

/** PostgreSQL's CancelRequest, over a connection of its own that is made like the one it is about. */
async function sendCancel({ host, port, ssl, processID, secretKey }: CancelAddress): Promise<void> {
  const wire = new pg.Connection({ ssl } as pg.ConnectionConfig) as unknown as CancelConnection;
  const send = () => wire.cancel(processID, secretKey);
  wire.once('connect', () => (ssl ? wire.requestSsl() : send()));
  wire.once('sslconnect', send);
  const ended = once(wire, 'end', { signal: AbortSignal.timeout(SEND_TIMEOUT) });
  if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
  else wire.connect(port, host);
  try {
    await ended;
  } finally {
    wire.on('error', () => {});
    wire.stream.destroy();
  }
}
