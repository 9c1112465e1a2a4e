/** Refusals for names that nothing has. */

/** What `/collections`, `/fields` and `/relations` show of parts of a schema snapshot. */
export { isMadeByDatabase, isRange, isSearchVector } from './column-kinds.ts';
export { absentCollection, createNotFoundFailure } from './not-found.ts';
export { isPlaceOfRow } from './overview/keys.ts';
export { collectionRecord, fieldRecord, relationRecord } from './records.ts';
