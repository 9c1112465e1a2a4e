import { definePlugin } from '#kernel';
import { bus, presence } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { rowFeed } from './contract.ts';
import { createFeedTables } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { createRowFeed } from './row-feed.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ bus, presence });
    host.contribute(migrations, createFeedTables(host.db));
    host.provide(rowFeed, createRowFeed({ ...used, db: host.db, log: host.log }));
  },
});
