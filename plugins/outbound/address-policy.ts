import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { type Address, isWithin, parseAddress, parseRange } from './address-ranges.ts';

/** May this address be connected to, also where it is one of a private network? False for everything that is no address. */
export type AddressPolicy = (address: string, reach?: 'private') => boolean;

/** Stands for the addresses of this machine's own interfaces (configuration, IMPORT_IP_DENY_LIST). */
const OWN_INTERFACES = '0.0.0.0';

/** Public or private by number, but answered by the machine's own platform. */
const PLATFORM_ADDRESSES = ['168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'];

/**
 * Only public addresses, by exclusion of everything else: loopback, private, link-local, unique-local, shared, multicast,
 * reserved, and test ranges, and this machine's own. `denied` adds to that, `allowed` takes from it and wins over both. With
 * the reach `private` private and unique-local ones are not excluded.
 */
export function createAddressPolicy(denied: readonly string[], allowed: readonly string[]): AddressPolicy {
  // Own interfaces are denied in any case.
  const never = [...PLATFORM_ADDRESSES, ...denied.filter((entry) => entry !== OWN_INTERFACES)].map(parseRange);
  const always = allowed.map(parseRange);
  return (text, reach) => {
    const address = parseAddress(text);
    if (!address) return false;
    if (isWithin(address, always)) return true;
    // What is reached through a translator is denied as well as the address that stands for it.
    const candidates = [address, ...listEmbeddedIpv4(address)];
    const isReachable = (one: Address) => isPublic(one) || (reach === 'private' && isPrivate(one));
    return candidates.every((one) => isReachable(one) && !isWithin(one, never) && !isOwnInterface(one));
  };
}

const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/** Of IPv6 only what is given out as public: what carries IPv4 in another way than by NAT64 is outside of it, or excluded by name. */
function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  return address.match(NAT64, 96) || (address.match(GLOBAL_UNICAST, 3) && address.range() === 'unicast');
}

const isPrivate = (address: Address): boolean => ['private', 'uniqueLocal'].includes(address.range());

/** The IPv4 address behind a NAT64 one, which networks without IPv4 use for public addresses too. */
const listEmbeddedIpv4 = (address: Address): readonly Address[] =>
  address instanceof ipaddr.IPv6 && address.match(NAT64, 96) ? [new ipaddr.IPv4(address.toByteArray().slice(12))] : [];

/** Asked each time: interfaces come and go. */
function isOwnInterface(address: Address): boolean {
  const text = address.toString();
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => parseAddress(one.address)?.toString() === text),
  );
}
