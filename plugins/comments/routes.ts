import type { Route } from '../http/contract.ts';
import type { Items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { COMMENTS } from './collections.ts';

const OLDER = '/activity/comment';
const WRITES = [`POST ${OLDER}`, `PATCH ${OLDER}/:id`, `DELETE ${OLDER}/:id`];

/** Comments under their own path, and where older clients write them; `id` is the comment's both ways. */
export const commentRoutes = (items: Items): readonly Route[] => [
  ...collectionRoutes(items, '/comments', COMMENTS),
  ...collectionRoutes(items, OLDER, COMMENTS).filter(({ method, path }) => WRITES.includes(`${method} ${path}`)),
];
