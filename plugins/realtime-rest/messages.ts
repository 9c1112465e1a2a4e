import { errorEnvelope, type Log } from '#kernel';
import { logUnexpectedError } from '../realtime/library.ts';

/** A parsed message of a client: an object with a type. `uid` is echoed in every answer to it. */
export interface ClientMessage {
  readonly type: string;
  readonly uid: string | number | undefined;
  readonly [member: string]: unknown;
}

/** Characters of a `uid`, which is kept with its subscription. */
const MAX_UID_LENGTH = 256;

/** What the socket says of an error. */
export interface MessageError {
  readonly code: string;
  readonly message: string;
}

/** A message that cannot be answered as what it says it is. */
export class MessageRefusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws MessageRefusal with INVALID_PAYLOAD */
export function parseMessage(text: string): ClientMessage {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw new MessageRefusal('INVALID_PAYLOAD', 'The message is not JSON.');
  }
  return assertMessage(message);
}

/** @throws MessageRefusal with INVALID_PAYLOAD */
export function assertMessage(message: unknown): ClientMessage {
  if (!isRecord(message) || typeof message.type !== 'string')
    throw new MessageRefusal('INVALID_PAYLOAD', 'A message is an object with a "type".');
  const { uid } = message;
  if (uid !== undefined && uid !== null && typeof uid !== 'string' && typeof uid !== 'number')
    throw new MessageRefusal('INVALID_PAYLOAD', '"uid" must be a text or a number.');
  if (typeof uid === 'string' && uid.length > MAX_UID_LENGTH)
    throw new MessageRefusal('INVALID_PAYLOAD', `"uid" has more than ${MAX_UID_LENGTH} characters.`);
  return { ...message, type: message.type, uid: uid ?? undefined };
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The error as clients may see it. Unexpected errors show their text to admins only. */
export function toMessageError(error: unknown, reader: { readonly admin: boolean } = { admin: false }): MessageError {
  if (error instanceof MessageRefusal) return { code: error.code, message: error.message };
  const [first] = errorEnvelope(error, reader).body.errors;
  return { code: String(first?.extensions.code), message: first?.message ?? '' };
}

/** Logs what a message caused, but for what is wrong with the message itself. */
export function logFailedMessage(log: Log, error: unknown): void {
  if (!(error instanceof MessageRefusal)) logUnexpectedError(log, error, 'a message of a socket failed');
}

/** The text of an answer. `parts` are JSON texts by member, which are not parsed. */
export function renderMessage(
  members: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, string | null | undefined>> = {},
  uid?: string | number,
): string {
  const texts = Object.entries(parts).flatMap(([name, text]) =>
    text === undefined || text === null ? [] : `"${name}":${text}`,
  );
  const end = uid === undefined ? [] : [`"uid":${JSON.stringify(uid)}`];
  return `{${[JSON.stringify(members).slice(1, -1), ...texts, ...end].join()}}`;
}

export const renderError = (type: string, error: MessageError, uid?: string | number): string =>
  renderMessage({ type, status: 'error', error }, {}, uid);
