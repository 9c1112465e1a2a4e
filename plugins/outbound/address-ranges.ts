import ipaddr from 'ipaddr.js';

/** An address by number. An IPv4 address that is written as an IPv6 one (`::ffff:1.2.3.4`) is the IPv4 address. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** All addresses of one kind from `first` to `last`. */
export interface AddressRange {
  readonly kind: 'ipv4' | 'ipv6';
  readonly first: bigint;
  readonly last: bigint;
}

/** The text is neither an address nor a range of addresses. */
export class AddressListError extends Error {}

/** Undefined for what is no address. A zone (`fe80::1%eth0`) is left out. */
export function parseAddress(text: string): Address | undefined {
  const [plain = ''] = text.split('%', 1);
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain);
  if (!/^[0-9a-f.]*:[0-9a-f:.]*$/i.test(plain) || !URL.canParse(`http://[${plain}]`)) return undefined;
  // The library takes `::1.2.3.4` for a mapped address; without dots it is what the system takes it for.
  return ipaddr.process(new URL(`http://[${plain}]`).hostname.slice(1, -1));
}

/**
 * Reads `10.0.0.1`, `10.0.0.0/8`, `10.0.0.1-10.0.0.9`, and the same of IPv6.
 * @throws AddressListError
 */
export function parseRange(entry: string): AddressRange {
  const range = entry.includes('-') ? parseBounds(entry) : parsePrefix(entry);
  if (range) return range;
  throw new AddressListError(
    `"${entry.slice(0, 60)}" is neither an IP address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9`,
  );
}

function parseBounds(entry: string): AddressRange | undefined {
  const [first, last, ...rest] = entry.split('-').map((text) => parseAddress(text.trim()));
  if (!first || !last || rest.length > 0 || first.kind() !== last.kind()) return undefined;
  const range = { kind: first.kind(), first: toNumber(first), last: toNumber(last) };
  return range.first <= range.last ? range : undefined;
}

function parsePrefix(entry: string): AddressRange | undefined {
  const [start = '', bits, ...rest] = entry.split('/');
  const address = parseAddress(start);
  if (!address || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const written = start.includes(':') ? 128 : 32;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  // Of a mapped address only the part counts that is the IPv4 address.
  const prefix = (bits === undefined ? written : Number(bits)) - (written - width);
  if (prefix < 0 || prefix > width) return undefined;
  const host = (1n << BigInt(width - prefix)) - 1n;
  const last = toNumber(address) | host;
  return { kind: address.kind(), first: last - host, last };
}

/** False where the address is in none of the ranges. */
export function isWithin(address: Address, ranges: readonly AddressRange[]): boolean {
  const number = toNumber(address);
  return ranges.some(({ kind, first, last }) => kind === address.kind() && first <= number && number <= last);
}

const toNumber = (address: Address): bigint =>
  address.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** IPv6 addresses of one network are one client: a client has as many of them as it wants. */
const CLIENT_PREFIX = 8;

/**
 * What limits for each client go by: the IPv4 address, or the /64 network of an IPv6 address; `unknown` for what is no address.
 */
export function networkOf(text: string | null | undefined): string {
  const address = parseAddress(text ?? '');
  if (!address) return 'unknown';
  if (address.kind() === 'ipv4') return address.toString();
  return `${Buffer.from(address.toByteArray().slice(0, CLIENT_PREFIX)).toString('hex')}/64`;
}
