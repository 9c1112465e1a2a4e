export type { AddressRange } from './address-ranges.ts';
export { AddressListError, isWithin, networkOf, parseAddress, parseRange } from './address-ranges.ts';
