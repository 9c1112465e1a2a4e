/** Refusals for names that nothing has. */
export { absent, absentCollection } from './absent.ts';
/** What `/collections`, `/fields` and `/relations` show of parts of an overview. */
export { isMadeByDatabase, isRange, isSearchVector } from './column-kinds.ts';
export { isPlaceOfRow } from './overview/keys.ts';
export { collectionRecord, fieldRecord, relationRecord } from './records.ts';
