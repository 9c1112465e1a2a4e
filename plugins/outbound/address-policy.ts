import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { type IpAddress, isInRanges, parseIpAddress, parseIpRange } from './address-ranges.ts';

/**
 * Decides whether an address may be connected to. `reach: 'private'` also allows private networks. False for a text
 * that is no address.
 */
export type OutboundAddressPolicy = (address: string, reach?: 'private') => boolean;

/** Stands for the addresses of this machine's own interfaces (configuration, IMPORT_IP_DENY_LIST). */
const OWN_INTERFACES = '0.0.0.0';

/** Addresses in public or private ranges that the cloud platform of the machine answers. */
const PLATFORM_ADDRESSES = ['168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'];

/**
 * Creates the policy: public addresses only. It excludes loopback, private, link-local, unique-local, shared,
 * multicast, reserved and test ranges, and this machine's own addresses. `denied` adds ranges, and `allowed` wins over
 * everything else. With the reach `private` private and unique-local addresses are not excluded.
 */
export function createOutboundAddressPolicy(
  denied: readonly string[],
  allowed: readonly string[],
): OutboundAddressPolicy {
  // Own interfaces are always denied, so this entry needs no range.
  const never = [...PLATFORM_ADDRESSES, ...denied.filter((entry) => entry !== OWN_INTERFACES)].map(parseIpRange);
  const always = allowed.map(parseIpRange);
  return (text, reach) => {
    const address = parseIpAddress(text);
    if (!address) return false;
    if (isInRanges(address, always)) return true;
    // Both the NAT64 address and the IPv4 address behind it must be allowed.
    const candidates = [address, ...listEmbeddedIpv4(address)];
    const isReachable = (one: IpAddress) => isPublic(one) || (reach === 'private' && isPrivate(one));
    return candidates.every((one) => isReachable(one) && !isInRanges(one, never) && !isOwnInterface(one));
  };
}

const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/**
 * Whether an address is public. Of IPv6 only global unicast and NAT64 addresses are; other forms that embed IPv4 are
 * outside of them or excluded by range.
 */
function isPublic(address: IpAddress): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  return address.match(NAT64, 96) || (address.match(GLOBAL_UNICAST, 3) && address.range() === 'unicast');
}

const isPrivate = (address: IpAddress): boolean => ['private', 'uniqueLocal'].includes(address.range());

/** The IPv4 address behind a NAT64 one, which networks without IPv4 use for public addresses too. */
const listEmbeddedIpv4 = (address: IpAddress): readonly IpAddress[] =>
  address instanceof ipaddr.IPv6 && address.match(NAT64, 96) ? [new ipaddr.IPv4(address.toByteArray().slice(12))] : [];

/** Whether the address belongs to this machine. The interfaces are read for each check, since they change. */
function isOwnInterface(address: IpAddress): boolean {
  const text = address.toString();
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => parseIpAddress(one.address)?.toString() === text),
  );
}
