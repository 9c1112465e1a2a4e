import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, runSqlFile } from '../../support/database.ts';
import { type SchemaFixture, startSchemaFixture } from './schema-fixture.ts';

describe('schema snapshot of the Chinook database', () => {
  let database: FreshDatabase;
  let probe: SchemaFixture;
  before(async () => {
    database = await freshDatabase('chinook');
    await runSqlFile(database.url, new URL('../../data/chinook.sql', import.meta.url));
    probe = await startSchemaFixture(database);
  });
  after(async () => {
    await probe?.stop();
    await database?.drop();
  });

  it('every table is a collection, and every foreign key a relation', async () => {
    const { collections, relations } = await probe.schema.snapshot();
    expect([...collections.keys()].filter((name) => !name.startsWith('platform_'))).to.have.members([
      'album',
      'artist',
      'customer',
      'employee',
      'genre',
      'invoice',
      'invoice_line',
      'media_type',
      'playlist',
      'playlist_track',
      'track',
    ]);
    expect(relations.map(({ collection, field, related }) => `${collection}.${field} ${related}`)).to.have.members([
      'album.artist_id artist',
      'customer.support_rep_id employee',
      'employee.reports_to employee',
      'invoice.customer_id customer',
      'invoice_line.invoice_id invoice',
      'invoice_line.track_id track',
      'playlist_track.playlist_id playlist',
      'playlist_track.track_id track',
      'track.album_id album',
      'track.genre_id genre',
      'track.media_type_id media_type',
    ]);
  });

  it('columns have their field types', async () => {
    expect(await probe.collection('playlist_track')).to.include({ primary: null, kind: 'table' });
    expect((await probe.collection('track')).primary).to.equal('track_id');
    const types = [...(await probe.collection('track')).fields.values()].map(({ name, type }) => `${name} ${type}`);
    expect(types).to.deep.equal([
      'track_id integer',
      'name string',
      'album_id integer',
      'media_type_id integer',
      'genre_id integer',
      'composer string',
      'milliseconds integer',
      'bytes integer',
      'unit_price decimal',
    ]);
  });
});
