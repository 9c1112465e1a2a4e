import { Failure, fail } from '#kernel';

/** The collector of what the answer of the current request is made of. */
export { currentAnswerSources } from './answer-sources.ts';
/** The bytes of a base64 text; undefined for other texts. */
export { decodeBase64 } from './base64.ts';
/** SQL of keys of one column and of composite keys. */
export { fieldColumnListSql, fieldsEqualSql, keyEqualsSql, keyInSql, keyTextSql } from './compile/key.ts';
/** SQL of a field as revisions store it. */
export { fieldRevisionOutputSql } from './compile/output.ts';
/** Whether an operand is `$CURRENT_USER` or `$CURRENT_ROLE`. */
export { isCallerDynamicValue } from './current-user-or-role.ts';
export { decodeRawQuery } from './decode-raw-query.ts';
export { withoutValuesInPostgresMessage } from './failures.ts';
/** The columns of a collection's key, and the projections of reads that answer only keys. */
export { keyColumns, keyProjections } from './key-columns.ts';
/** Texts of composite keys. */
export { joinCompositeKey, splitCompositeKey } from './key-text.ts';
export { parseNowExpression, timestampOfNowOffset } from './now-dynamic-value.ts';
/** Parses a GeoJSON geometry to text; INVALID_QUERY with the path for other values. */
export { parseGeoJson } from './parse/geojson.ts';
/** The operators that fit a field of this type, unless the field is concealed; those of arrays and of ranges. */
export { ARRAY_OPERATORS, filterOperatorsOfFieldType, RANGE_OPERATORS } from './parse/operators-by-field-type.ts';
export { parsePrimaryKeyValue } from './parse-key.ts';
export { isReplaceableByPlaceholder, OperandPlaceholder } from './placeholder.ts';
export { applyEnumLabels, toAggregateParameter } from './selection.ts';

const UNKNOWN_FIELD = 'unknown field ';

/**
 * The failure for a name that the schema snapshot does not have. It looks like the failure for an unreadable field, so that
 * clients cannot probe for fields.
 */
export const createUnknownFieldFailure = (name: string, collection: string): Failure =>
  fail('FORBIDDEN', `${UNKNOWN_FIELD}${name} of ${collection}`);

/** Whether the failure is about an unknown field, so that a read with a fresh schema snapshot is worth a try. */
export const isUnknownFieldFailure = (error: unknown): boolean =>
  error instanceof Failure && (error.detail?.startsWith(UNKNOWN_FIELD) ?? false);
