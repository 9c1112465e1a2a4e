import { expect } from 'chai';
import type { Host } from '#kernel';
import { boot } from '#kernel/boot';
import type { Db } from '../../../plugins/database/contract.ts';
import { createScheduleTickClaimer, createScheduleTicksMigration } from '../../../plugins/schedule/job-tick-claims.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { silentSettings, writeTestPluginPackages } from '../../support/test-plugins.ts';

const folders = ['workers', 'database', 'cluster', 'schedule'].map(
  (name) => new URL(`../../../plugins/${name}/`, import.meta.url),
);

describe('createScheduleTickClaimer()', () => {
  let database: FreshDatabase;
  before(async () => {
    database = await freshDatabase('ticks');
  });
  after(() => database?.drop());

  /** Runs `work` with `host.db` of a plugin that owns the table of the schedules. */
  async function run<T>(work: (db: Db) => Promise<T>): Promise<T> {
    let host: Host | undefined;
    const { composition, remove } = await writeTestPluginPackages([
      {
        name: 'holder',
        manifest: { capabilities: { database: { own: ['platform_extension_ticks'] } } },
        register: (value) => void (host = value),
      },
    ]);
    const kernel = await boot(
      { plugins: [...folders, ...composition.plugins] },
      { environment: { ...silentSettings, DB_CONNECTION_STRING: database.url } },
    );
    try {
      await kernel.migrate();
      return await work((host as Host).db);
    } finally {
      await kernel.stop();
      await remove();
    }
  }
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

  it('claims each tick once, and never a tick before the last one', async () => {
    await run(async (db) => {
      const claimTick = createScheduleTickClaimer(db);
      const claims = await Promise.all(Array.from({ length: 8 }, () => claimTick('race', at(1))));
      expect(claims.filter(Boolean)).to.have.length(1);
      expect([await claimTick('race', at(3)), await claimTick('race', at(2))]).to.deep.equal([true, false]);
      expect(await claimTick('other', at(1))).to.equal(true);
    });
  });

  it('keeps the rows of a table that an older version created', async () => {
    await database.query('update platform_migrations set owner = $1 where id = $2', [
      '@tenon/extensions',
      '2026-11-21-extension-ticks',
    ]);
    await run(async (db) => {
      const claimTick = createScheduleTickClaimer(db);
      expect(createScheduleTicksMigration(db).id).to.equal('2026-11-21-extension-ticks');
      expect([await claimTick('race', at(3)), await claimTick('race', at(4))]).to.deep.equal([false, true]);
    });
  });
});
