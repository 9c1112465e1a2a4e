import { type Caller, Failure, requestScope } from '#kernel';
import type { RealtimeClient, RealtimeSocket } from '../realtime/contract.ts';
import { createMessageQueue, toClientOfEvent } from '../realtime/library.ts';
import { Authentication } from './authentication.ts';
import { handleItemsMessage } from './items-message.ts';
import {
  assertMessage,
  type ClientMessage,
  logFailedMessage,
  type MessageError,
  parseMessage,
  renderError,
  renderMessage,
  toMessageError,
} from './messages.ts';
import type { RestTransportDeps } from './rest-transport.ts';
import { ClientSubscriptions } from './subscriptions.ts';

/** The close code of a client that the service drops. */
const TRY_AGAIN_LATER = 1013;
/** Codes of failures that are about the credentials of a client. */
const CREDENTIAL_CODES: ReadonlySet<string> = new Set([
  'INVALID_CREDENTIALS',
  'USER_SUSPENDED',
  'INVALID_IP',
  'INVALID_TOKEN',
]);

/** One client of the socket: reads its messages one after the other and answers each. */
export class RestConnection {
  readonly #deps: RestTransportDeps;
  readonly #client: RealtimeClient;
  readonly #socket: RealtimeSocket;
  readonly #authentication: Authentication;
  readonly #subscriptions: ClientSubscriptions;
  /** Created for the first message that waits for a statement while the client leaves. */
  #abortion: AbortController | undefined;
  #hasLeft = false;
  /** Resolves when the operating system has the last text that was sent. */
  #sent = Promise.resolve();

  constructor(deps: RestTransportDeps, client: RealtimeClient, socket: RealtimeSocket) {
    this.#deps = deps;
    this.#client = client;
    this.#socket = socket;
    const send = (text: string | Buffer) => this.#send(text);
    this.#authentication = new Authentication({
      ...{ client, send, log: deps.log, mode: deps.authentication, timeout: deps.authTimeout },
      close: () => socket.close(),
      onResult: (isSuccess) => this.#emitAuth(isSuccess),
    });
    this.#subscriptions = new ClientSubscriptions(deps, client, send);
    const queue = createMessageQueue(client, (text) => this.#handle(text));
    socket.onMessage((text) => {
      if (!queue.push(text))
        this.#sendError('server', { code: 'REQUESTS_EXCEEDED', message: 'Too many messages wait for their answers.' });
    });
    socket.onRefused((failure) => this.#sendError('server', toMessageError(failure)));
    socket.onHeartbeat(() => {
      // A client that is about to authenticate waits for that answer and for no other message.
      if (!this.#authentication.isAwaited) send('{"type":"ping"}');
    });
    socket.onClose(() => {
      this.#authentication.stop();
      this.#hasLeft = true;
      this.#abortion?.abort(new Error('the client has left'));
    });
  }

  /** The service ends the client. */
  drop(failure: Failure): void {
    const isRefused = CREDENTIAL_CODES.has(failure.code);
    if (isRefused) this.#sendError('auth', { code: 'AUTH_FAILED', message: failure.message });
    if (isRefused) this.#socket.close();
    else this.#socket.close(TRY_AGAIN_LATER, failure.code);
  }

  async #handle(text: string): Promise<void> {
    // A client that does not read what it has gets no further answer, which would wait in memory.
    if (!this.#socket.isReady) await this.#sent;
    let message: ClientMessage;
    try {
      message = parseMessage(text);
    } catch (error) {
      this.#sendError('server', toMessageError(error));
      if (this.#authentication.isAwaited) this.#authentication.refuse(undefined);
      return;
    }
    if (this.#authentication.isAwaited && message.type !== 'auth') return this.#authentication.refuse(message.uid);
    // Statements of a client that has left are cancelled.
    const signal = () => this.#leaveSignal();
    const scope = {
      id: this.#client.id,
      get signal() {
        return signal();
      },
    };
    await requestScope.run(scope, () => this.#answer(message));
  }

  #leaveSignal(): AbortSignal {
    this.#abortion ??= new AbortController();
    if (this.#hasLeft) this.#abortion.abort(new Error('the client has left'));
    return this.#abortion.signal;
  }

  async #answer(received: ClientMessage): Promise<void> {
    const { isAuthenticated } = this.#client;
    let admin = false;
    try {
      let message = received;
      // Credentials are for listeners of `websocket.authenticate` alone.
      if (received.type !== 'auth') {
        const caller = await this.#client.caller();
        ({ admin } = caller);
        message = await this.#filter(received, caller);
      }
      await this.#dispatch(message);
      await this.#emitMessage(message);
    } catch (error) {
      logFailedMessage(this.#deps.log, error);
      this.#sendError(received.type, toMessageError(error, { admin }), received.uid);
      if (isAuthenticated && !this.#client.isAuthenticated) this.#dropRefused(error);
    }
  }

  /** Ends a client whose credentials were refused while its message was handled. One whose token has expired may send another. */
  #dropRefused(error: unknown): void {
    if (!(error instanceof Failure) || !CREDENTIAL_CODES.has(error.code)) return;
    this.#client.close();
    this.drop(error);
  }

  async #dispatch(message: ClientMessage): Promise<void> {
    switch (message.type) {
      case 'auth':
        return this.#authentication.handle(message);
      case 'ping':
        return this.#send(renderMessage({ type: 'pong' }, {}, message.uid));
      case 'subscribe':
        return this.#subscriptions.subscribe(message);
      case 'unsubscribe':
        return this.#subscriptions.unsubscribe(message);
      case 'items':
        return this.#send(await handleItemsMessage(this.#deps, await this.#client.caller(), message));
      // `pong` needs no answer, and other types may be those of extensions.
    }
  }

  async #filter(message: ClientMessage, caller: Caller): Promise<ClientMessage> {
    const { events } = this.#deps;
    const client = toClientOfEvent(this.#client, this.#socket);
    return assertMessage(await events.filter(['websocket.message'], message, { caller, client }));
  }

  async #emitMessage(message: ClientMessage): Promise<void> {
    const { events } = this.#deps;
    // A message with credentials has its own events.
    if (message.type === 'auth') return;
    const caller = await this.#client.caller();
    events.action(['websocket.message'], { caller, message, client: toClientOfEvent(this.#client, this.#socket) });
  }

  async #emitAuth(isSuccess: boolean): Promise<void> {
    const { events } = this.#deps;
    const name = `websocket.auth.${isSuccess ? 'success' : 'failure'}`;
    const caller = await this.#client.caller();
    events.action([name], { caller, client: toClientOfEvent(this.#client, this.#socket) });
  }

  #sendError(type: string, error: MessageError, uid?: string | number): void {
    this.#send(renderError(type, error, uid));
  }

  #send(text: string | Buffer): void {
    this.#sent = this.#socket.send(text);
  }
}
