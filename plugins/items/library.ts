/**
 * The full set of routes for one system collection (list, SEARCH, read, create, update, delete in all shapes), for a
 * plugin that serves it at its own path: `for (const route of collectionRoutes(items, '/roles', 'platform_roles')) …`.
 */

/** The text that answers and revisions show instead of a concealed value. */
export { CONCEALED_VALUE_MASK } from '../query/contract.ts';
/** What the answer of the current request is made of, for routes that say whether it may be kept. */
export { currentAnswerSources } from '../query/library.ts';
export { collectionRoutes } from './collection-routes.ts';
/** Bodies and answers of the routes of a collection, for descriptions of other routes. */
export { itemSchema, WRITE_ERROR_CODES } from './descriptions/collection-route-descriptions.ts';
export {
  ANSWER_SHAPE_QUERY_PARAMETER_REFS,
  LIST_QUERY_PARAMETER_REFS,
  QUERY_PARAMETER_NAMES,
  queryOpenApiComponents,
  SINGLE_ROW_QUERY_PARAMETER_REFS,
} from './descriptions/query-parameter-descriptions.ts';
/** Names of the events of a verb on a collection. */
export { itemEventNames } from './event-names.ts';
/** Casts a key to the type of its column. @throws FORBIDDEN for an invalid key */
export { parseKeyValue } from './find-collection-and-key.ts';
/** The name of a file of exported rows, and the formats of exports. */
export { exportFileName } from './read/export/download.ts';
export { EXPORT_FORMATS } from './read/export/formats.ts';
/** Finds the item that a row such as a comment is about. */
export { createFindReadableItem, type FindReadableItem, type ItemReference } from './read/readable-item.ts';
/** The check of the routes of a collection before a write, and their answer after it, for routes of other forms. */
export { assertAnswerShapeParameters, sendWrittenRows } from './written-response.ts';
