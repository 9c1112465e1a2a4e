import { Failure, fail } from '#kernel';

/** The bytes of a base64 text; undefined for other texts. */
export { bytesOf } from './base64.ts';
/** Whether an operand is `$CURRENT_USER` or `$CURRENT_ROLE`. */
export { isCallerValue } from './caller-value.ts';
/** SQL of keys of one column and of several. */
export { areEqual, columnsOf, isAmongKeys, isKey, keyText } from './compile/key.ts';
/**
 * How a field of the row under a table alias reads in answers, as SQL, and as a part of `jsonb`.
 */
export { keptExpression, outputExpression } from './compile/output.ts';
export { spelledOut } from './expand-query.ts';
export { withoutValue } from './failures.ts';
/** The columns of a collection's key, and reads of nothing but keys. */
export { keyColumns, keyProjections } from './key-columns.ts';
/** Keys of several columns as one text. */
export { joinKey, splitKey } from './key-text.ts';
export { parseNow, timestampAt } from './now.ts';
/** A GeoJSON geometry as text; INVALID_QUERY with the path for what is none. */
export { geoJson } from './parse/geojson.ts';
/** The operators of a filter that fit a field of this type, where nothing of it is concealed. */
export { ARRAY_OPERATORS, operatorsFor } from './parse/operators.ts';
export { keyValue } from './parse-key.ts';
export { Given, isGivable } from './placeholder.ts';
export { aggregateOf, labelled } from './selection.ts';
export { isUuid } from './uuid.ts';

const UNKNOWN_FIELD = 'unknown field ';

/** A name that is not in the overview. It looks like one that may not be read, so that nothing can be probed. */
export const unknownField = (name: string, collection: string): Failure =>
  fail('FORBIDDEN', `${UNKNOWN_FIELD}${name} of ${collection}`);

/** May the overview have been too old? */
export const isUnknownField = (error: unknown): boolean =>
  error instanceof Failure && (error.detail?.startsWith(UNKNOWN_FIELD) ?? false);
