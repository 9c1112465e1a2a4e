export type { AddressRange } from './address-ranges.ts';
export { InvalidIpRangeError, isInRanges, parseIpAddress, parseIpRange, toClientNetworkKey } from './address-ranges.ts';
