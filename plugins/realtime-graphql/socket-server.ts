import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { CloseCode, type Context, makeServer, type SubscribePayload } from 'graphql-ws';
import { type Caller, errorEnvelope, fail, type Log } from '#kernel';
import { toGraphqlErrors } from '../graphql/library.ts';
import type { RealtimeClient, RealtimeSocket, SocketAuthentication } from '../realtime/contract.ts';
import { type OperationDeps, startOperation } from './operation.ts';
import type { ResponseStream } from './response-queue.ts';
import { embedResponse, takeRenderedResponse } from './response-text.ts';
import { createUpgradeContext } from './upgrade-context.ts';
import type { UpgradeRequest } from './upgrade-request.ts';

export interface GraphqlSocketServerDeps extends OperationDeps {
  readonly authentication: SocketAuthentication;
  /** Milliseconds until a client has to send `connection_init`. */
  readonly initTimeout: number;
  readonly log: Log;
}

/** Serves the protocol graphql-transport-ws on a socket. Returns the function that closes it because of a failure. */
export type OpenGraphqlSocket = (
  client: RealtimeClient,
  socket: RealtimeSocket,
  request: UpgradeRequest,
) => (failure: unknown) => void;

/** Queries and mutations of one socket that run at the same time, and subscriptions that are being opened. */
const MAX_RUNNING = 10;
const MAX_ID_LENGTH = 256;

const TRY_AGAIN_LATER = 1013;
/** Characters of the reason by which a socket is closed. */
const MAX_REASON = 123;

interface Connection {
  readonly client: RealtimeClient;
  readonly socket: Pick<RealtimeSocket, 'isReady'>;
  readonly request: UpgradeRequest;
  running: number;
  operations: number;
  /** Whether messages for errors may have details. */
  isAdmin: boolean;
}

/** A document that the library does not run: `execute` answers the stream that was started. */
const PLACEHOLDER = {
  kind: 'Document',
  definitions: [
    { kind: 'OperationDefinition', operation: 'query', selectionSet: { kind: 'SelectionSet', selections: [] } },
  ],
};

/** The errors of a refused operation, in the form of the message. */
class RefusedOperation extends GraphQLError {
  readonly entries: readonly GraphQLFormattedError[];

  constructor(entries: readonly GraphQLFormattedError[]) {
    super(entries[0]?.message ?? '');
    this.entries = entries;
  }
}

export function createGraphqlSocketServer(deps: GraphqlSocketServerDeps): OpenGraphqlSocket {
  const { authentication, initTimeout, log } = deps;

  const server = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: initTimeout,
    onConnect: ({ connectionParams = {}, extra: { client } }) => authenticate(client, authentication, connectionParams),
    onSubscribe: async ({ extra }, id, payload) => {
      // A failure here closes the socket: the credentials of the client do not hold any longer.
      const caller = await extra.client.caller();
      extra.isAdmin = caller.admin;
      try {
        const stream = await start(deps, extra, caller, id, payload);
        return { document: PLACEHOLDER, stream } as never;
      } catch (error) {
        return [new RefusedOperation(entriesOf(error, extra))];
      }
    },
    execute: (args) => (args as unknown as { stream: ResponseStream }).stream as never,
    onNext: (_ctx, _id, _payload, _args, response) => response as never,
    onError: ({ extra }: Context<Record<string, unknown>, Connection>, _id, _payload, errors) =>
      errors.flatMap((error) =>
        error instanceof RefusedOperation ? error.entries : entriesOf(error.cause ?? error, extra),
      ),
  });

  function entriesOf(error: unknown, { isAdmin }: Connection): readonly GraphQLFormattedError[] {
    if (errorEnvelope(error, { admin: isAdmin }).status === 500)
      log.error({ err: error }, 'a GraphQL operation of a socket failed');
    return toGraphqlErrors(error, { admin: isAdmin });
  }

  return (client, socket, request) => {
    const connection: Connection = {
      client,
      socket,
      request,
      running: 0,
      operations: 0,
      isAdmin: false,
    };
    const onFailure = (error: unknown) => {
      const { code, reason } = closingOf(error);
      if (code === CloseCode.InternalServerError) log.error({ err: error }, 'a message of a GraphQL socket failed');
      socket.close(code, reason);
    };
    const onClosed = server.opened(
      {
        protocol: socket.protocol,
        send(message) {
          const response = takeRenderedResponse();
          const sent = socket.send(response ? embedResponse(message, response) : message);
          return response?.isAwaited ? sent : void sent.catch(() => {});
        },
        close: (code, reason) => socket.close(code, reason),
        // The payload of a ping is not repeated: one that is deeply nested could not be rendered.
        onPing: () => void socket.send('{"type":"pong"}'),
        onMessage: (handle) => socket.onMessage((text) => void handle(text).catch(onFailure)),
      },
      connection,
    );
    socket.onClose((code, reason) => void onClosed(code, reason).catch(onFailure));
    socket.onHeartbeat(() => void socket.send('{"type":"ping"}').catch(() => {}));
    socket.onRefused(({ code }) =>
      code === 'INVALID_PAYLOAD'
        ? socket.close(CloseCode.BadRequest, 'Invalid message received')
        : socket.close(TRY_AGAIN_LATER, 'Too many messages'),
    );
    // A client authenticates once for each connection, so it has to connect anew.
    client.onExpired(() => socket.close(CloseCode.Forbidden, 'TOKEN_EXPIRED'));
    return onFailure;
  };
}

/** Whether `connection_init` is accepted; false closes the socket with 4403. @throws what `RealtimeClient.authenticate` throws. */
async function authenticate(
  client: RealtimeClient,
  mode: SocketAuthentication,
  params: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (await client.authenticateByListeners({ ...params, type: 'auth' })) return true;
  const { access_token: token } = params;
  if (token === undefined || token === null) return mode === 'public' || client.isAuthenticated;
  if (typeof token !== 'string') return false;
  await client.authenticate({ token });
  return true;
}

/** @throws INVALID_PAYLOAD, REQUESTS_EXCEEDED, and what `startOperation` throws. */
async function start(
  deps: OperationDeps,
  connection: Connection,
  caller: Caller,
  id: string,
  payload: SubscribePayload,
): Promise<ResponseStream> {
  const { client, socket, request } = connection;
  if (id.length > MAX_ID_LENGTH) throw fail('INVALID_PAYLOAD', `"id" has more than ${MAX_ID_LENGTH} characters.`);
  if (connection.running >= MAX_RUNNING)
    throw fail('REQUESTS_EXCEEDED', `More than ${MAX_RUNNING} operations of this connection run at the same time.`);
  // Its responses would wait in memory.
  if (!socket.isReady) throw fail('REQUESTS_EXCEEDED', 'The client does not read the responses that it has.');
  connection.running++;
  return startOperation(deps, {
    client,
    caller,
    createContext: () => createUpgradeContext(request, caller),
    payload: payload as unknown as Readonly<Record<string, unknown>>,
    id: `${client.id}.${++connection.operations}`,
    onSettled: () => connection.running--,
  });
}

/** The code and the reason by which a failure of credentials, or of the service, closes a socket. */
function closingOf(error: unknown): { readonly code: number; readonly reason: string } {
  const { status, body } = errorEnvelope(error, { admin: false });
  const reason = String(body.errors[0]?.extensions.code ?? '').slice(0, MAX_REASON);
  if (status === 500) return { code: CloseCode.InternalServerError, reason };
  return { code: status === 401 || status === 403 ? CloseCode.Forbidden : TRY_AGAIN_LATER, reason };
}
