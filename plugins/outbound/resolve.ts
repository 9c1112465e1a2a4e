import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Policy } from './addresses.ts';
import { OutboundFailure } from './failure.ts';

export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** As the machine resolves names, every address of it. */
export const resolveName: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/**
 * The addresses of a URL's host. Asked once, and what is answered is what is connected to, so that no second answer can
 * lead elsewhere. One address that may not be connected to is enough to refuse the name.
 */
export async function checkedAddresses(
  host: string,
  policy: Policy,
  resolve: Resolve,
): Promise<readonly LookupAddress[]> {
  // With the dot it is the same host under another name, which no list of hosts has.
  if (host === '' || host.endsWith('.')) throw new OutboundFailure('denied');
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  const family = isIP(literal);
  const addresses = family > 0 ? [{ address: literal, family }] : await resolve(host).catch(unresolved);
  if (addresses.length === 0) throw new OutboundFailure('unreachable');
  if (!addresses.every(({ address }) => policy(address))) throw new OutboundFailure('denied');
  return addresses;
}

const unresolved = (): never => {
  throw new OutboundFailure('unreachable');
};
