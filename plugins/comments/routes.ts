import type { Route } from '../http/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { COMMENTS_COLLECTION_NAME } from './collections.ts';

const LEGACY_PATH = '/activity/comment';
const LEGACY_ROUTES = [`POST ${LEGACY_PATH}`, `PATCH ${LEGACY_PATH}/:id`, `DELETE ${LEGACY_PATH}/:id`];

/** Comments under their own path and under the path of older clients; `id` is the comment's key on both. */
export const commentRoutes = (items: ItemsEngine): readonly Route[] => [
  ...collectionRoutes(items, '/comments', COMMENTS_COLLECTION_NAME),
  ...collectionRoutes(items, LEGACY_PATH, COMMENTS_COLLECTION_NAME).filter(({ method, path }) =>
    LEGACY_ROUTES.includes(`${method} ${path}`),
  ),
];
