import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { identity } from '../auth/contract.ts';
import '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { createFindReadableItem } from '../items/library.ts';
import { notifications } from '../notifications/contract.ts';
import { schema, systemCollections } from '../schema/contract.ts';
import { COMMENTS_COLLECTION_NAME, commentsCollection } from './collections.ts';
import { createMentionNotices } from './mentions.ts';
import manifest from './package.json' with { type: 'json' };
import { commentRoutes } from './routes.ts';
import { registerCommentWriteFilters } from './rules.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { db, events } = host;
    const used = host.use({ access, activity, identity, items, notifications, schema });
    const findReadableItem = createFindReadableItem(used);
    const createNotices = createMentionNotices({ ...used, findReadableItem });
    host.contribute(systemCollections, commentsCollection);
    registerCommentWriteFilters({ ...used, findReadableItem, createNotices }, events);
    // Deletes the comments, so that a new collection of the same name starts without any.
    events.onFilter('collections.delete', async (_payload, { keys }) => {
      await db
        .table(COMMENTS_COLLECTION_NAME)
        .whereIn('collection', keys as string[])
        .delete();
    });
    for (const route of commentRoutes(used.items)) host.contribute(routes, route);
  },
});
