import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createSemaphore } from '../workers/library.ts';
import { OutboundFailure } from './failure.ts';

export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

/** Names that are looked up at a time: each keeps one of the few threads busy that files and passwords need as well. */
const MAX_LOOKUPS = 2;
/** For so long a name that could not be resolved is not looked up again. Milliseconds. */
const RETRY_DELAY_MS = 2_000;

/**
 * As the machine resolves names, every address of it. A name is looked up once for all who ask for it at the same time; a
 * server of names that never answers holds up nobody but those who ask for names.
 */
export function createResolver(
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
 * The addresses of a URL's host. Asked once, and what is answered is what is connected to, so that no second answer can
 * lead elsewhere. One address that may not be connected to is enough to refuse the name.
 */
export async function resolveAllowedAddresses(
  host: string,
  policy: (address: string) => boolean,
  resolve: ResolveHost,
): Promise<readonly LookupAddress[]> {
  // With the dot it is the same host under another name, which no list of hosts has.
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
