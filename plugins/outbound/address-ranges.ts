import ipaddr from 'ipaddr.js';

/** A parsed address. An IPv4-mapped IPv6 address (`::ffff:1.2.3.4`) is the IPv4 address. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** All addresses of one kind from `first` to `last`. */
export interface AddressRange {
  readonly kind: 'ipv4' | 'ipv6';
  readonly first: bigint;
  readonly last: bigint;
}

/** The text is neither an address nor an address range. */
export class InvalidIpRangeError extends Error {}

/** Parses an address; undefined where the text is none. A zone (`fe80::1%eth0`) is ignored. */
export function parseIpAddress(text: string): IpAddress | undefined {
  const [plain = ''] = text.split('%', 1);
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain);
  if (!/^[0-9a-f.]*:[0-9a-f:.]*$/i.test(plain) || !URL.canParse(`http://[${plain}]`)) return undefined;
  // ipaddr.js reads `::1.2.3.4` as a mapped address. Without dots it is read as the operating system does.
  return ipaddr.process(new URL(`http://[${plain}]`).hostname.slice(1, -1));
}

/**
 * Parses `10.0.0.1`, `10.0.0.0/8`, `10.0.0.1-10.0.0.9`, and the same of IPv6.
 * @throws InvalidIpRangeError
 */
export function parseIpRange(entry: string): AddressRange {
  const range = entry.includes('-') ? parseBounds(entry) : parsePrefix(entry);
  if (range) return range;
  throw new InvalidIpRangeError(
    `"${entry.slice(0, 60)}" is neither an IP address nor a range such as 10.0.0.0/8 or 10.0.0.1-10.0.0.9`,
  );
}

function parseBounds(entry: string): AddressRange | undefined {
  const [first, last, ...rest] = entry.split('-').map((text) => parseIpAddress(text.trim()));
  if (!first || !last || rest.length > 0 || first.kind() !== last.kind()) return undefined;
  const range = { kind: first.kind(), first: toNumber(first), last: toNumber(last) };
  return range.first <= range.last ? range : undefined;
}

function parsePrefix(entry: string): AddressRange | undefined {
  const [start = '', bits, ...rest] = entry.split('/');
  const address = parseIpAddress(start);
  if (!address || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const written = start.includes(':') ? 128 : 32;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  // Of a mapped address only the prefix within the IPv4 part counts.
  const prefix = (bits === undefined ? written : Number(bits)) - (written - width);
  if (prefix < 0 || prefix > width) return undefined;
  const host = (1n << BigInt(width - prefix)) - 1n;
  const last = toNumber(address) | host;
  return { kind: address.kind(), first: last - host, last };
}

/** Whether the address is in one of the ranges. */
export function isInRanges(address: IpAddress, ranges: readonly AddressRange[]): boolean {
  const number = toNumber(address);
  return ranges.some(({ kind, first, last }) => kind === address.kind() && first <= number && number <= last);
}

const toNumber = (address: IpAddress): bigint =>
  address.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** Bytes of an IPv6 prefix that counts as one client, since a client can use any address of its /64 network. */
const CLIENT_PREFIX = 8;

/**
 * The key of limits per client: the IPv4 address, or the /64 network of an IPv6 address; `unknown` for a text that is
 * no address.
 */
export function toClientNetworkKey(text: string | null | undefined): string {
  const address = parseIpAddress(text ?? '');
  if (!address) return 'unknown';
  if (address.kind() === 'ipv4') return address.toString();
  return `${Buffer.from(address.toByteArray().slice(0, CLIENT_PREFIX)).toString('hex')}/64`;
}
