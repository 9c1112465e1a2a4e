import { expect } from 'chai';
import type { Log } from '#kernel';
import type { CatalogReadResult } from '../../../plugins/schema/catalog/catalog-reader.ts';
import type { SchemaOverview } from '../../../plugins/schema/contract.ts';
import { createSchemaCache } from '../../../plugins/schema/freshness/schema-cache.ts';

/** A schema cache on a fake database, whose state is a number and which counts the checks of its fingerprint. */
function openSchemaCache() {
  const database = { state: 1, checks: 0 };
  const source = {
    async fingerprint() {
      database.checks++;
      return String(database.state);
    },
    read: async () => ({ fingerprint: String(database.state), digest: String(database.state) }) as CatalogReadResult,
  };
  const cache = createSchemaCache({
    source: source as never,
    build: ({ digest }) => ({ version: digest }) as SchemaOverview,
    inUnit: () => false,
    log: { warn() {}, error() {} } as unknown as Log,
  });
  return { database, cache, version: async () => (await cache.snapshot()).version };
}

describe('createSchemaCache', () => {
  it('snapshot checks the catalogs each time while no announcement can arrive, and not before or after', async () => {
    const { database, cache, version } = openSchemaCache();
    cache.trustAnnouncements();
    expect(await version()).to.equal('1');
    const before = database.checks;
    expect(await version()).to.equal('1');
    expect(database.checks).to.equal(before);

    cache.setAnnouncementsArriving(false);
    database.state = 2;
    expect(await version()).to.equal('2');
    database.state = 3;
    expect(await version()).to.equal('3');

    database.state = 4;
    cache.setAnnouncementsArriving(true);
    expect(await version()).to.equal('4');
    const after = database.checks;
    expect(await version()).to.equal('4');
    expect(database.checks).to.equal(after);
  });
});
