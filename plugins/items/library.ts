/**
 * The full set of routes for one system collection (list, SEARCH, read, create, update, delete in all shapes), for a
 * plugin that serves it at its own path: `for (const route of collectionRoutes(items, '/roles', 'platform_roles')) …`.
 */
export { collectionRoutes } from './collection-routes.ts';
/** A key as its row has it. @throws FORBIDDEN for what is none */
export { castKey } from './collection-target.ts';
/** What such routes take and answer, as descriptions of other routes refer to it. */
export { itemOf, WRITE_ERRORS } from './descriptions/collection.ts';
export { LIST_PARAMETERS, queryComponents, ROW_PARAMETERS, SHAPE_PARAMETERS } from './descriptions/query.ts';
/** What such routes check before they write and answer afterwards, for routes of other shapes. */
export { checkShape, sendWritten } from './written-response.ts';
