import { expect } from 'chai';
import { freshDatabase } from '../../support/database.ts';
import { createRichSchema } from './rich-schema.ts';
import { type SnapshotService, startChinook, startSnapshotService } from './snapshot-fixture.ts';

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

  it('200 tables: everything is created by one apply, and nothing is left to do', async () => {
    const database = await freshDatabase('large');
    for (let at = 0; at < 200; at += 50) await database.query(generatedTables(at, 50).join(';'));
    const large = await startSnapshotService(database);
    try {
      const snapshot = await large.snapshot();
      expect(snapshot.collections).to.have.length(200);
      expect(snapshot.relations.length).to.be.greaterThan(390);
      const reply = await empty.become(snapshot);
      expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
      expect(await empty.diff(snapshot)).to.equal(undefined);
      expect(await empty.snapshot()).to.deep.equal(snapshot);
    } finally {
      await large.stop();
    }
  });

  it('relations of all shapes, metadata, defaults and folders come back as they were', async () => {
    const source = await startSnapshotService();
    try {
      await createRichSchema(source);
      const snapshot = await source.snapshot();
      const reply = await empty.become(snapshot);
      expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
      expect(await empty.diff(snapshot)).to.equal(undefined);
      expect(await empty.snapshot()).to.deep.equal(snapshot);
      const created = await empty.send('POST', '/items/article?fields=*,tags.tags_id.name', {
        title: 'a',
        tags: [{ tags_id: { name: 'x' } }],
        blocks: { create: [{ collection: 'tags', item: { name: 'y' } }], update: [], delete: [] },
      });
      expect(created.status, JSON.stringify(created.body)).to.equal(200);
      expect(created.body.data).to.deep.include({ status: 'draft', tags: [{ tags_id: { name: 'x' } }] });
    } finally {
      await source.stop();
    }
  });

  it('the snapshot of a new service removes everything from another, custom fields of users too', async () => {
    const nothing = await empty.snapshot();
    for (const start of [startChinook, startRich]) {
      const source = await start();
      try {
        const reply = await source.become(nothing);
        expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
        expect(await source.diff(nothing)).to.equal(undefined);
        expect(await source.snapshot()).to.deep.equal(nothing);
        expect((await source.send('GET', '/users/me')).status).to.equal(200);
      } finally {
        await source.stop();
      }
    }
  });

  it('tables made by SQL keep types, comments, composite keys, circular references and names of constraints', async () => {
    const database = await freshDatabase('adopted');
    await database.query(ADOPTED);
    const source = await startSnapshotService(database);
    try {
      const snapshot = await source.snapshot();
      const reply = await empty.become(snapshot);
      expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
      expect(await empty.snapshot()).to.deep.equal(snapshot);
      const [comment] = await empty.database.query<{ text: string }>(
        `select col_description('product'::regclass, (select attnum from pg_attribute where attrelid = 'product'::regclass and attname = 'price')) as text`,
      );
      expect(comment?.text).to.equal("Without 'tax'");
    } finally {
      await source.stop();
    }
  });

  it('an enum, an array, a generated column and an expression as default are refused with their path', async () => {
    for (const column of [
      'stage mood',
      'tags text[]',
      'doubled integer generated always as (amount * 2) stored',
      'code text default upper(md5(random()::text))',
    ]) {
      const database = await freshDatabase('refused');
      await database.query(`create type mood as enum ('sad', 'ok');
        create table thing (id integer primary key, amount integer, ${column})`);
      const source = await startSnapshotService(database);
      try {
        const { status, body } = await empty.become(await source.snapshot());
        expect(status, column).to.equal(400);
        expect(body.errors[0].extensions, column).to.deep.include({
          code: 'INVALID_PAYLOAD',
          path: ['diff', 'collections', 0],
        });
        expect((await empty.snapshot()).collections).to.deep.equal([]);
      } finally {
        await source.stop();
      }
    }
  });
});

async function startRich(): Promise<SnapshotService> {
  const source = await startSnapshotService();
  await createRichSchema(source);
  return source;
}

/** Statements that create tables with keys, unique columns, indexes, comments and two foreign keys each. */
const generatedTables = (first: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => {
    const at = first + place;
    const name = (number: number) => `part_${String(number).padStart(3, '0')}`;
    const type = (number: number) => (number % 3 === 0 ? 'uuid' : 'integer');
    const before = Math.max(0, at - 1);
    return `create table ${name(at)} (
      id ${at % 3 === 0 ? 'uuid default gen_random_uuid()' : 'serial'} primary key,
      code varchar(40) not null unique, title varchar(255) not null default '', body text, price numeric(12,2),
      quantity integer not null default 0, details jsonb, created_at timestamptz not null default now(), day date,
      owner_id ${type(at % 7)} ${at < 7 ? '' : `references ${name(at % 7)} on delete set null`},
      parent_id ${type(before)} references ${name(before)});
      create index on ${name(at)} (owner_id); create index on ${name(at)} (created_at, code);
      comment on table ${name(at)} is 'Rows of kind ${at}'`;
  });

const ADOPTED = `
  create table region (country char(2), code varchar, name text not null, primary key (code, country));
  create table shop (id smallint primary key, region_code varchar, region_country char(2), chief bigint,
    constraint shop_in_region foreign key (region_code, region_country) references region (code, country) on delete cascade);
  create table person (id bigserial primary key, shop_id smallint constraint works_at references shop on update cascade,
    born date, weight double precision, flags json, alarm timetz, seen timestamp default localtimestamp, blob bytea,
    score numeric, boss bigint references person);
  alter table shop add constraint lead_by foreign key (chief) references person;
  create table product (id uuid primary key default gen_random_uuid(), name varchar(80) not null unique,
    price numeric(8,3) default -1.5, note text default 'it''s', active boolean not null default true,
    data jsonb default '{"a":[1]}', number integer generated always as identity);
  comment on column product.price is 'Without ''tax''';
  create index product_by_name on product (name)`;
