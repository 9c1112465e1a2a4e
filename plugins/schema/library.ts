/** Failures for unknown names. */

/** Kinds of columns. */
export { isMadeByDatabase, isRange, isSearchVector } from './column-kinds.ts';
export { absentCollection, createNotFoundFailure } from './not-found.ts';
export { isPlaceOfRow } from './overview/keys.ts';
export { collectionRecord, fieldRecord, relationRecord } from './records.ts';
