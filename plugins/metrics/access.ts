import { createHash, timingSafeEqual } from 'node:crypto';
import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Creates the check of requests for metrics: admins, and `Authorization: Metrics <token>` with one of the tokens.
 * @throws by its result: INVALID_TOKEN for another token, FORBIDDEN for all others.
 */
export function createMetricsAccessCheck(tokens: readonly string[]): (ctx: HttpContext) => void {
  // Digests have one length, and their comparison takes as long for each token.
  const digests = tokens.map(digestOf);
  return (ctx) => {
    if (ctx.state.caller.admin) return;
    const [, token] = /^metrics +(\S+)$/i.exec(ctx.req.headers.authorization ?? '') ?? [];
    if (token === undefined) throw fail('FORBIDDEN', 'Metrics are for admins, and for a token of METRICS_TOKENS.');
    const digest = digestOf(token);
    const matches = digests.map((one) => timingSafeEqual(one, digest));
    if (!matches.includes(true)) throw fail('INVALID_TOKEN', 'The token is not one of METRICS_TOKENS.');
  };
}
