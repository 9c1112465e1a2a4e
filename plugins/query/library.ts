import { Failure, fail } from '#kernel';

/** The bytes of a base64 text; undefined for other texts. */
export { bytesOf } from './base64.ts';
/** Whether an operand is `$CURRENT_USER` or `$CURRENT_ROLE`. */
export { isCallerValue } from './caller-value.ts';
/** SQL of keys of one column and of composite keys. */
export { areEqual, columnsOf, isAmongKeys, isKey, keyText } from './compile/key.ts';
/** SQL of a field as answers show it, and of the same value as a part of `jsonb`. */
export { keptExpression, outputExpression } from './compile/output.ts';
export { spelledOut } from './expand-query.ts';
export { withoutValue } from './failures.ts';
/** The columns of a collection's key, and the projections of reads that answer only keys. */
export { keyColumns, keyProjections } from './key-columns.ts';
/** Texts of composite keys. */
export { joinKey, splitKey } from './key-text.ts';
export { parseNow, timestampAt } from './now.ts';
/** Parses a GeoJSON geometry to text; INVALID_QUERY with the path for other values. */
export { geoJson } from './parse/geojson.ts';
/** The operators that fit a field of this type, unless the field is concealed. */
export { ARRAY_OPERATORS, operatorsFor } from './parse/operators.ts';
export { keyValue } from './parse-key.ts';
export { Given, isGivable } from './placeholder.ts';
export { aggregateOf, labelled } from './selection.ts';
export { isUuid } from './uuid.ts';

const UNKNOWN_FIELD = 'unknown field ';

/** For a name that the schema snapshot does not have. It looks like an unreadable field, so that clients cannot probe for fields. */
export const unknownField = (name: string, collection: string): Failure =>
  fail('FORBIDDEN', `${UNKNOWN_FIELD}${name} of ${collection}`);

/** Whether the failure is about an unknown field, so that a read with a fresh schema snapshot is worth a try. */
export const isUnknownField = (error: unknown): boolean =>
  error instanceof Failure && (error.detail?.startsWith(UNKNOWN_FIELD) ?? false);
