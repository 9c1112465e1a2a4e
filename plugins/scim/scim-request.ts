import type { Caller } from '#kernel';
import { isUuid } from '../database/library.ts';
import type { ScimProvider } from './providers.ts';
import { scimFailure } from './scim-error.ts';

/** A request of an identity provider whose token has been verified. */
export interface ScimRequest {
  readonly provider: ScimProvider;
  /** Acts for the provider: its origin, in the activity, is `scim:<provider>`. */
  readonly caller: Caller;
  /** The address below which the service answers SCIM, without a slash at its end. */
  readonly base: string;
  /** The header `If-Match`; undefined without one. */
  readonly ifMatch: string | undefined;
}

/** Refuses a change of another state of a resource than the client knows (RFC 7644, section 3.14). @throws 412 */
export function assertVersion({ ifMatch }: ScimRequest, version: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const known = ifMatch.split(',').map((one) => one.trim().replace(/^W\//i, '').replaceAll('"', ''));
  if (!known.includes(version)) throw scimFailure(412, 'The resource has changed since this version.');
}

export const isId = (text: unknown): text is string => typeof text === 'string' && isUuid(text);

/** The key of a resource in a path. @throws 404 for what is no key */
export function parseId(text: string | undefined): string {
  if (!isId(text)) throw notFound(text);
  return text.toLowerCase();
}

export const notFound = (id: string | undefined) => scimFailure(404, `There is no resource ${id?.slice(0, 100)}.`);
