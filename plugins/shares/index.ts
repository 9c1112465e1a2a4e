import { definePlugin } from '#kernel';
import { access, sharedItemLookups } from '../access/contract.ts';
import { sessions } from '../auth/contract.ts';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes, createFindReadableItem } from '../items/library.ts';
import { mail } from '../mail/contract.ts';
import { passwords } from '../passwords/contract.ts';
import { schema, systemCollections } from '../schema/contract.ts';
import * as collections from './collections.ts';
import { createInviteToShare } from './invite.ts';
import { createWindowLimits } from './limits.ts';
import { shareMigrations } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createPasswordGuesses } from './password-guesses.ts';
import { shareRoutes } from './routes.ts';
import { registerShareWriteFilters } from './rules.ts';
import { createReadShareInfo } from './share-info.ts';
import { createSharedItemLookup } from './shared-items.ts';
import { createUseShare } from './use-share.ts';

interface Shared {
  readonly LOGIN_STALL_TIME: number;
  readonly PUBLIC_URL: string;
}

export default definePlugin<object, Shared>({
  manifest,
  register(host) {
    const { config, db, events } = host;
    const used = host.use({ access, bus, items, mail, passwords, schema, sessions });
    host.contribute(systemCollections, collections.sharesCollection);
    host.contribute(systemCollections, collections.shareLimitsCollection);
    for (const one of shareMigrations(db)) host.contribute(migrations, one);

    const sharedItems = createSharedItemLookup(db, used.bus);
    host.contribute(sharedItemLookups, sharedItems);
    registerShareWriteFilters({ ...used, db, findReadableItem: createFindReadableItem(used) }, events);
    // The next request of this process must see the change before the message from the database arrives.
    for (const verb of ['create', 'update', 'delete']) events.onAction(`shares.${verb}`, () => sharedItems.forget());
    // Deletes the shares, so that a new collection of the same name is not shared.
    events.onFilter('collections.delete', async (_payload, { keys }) => {
      await db
        .table(collections.SHARES_COLLECTION)
        .whereIn('collection', keys as string[])
        .delete();
    });

    const limits = createWindowLimits(db);
    for (const route of [
      ...collectionRoutes(used.items, '/shares', collections.SHARES_COLLECTION),
      ...shareRoutes({
        useShare: createUseShare({ ...used, db, guesses: createPasswordGuesses(limits) }),
        readInfo: createReadShareInfo(db),
        invite: createInviteToShare({ ...used, db, limits, publicUrl: config.PUBLIC_URL }),
        sessions: used.sessions,
        stallTime: config.LOGIN_STALL_TIME,
      }),
    ])
      host.contribute(routes, route);
  },
});
