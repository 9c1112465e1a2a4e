import { hash } from 'node:crypto';
import type { Caller } from '#kernel';
import type { AnswerScope } from './answer-collector.ts';

/** The keys under which the answer to one request may be stored, by who may share it. */
export type AnswerKeys = Readonly<Record<AnswerScope, string>>;

/** Everything that an answer depends on beside the rows. */
export interface AnswerKeyParts {
  readonly method: string;
  readonly path: string;
  /** See `normalizeQueryString`. */
  readonly query: string;
  /** The media type that was negotiated; empty where the route has one. */
  readonly mediaType: string;
  /** The headers as JSON, where the route says that its answer depends on them; empty otherwise. */
  readonly headers: string;
  /** The address of the client under the same condition, which such an answer may depend on too; empty otherwise. */
  readonly address: string;
  /** The JSON text of the body; empty without one. */
  readonly body: string;
  readonly schemaVersion: string;
  /** `PermissionSet.digest`. */
  readonly permissions: string;
  readonly caller: Pick<Caller, 'user' | 'role' | 'share'>;
}

/** A hash, so that keys are short whatever a client sends, and hold no text of it. No part has a line break. */
export function createAnswerKeys(parts: AnswerKeyParts): AnswerKeys {
  const { user, role, share } = parts.caller;
  const shared = hash(
    'sha256',
    [
      parts.method,
      parts.path,
      parts.query,
      parts.mediaType,
      parts.schemaVersion,
      parts.permissions,
      share ?? '',
      parts.headers,
      parts.address,
      parts.body,
    ].join('\n'),
    'base64url',
  );
  return { shared, role: `${shared}.${role ?? ''}`, user: `${shared}.${role ?? ''}.${user ?? ''}` };
}

/** The scopes in the order in which a stored answer is looked for. */
export const ANSWER_SCOPES = ['shared', 'role', 'user'] as const satisfies readonly AnswerScope[];
