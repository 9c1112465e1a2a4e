import { once } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';

/** Members of the driver's client that its types do not declare. */
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

/** A signal, or a function that creates it on first use. */
export type AbortSignalOrFactory = AbortSignal | (() => AbortSignal | undefined);

export const resolveSignal = (signal: AbortSignalOrFactory | undefined): AbortSignal | undefined =>
  typeof signal === 'function' ? signal() : signal;

/** Milliseconds before a statement listens to its signal. */
const GRACE = 250;
/**
 * Milliseconds between two cancel requests. A request that arrives before its statement has no effect, so it is repeated while
 * the statement runs.
 */
const RETRY_INTERVAL = 250;
const ATTEMPTS = 8;
/** Milliseconds to send one cancel request. */
const SEND_TIMEOUT = 5000;

/**
 * Runs a statement that is cancelled when its signal aborts, and then fails with the signal's reason. It resolves only
 * when no cancel request is under way: the server closes the connection of such a request after it has signalled the
 * backend, so a later statement on this connection cannot be cancelled by mistake.
 *
 * The signal is read only after `GRACE`: most statements are over by then, and a listener on a signal costs more than a
 * timer.
 */
export async function runCancellable<T>(
  client: pg.ClientBase,
  signal: AbortSignalOrFactory,
  run: () => Promise<T>,
): Promise<T> {
  let watch: StatementCanceller | undefined;
  const timer = setTimeout(() => {
    const resolved = resolveSignal(signal);
    if (resolved) watch = cancelStatementsOnAbort(client, resolved);
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

/**
 * Cancels the statements of a connection when the signal aborts. `end` resolves when no cancel request is under way.
 */
export interface StatementCanceller {
  readonly signal: AbortSignal;
  end(): Promise<void> | undefined;
}

export function cancelStatementsOnAbort(client: pg.ClientBase, signal: AbortSignal): StatementCanceller {
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

/** Sends PostgreSQL's CancelRequest over a second connection with the address and TLS of the first. */
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
