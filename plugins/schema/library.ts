export { isPlaceOfRow } from './overview/keys.ts';
/** What `/collections`, `/fields` and `/relations` show of parts of an overview. */
export { collectionRecord, fieldRecord, relationRecord } from './records.ts';
