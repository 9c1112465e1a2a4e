/** Kinds of columns. */
export { isDatabaseGenerated, isRangeColumn, isSearchVector } from './column-kinds.ts';
/** Whether the default of a column is an expression and no literal. */
export { isExpressionDefault } from './default-value.ts';
/** Failures for unknown names. */
export { createCollectionNotFoundFailure, createUnknownSchemaNameFailure } from './not-found.ts';
/** Names of the triggers of the plugin `row-feed`. */
export { ROW_FEED_FUNCTION, ROW_FEED_TRIGGERS } from './row-changes/trigger-name.ts';
export { toCollectionRecord, toFieldRecord, toReadableFieldRecord, toRelationRecord } from './schema-api-records.ts';
export { isRowLocationField } from './snapshot/keys.ts';
/** Values of `meta` by the columns of a registry row; missing ones get the value that a new row has. */
export { toCollectionMeta, toFieldMeta, toRelationMeta } from './snapshot/registry-rows.ts';
