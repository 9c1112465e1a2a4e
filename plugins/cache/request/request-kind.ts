import type { RequestContext } from './request-context.ts';

/** What a request may be to the cache of answers. */
export type RequestKind =
  /** A read whose answer may be stored. */
  | 'read'
  /** A request that may change rows: it is answered when every process has forgotten what it changed. */
  | 'write'
  /** Passes by. */
  | 'other';

const GRAPHQL_PATHS: ReadonlySet<string> = new Set(['/graphql', '/graphql/system']);
/** A document without this word has no mutation. */
const MUTATION = /\bmutation\b/;
const METHODS_OF_READS: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS', 'SEARCH']);

export const isGraphqlPath = (path: string): boolean => GRAPHQL_PATHS.has(path);

/** The kind of a request by its method; GraphQL documents by POST are looked at first (`isQueryDocument`). */
export function requestKindOf(ctx: RequestContext, isSkipAllowed: boolean): RequestKind {
  if (METHODS_OF_READS.has(ctx.method)) return 'other';
  if (ctx.method !== 'GET') return 'write';
  const { 'cache-control': control, 'content-length': length, 'transfer-encoding': transfer } = ctx.req.headers;
  // A GET with a body is rare, and its body is not part of the key.
  if (length !== undefined || transfer !== undefined) return 'other';
  return isSkipAllowed && isNoStore(control) ? 'other' : 'read';
}

export const isNoStore = (control: string | undefined): boolean => control?.toLowerCase().includes('no-store') === true;

/** Whether the body of a GraphQL request by POST has a document without a mutation. */
export function isQueryDocument(body: unknown): boolean {
  const { query } = (typeof body === 'object' && body !== null ? body : {}) as { readonly query?: unknown };
  return typeof query === 'string' && !MUTATION.test(query);
}
