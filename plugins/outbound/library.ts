export type { AddressRange } from './address-ranges.ts';
export { AddressListError, isInRanges, parseAddress, parseRange, toClientNetwork } from './address-ranges.ts';
