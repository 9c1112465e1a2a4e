import { definePlugin } from '#kernel';
import { bus } from '../cluster/contract.ts';
import { type Db, migrations } from '../database/contract.ts';
import { createSource } from './catalog/source.ts';
import { schema, schemaWrites, systemCollections } from './contract.ts';
import { createKeeper } from './freshness/keeper.ts';
import { CHANNEL, watchDatabase } from './freshness/watch.ts';
import { buildOverview } from './overview/build.ts';
import manifest from './package.json' with { type: 'json' };
import { type Declarations, declarations } from './system/declarations.ts';
import { registryCollections } from './system/registry.ts';
import { hashOf, systemTables } from './system/tables.ts';
import { findUnserved, unservedMessage } from './unserved.ts';
import { createSchemaWrites } from './writes/index.ts';

interface Config {
  readonly CACHE_SCHEMA: boolean;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const messages = host.use({ bus }).bus;
    host.define(systemCollections);
    for (const one of registryCollections) host.contribute(systemCollections, one);

    let known: Declarations | undefined;
    // Made again when a plugin with collections of its own is loaded or unloaded.
    const declared = () => (known ??= declarations(host.read(systemCollections)));
    host.contribute(migrations, systemTables(declared));

    const inUnit = unitTest(db);
    const keeper = createKeeper({
      source: createSource(db),
      build: (reading) =>
        buildOverview({
          content: reading.content(),
          version: `${reading.digest.slice(0, 12)}${hashOf(declared()).slice(0, 6)}`,
          declared: declared(),
          first: db.schemas[0] as string,
        }),
      inUnit,
      log,
    });
    const unserved = async () => findUnserved(db, await keeper.overview(), declared());
    host.provide(schema, { overview: keeper.overview, refresh: keeper.refresh, onChange: keeper.onChange, unserved });
    host.provide(schemaWrites, createSchemaWrites({ db, keeper, events, bus: messages, inUnit }));

    let isStarted = false;
    host.watch(systemCollections, () => {
      known = undefined;
      if (isStarted) keeper.rebuild();
    });
    messages.subscribe(CHANNEL, keeper.heard);
    messages.onLost(() => keeper.listening(false));
    messages.onGap(() => keeper.listening(true));
    host.onStart(async () => {
      if (config.CACHE_SCHEMA || (await watchDatabase(db, log))) keeper.trustAnnouncements();
      await keeper.refresh();
      isStarted = true;
      const tables = await unserved();
      if (tables.length > 0) log.warn(unservedMessage(tables));
    });
  },
});

/** Is a unit of work open around the caller? An effect that has not run at once waits for one. */
const unitTest = (db: Pick<Db, 'afterCommit'>) => (): boolean => {
  let waits = true;
  db.afterCommit(() => {
    waits = false;
  });
  return waits;
};
