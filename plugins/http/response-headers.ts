import { crc32 } from 'node:zlib';
import type { Context } from 'koa';
import { allowsFrames, type PolicyAdditions } from './content-security-policy.ts';
import type { HttpConfig, RequestSettings } from './settings.ts';

/** Headers of every response. A handler whose content a browser displays replaces those that do not fit. */
export const createDefaultHeaders = (
  config: HttpConfig,
  { policyAdditions, withPolicyAdditions }: Pick<RequestSettings, 'policyAdditions' | 'withPolicyAdditions'>,
): ReadonlyMap<string, string> =>
  new Map([
    ['Cache-Control', 'no-cache'],
    ['Vary', 'Origin, Cache-Control'],
    ['X-Content-Type-Options', 'nosniff'],
    ...frameOptions(policyAdditions),
    ['Referrer-Policy', 'no-referrer'],
    ['Content-Security-Policy', withPolicyAdditions("default-src 'none'; frame-ancestors 'none'")],
    ...(config.CROSS_ORIGIN_OPENER_POLICY_ENABLED
      ? [['Cross-Origin-Opener-Policy', config.CROSS_ORIGIN_OPENER_POLICY] as const]
      : []),
    ...(config.HSTS_ENABLED ? [['Strict-Transport-Security', renderTransportSecurity(config)] as const] : []),
  ]);

/** A header for browsers that know no `frame-ancestors`. It can name no site, so it is left out where one may show frames. */
const frameOptions = (additions: PolicyAdditions): readonly (readonly [string, string])[] =>
  allowsFrames(additions) ? [] : [['X-Frame-Options', 'DENY']];

const renderTransportSecurity = (config: HttpConfig): string =>
  [
    `max-age=${Math.floor(config.HSTS_MAX_AGE / 1000)}`,
    ...(config.HSTS_INCLUDE_SUB_DOMAINS ? ['includeSubDomains'] : []),
    ...(config.HSTS_PRELOAD ? ['preload'] : []),
  ].join('; ');

/** Sets the policy of a page, with the sources that an admin adds to policies. */
export function setContentSecurityPolicy(
  ctx: {
    readonly state: { readonly settings?: RequestSettings };
    set(name: string, value: string): void;
    remove(name: string): void;
  },
  policy: string,
): void {
  const { settings } = ctx.state;
  ctx.set('Content-Security-Policy', settings?.withPolicyAdditions(policy) ?? policy);
  if (settings && allowsFrames(settings.policyAdditions)) ctx.remove('X-Frame-Options');
}

/** Sets an entity tag on JSON, and answers 304 to a client that already has it. */
export function answerNotModified(ctx: Context): void {
  const { body } = ctx;
  if (typeof body !== 'string' || ctx.status !== 200 || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return;
  if (!ctx.res.hasHeader('ETag')) ctx.res.setHeader('ETag', entityTagOf(body));
  if (ctx.req.headers['if-none-match'] !== undefined && ctx.fresh) ctx.status = 304;
}

/** The entity tag of a body of JSON: weak, since the bytes may be compressed on the way. */
export const entityTagOf = (body: string): string => `W/"${body.length.toString(36)}-${crc32(body).toString(36)}"`;
