import { expect } from 'chai';
import { createLargeSchema } from '../../support/large-schema.ts';
import { freshDatabase } from '../../support/database.ts';
import { type SnapshotService, startChinook, startSnapshotService } from './snapshot-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };

describe('a snapshot of one service applied to another', function () {
  this.timeout(240_000);
  let empty: SnapshotService;
  beforeEach(async () => {
    empty = await startSnapshotService();
  });
  afterEach(() => empty?.stop());

  it('a new service has no collections, fields and relations in its snapshot', async () => {
    const { version, tenon, vendor, collections, fields, relations } = await empty.snapshot();
    expect({ version, vendor, collections, fields, relations }).to.deep.equal({
      version: 1,
      vendor: 'postgres',
      collections: [],
      fields: [],
      relations: [],
    });
    expect(tenon).to.match(/^\d+\.\d+\.\d+/);
  });

  it('Chinook: the tables, keys, indexes and foreign keys are equal, and nothing is left to do', async () => {
    const chinook = await startChinook();
    try {
      const snapshot = await chinook.snapshot();
      expect(snapshot.collections).to.have.length(11);
      const reply = await empty.become(snapshot);
      expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
      expect(await empty.diff(snapshot)).to.equal(undefined);
      expect(await empty.snapshot()).to.deep.equal(snapshot);
      const read = await empty.send('GET', '/items/playlist_track');
      expect(read.status).to.equal(200);
    } finally {
      await chinook.stop();
    }
  });
});
