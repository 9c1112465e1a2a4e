import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createSemaphore } from '../workers/library.ts';
import { OutboundFailure } from './failure.ts';

export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

/** Concurrent lookups. Each blocks one of the few threads that files and passwords also need. */
const MAX_LOOKUPS = 2;
/** Milliseconds for which a name that could not be resolved is not looked up again. */
const RETRY_DELAY_MS = 2_000;

/**
 * Resolves names as the operating system does, with every address. Concurrent requests for one name share one lookup. A
 * name server that never answers delays lookups only.
 */
export function createHostResolver(
  find: ResolveHost = lookUpHost,
  now: () => number = () => performance.now(),
): ResolveHost {
  const running = new Map<string, ReturnType<ResolveHost>>();
  const failed = new Map<string, number>();
  const lookups = createSemaphore({ limit: MAX_LOOKUPS });

  async function once(host: string): ReturnType<ResolveHost> {
    try {
      return await lookups.run(() => find(host));
    } catch (error) {
      failed.set(host, now() + RETRY_DELAY_MS);
      throw error;
    } finally {
      running.delete(host);
    }
  }

  return (host) => {
    for (const [name, until] of failed) if (until <= now()) failed.delete(name);
    if (failed.has(host)) return Promise.reject(new OutboundFailure('unreachable'));
    const found = running.get(host) ?? once(host);
    running.set(host, found);
    return found;
  };
}

const lookUpHost: ResolveHost = (host) => lookup(host, { all: true, verbatim: true });

/**
 * Resolves the host of a URL. The name is resolved once and the connection uses these addresses, so that a second DNS
 * answer cannot change the target. One denied address is enough to refuse the name.
 */
export async function resolveAllowedAddresses(
  host: string,
  policy: (address: string) => boolean,
  resolve: ResolveHost,
): Promise<readonly LookupAddress[]> {
  // A trailing dot is another spelling of the host, which no list of hosts contains.
  if (host === '' || host.endsWith('.')) throw new OutboundFailure('denied');
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  const family = isIP(literal);
  const addresses = family > 0 ? [{ address: literal, family }] : await resolve(host).catch(throwUnreachable);
  if (addresses.length === 0) throw new OutboundFailure('unreachable');
  if (!addresses.every(({ address }) => policy(address))) throw new OutboundFailure('denied');
  return addresses;
}

const throwUnreachable = (): never => {
  throw new OutboundFailure('unreachable');
};
