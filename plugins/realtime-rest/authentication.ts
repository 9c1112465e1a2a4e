import { Failure, type Log } from '#kernel';
import type { ClientCredentials, RealtimeClient, SocketAuthentication } from '../realtime/contract.ts';
import {
  type ClientMessage,
  logFailedMessage,
  type MessageError,
  MessageRefusal,
  renderError,
  renderMessage,
} from './messages.ts';

interface Options {
  readonly client: RealtimeClient;
  readonly log: Log;
  readonly mode: SocketAuthentication;
  /** Milliseconds. */
  readonly timeout: number;
  send(text: string): void;
  close(): void;
  onResult(isSuccess: boolean): Promise<void>;
}

/** What a client has to do to be known, and how long it may take (conventions, "Authentication modes"). */
export class Authentication {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;
  #isAwaited: boolean;

  constructor(options: Options) {
    this.#options = options;
    const { client, mode } = options;
    this.#isAwaited = mode === 'handshake' && !client.isAuthenticated;
    if (this.#isAwaited) this.#startTimer();
    client.onExpired(() => {
      this.#sendError({ code: 'TOKEN_EXPIRED', message: 'Token expired.' });
      this.#startTimer();
    });
  }

  /** Whether the next message has to authenticate. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** Answers a message `auth`. */
  async handle(message: ClientMessage): Promise<void> {
    const { client, log, mode, send, close, onResult } = this.#options;
    try {
      const isNamed = await client.authenticateByListeners(message);
      const { refreshToken } = isNamed ? {} : await client.authenticate(parseCredentials(message));
      this.stop();
      this.#isAwaited = false;
      const token = refreshToken === undefined ? {} : { refresh_token: refreshToken };
      send(renderMessage({ type: 'auth', status: 'ok', ...token }, {}, message.uid));
      await onResult(true).catch(() => {});
    } catch (error) {
      logFailedMessage(log, error);
      this.#sendError({ code: codeOf(error), message: textOf(error) }, message.uid);
      await onResult(false).catch(() => {});
      if (mode !== 'public') close();
    }
  }

  /** The first message of a handshake was another one. */
  refuse(uid: string | number | undefined): void {
    this.#sendError({ code: 'AUTH_FAILED', message: 'The first message must be "auth".' }, uid);
    this.#options.close();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#sendError({ code: 'AUTH_TIMEOUT', message: 'Authentication took too long.' });
      if (this.#options.mode !== 'public') this.#options.close();
    }, this.#options.timeout).unref();
  }

  #sendError(error: MessageError, uid?: string | number): void {
    this.#options.send(renderError('auth', error, uid));
  }
}

/** Codes that say nothing about the credentials: the client may try again later. */
const LATER_CODES: readonly string[] = ['SERVICE_UNAVAILABLE', 'REQUESTS_EXCEEDED'];

function codeOf(error: unknown): string {
  if (error instanceof MessageRefusal) return error.code;
  return error instanceof Failure && LATER_CODES.includes(error.code) ? error.code : 'AUTH_FAILED';
}

/** What a client may read of a failed sign-in: the fixed texts of failures, never an unexpected error. */
const textOf = (error: unknown): string =>
  error instanceof MessageRefusal || (error instanceof Failure && error.code !== 'INTERNAL_SERVER_ERROR')
    ? error.message
    : 'Authentication failed.';

/** @throws MessageRefusal */
function parseCredentials({ access_token, refresh_token, email, password, otp }: ClientMessage): ClientCredentials {
  if (typeof access_token === 'string' && access_token !== '') return { token: access_token };
  if (typeof refresh_token === 'string' && refresh_token !== '') return { refreshToken: refresh_token };
  if (typeof email === 'string' && typeof password === 'string')
    return { email, password, ...(typeof otp === 'string' ? { otp } : {}) };
  throw new MessageRefusal('INVALID_PAYLOAD', '"auth" needs access_token, refresh_token, or email and password.');
}
