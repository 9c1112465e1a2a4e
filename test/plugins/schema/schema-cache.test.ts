import { expect } from 'chai';
import type { Log } from '#kernel';
import type { CatalogReading } from '../../../plugins/schema/catalog/source.ts';
import type { Overview } from '../../../plugins/schema/contract.ts';
import { createSchemaCache } from '../../../plugins/schema/freshness/schema-cache.ts';

/** A keeper over a database whose state is a number, and how often the keeper looked at it. */
function openSchemaCache() {
  const database = { state: 1, looks: 0 };
  const source = {
    async fingerprint() {
      database.looks++;
      return String(database.state);
    },
    read: async () => ({ fingerprint: String(database.state), digest: String(database.state) }) as CatalogReading,
  };
  const keeper = createSchemaCache({
    source: source as never,
    build: ({ digest }) => ({ version: digest }) as Overview,
    inUnit: () => false,
    log: { warn() {}, error() {} } as unknown as Log,
  });
  return { database, keeper, version: async () => (await keeper.snapshot()).version };
}

describe('schema: the keeper of the snapshot', () => {
  it('looks at the database for each request while no announcement can arrive, and not before or after', async () => {
    const { database, keeper, version } = openSchemaCache();
    keeper.trustAnnouncements();
    expect(await version()).to.equal('1');
    const before = database.looks;
    expect(await version()).to.equal('1');
    expect(database.looks).to.equal(before);

    keeper.setAnnouncementsArriving(false);
    database.state = 2;
    expect(await version()).to.equal('2');
    database.state = 3;
    expect(await version()).to.equal('3');

    database.state = 4;
    keeper.setAnnouncementsArriving(true);
    expect(await version()).to.equal('4');
    const after = database.looks;
    expect(await version()).to.equal('4');
    expect(database.looks).to.equal(after);
  });
});
