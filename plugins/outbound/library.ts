export type { AddressRange } from './ranges.ts';
export { AddressListError, isWithin, networkOf, parseAddress, parseRange } from './ranges.ts';
