import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { type InProcessService, type RunningTestService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

/** A response of an operation, of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type Response = any;

export const TABLES = `
  create table author (id serial primary key, name text, owner uuid);
  create table book (id serial primary key, title text, price numeric, meta json, author int references author on delete set null);
  create table pair (a int, b int, note text, primary key (a, b));
  create table line (text text);
  insert into author (name) values ('Ann'), ('Ben');
  insert into book (title, price, author) values ('first', 12345678901234567890.10, 1), ('second', 2, 2);`;

export const REALTIME_SETTINGS = { WEBSOCKETS_ENABLED: 'true' } as const;

/** Starts a service whose admin has a static token, which does not expire. */
export async function startRealtimeService(env: Readonly<Record<string, string>> = {}): Promise<InProcessService> {
  const service = await startService({ env: { ...REALTIME_SETTINGS, ...env } });
  await service.database.query(TABLES);
  const token = 'static-token-of-the-admin';
  const { email, password } = service.admin;
  // Where access tokens live for seconds, the one of the start may have expired.
  await until(async () => {
    const { body } = await service.request('POST', '/auth/login', { body: { email, password } });
    const reply = await service.request('PATCH', '/users/me', { token: body.data.access_token, body: { token } });
    return reply.status === 200;
  });
  return { ...service, admin: { ...service.admin, token } };
}

/** What a subscription has received. */
export interface Watched {
  readonly responses: Response[];
  /** Errors that ended it: those of a message `error`, or of the connection. */
  readonly failure: () => Response | undefined;
  readonly isComplete: () => boolean;
  /** Waits for this many responses in all, and answers them. */
  received(count: number): Promise<Response[]>;
  end(): void;
}

interface Source {
  subscribe(
    request: { query: string; variables?: Record<string, unknown>; extensions?: Record<string, unknown> },
    sink: { next(value: Response): void; error(error: unknown): void; complete(): void },
  ): () => void;
}

/** Subscribes by a client of graphql-ws or graphql-sse. */
export function watch(client: Source, query: string, more: object = {}): Watched {
  const responses: Response[] = [];
  let failure: unknown;
  let isComplete = false;
  const end = client.subscribe(
    { query, ...more },
    {
      next: (response) => void responses.push(response),
      error: (error) => {
        failure = error;
      },
      complete: () => {
        isComplete = true;
      },
    },
  );
  return {
    responses,
    failure: () => failure,
    isComplete: () => isComplete,
    async received(count) {
      await until(() => {
        if (failure !== undefined) throw new Error(`the subscription has failed: ${JSON.stringify(failure)}`);
        return responses.length >= count;
      });
      return responses;
    },
    end,
  };
}

/**
 * Subscribes, and waits until the subscription has begun: with `since` the first response says so. That response is not among those
 * received.
 */
export async function watchFromNow(client: Source, query: string, more: object = {}): Promise<Watched> {
  const watched = watch(client, query, { ...more, extensions: { since: null } });
  await watched.received(1);
  watched.responses.shift();
  return watched;
}

/** Responses without the positions. */
export const dataOf = (responses: readonly Response[]): readonly Response[] =>
  responses.map(({ data, errors }) => (errors ? { data, errors } : data));

export const socketUrl = ({ url }: RunningTestService, path = '/graphql'): string =>
  `${url.replace('http', 'ws')}${path}`;

export interface SocketClient extends Client {
  /** The code and reason by which the connection was closed; undefined while it is open. */
  closed(): { readonly code: number; readonly reason: string } | undefined;
}

/** A client of graphql-ws, which does not connect again. */
export function connectSocket(
  service: RunningTestService,
  { token, path, retryAttempts = 0 }: { token?: string | undefined; path?: string; retryAttempts?: number } = {},
): SocketClient {
  let closed: { code: number; reason: string } | undefined;
  const client = createClient({
    url: socketUrl(service, path),
    webSocketImpl: WebSocket,
    retryAttempts,
    lazy: false,
    onNonLazyError: () => {},
    connectionParams: token === undefined ? {} : { access_token: token },
    on: {
      closed: (event) => {
        closed = event as { code: number; reason: string };
      },
    },
  });
  return { ...client, closed: () => closed };
}

/** Runs a query or a mutation by a client of graphql-ws. */
export async function runOnce(client: Source, query: string, more: object = {}): Promise<Response> {
  const watched = watch(client, query, more);
  await until(() => watched.isComplete() || watched.failure() !== undefined);
  return watched.failure() ?? watched.responses[0];
}
