export type { AddressRange } from './address-ranges.ts';
export { AddressListError, isInRanges, parseIpAddress, parseIpRange, toClientNetwork } from './address-ranges.ts';
