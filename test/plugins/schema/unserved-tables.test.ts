import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import type { Caller } from '#kernel';
import type { SchemaOverview } from '../../../plugins/schema/contract.ts';
import { createCollectionNotFoundFailure } from '../../../plugins/schema/not-found.ts';
import { findUnservedTables, renderUnservedTablesWarning } from '../../../plugins/schema/unserved-tables.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';

describe('findUnservedTables', () => {
  const role = `unserved_${randomBytes(5).toString('hex')}`;
  let database: FreshDatabase;
  let client: pg.Client;
  before(async () => {
    database = await freshDatabase('unserved');
    await database.query(`
      create role ${role};
      create schema closed; create schema platform_like;
      create table readable (id int primary key); create table unreadable (id int primary key); create table partly (id int primary key, n int);
      create table closed.inside (id int primary key); create table readable_too (n int);
      create table platform_mine (id int primary key); create table platform_migrations (id int primary key);
      create table platform_like.readable (id int primary key);
      grant usage on schema platform_like, public to ${role};
      grant select on readable, readable_too, platform_mine, platform_migrations, platform_like.readable to ${role};
      grant select (id) on partly to ${role}`);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`set role ${role}`);
  });
  after(async () => {
    await client?.end();
    await database?.query(`drop owned by ${role}; drop role ${role}`);
    await database?.drop();
  });

  it('the result has tables that the role may not read, and tables whose name is reserved', async () => {
    const db = {
      query: (text: string, params: readonly unknown[]) => client.query(text, [...params]),
      schemas: ['public', 'closed', 'platform_like'],
      ownedTables: () => new Set<string>(),
    } as unknown as Parameters<typeof findUnservedTables>[0];
    const served = ['readable', 'unreadable', 'partly', 'readable_too'].map((name) => [
      name,
      {
        kind: 'table',
        table: { schema: 'public', name },
        fields: new Map(name === 'readable_too' ? [] : [['id', { column: { primary: true } }]]),
      },
    ]);
    const snapshot = { collections: new Map(served as []) } as unknown as SchemaOverview;
    const found = await findUnservedTables(db, snapshot, new Map());
    expect(found.map(({ schema, name, reason }) => `${schema}.${name}: ${reason}`)).to.deep.equal([
      'public.platform_mine: names that begin with platform_ are reserved for the service: rename it',
      `public.unreadable: the database role ${role} may not read it: grant select on it`,
      `closed.inside: the database role ${role} may not use the schema closed: grant usage on it`,
      'platform_like.readable: its collection would be platform_like_readable, and names that begin with platform_ are reserved for the service: rename it',
    ]);
  });
});

describe('createCollectionNotFoundFailure', () => {
  const schema = { unservedTables: async () => [{ schema: 'public', name: 'locked', reason: 'grant select on it' }] };
  const admin = { admin: true } as Caller;

  it('the failure is 404 with the reason for an admin, 404 without one for unknown names, and 403 for other callers', async () => {
    const known = await createCollectionNotFoundFailure(schema, admin, 'locked', 'There is none.');
    expect([known.code, known.message]).to.deep.equal([
      'ROUTE_NOT_FOUND',
      'The table public.locked is not served: grant select on it.',
    ]);
    expect((await createCollectionNotFoundFailure(schema, admin, 'nothing', 'There is none.')).code).to.equal(
      'ROUTE_NOT_FOUND',
    );
    const person = { ...admin, admin: false } as Caller;
    for (const name of ['locked', 'nothing'])
      expect((await createCollectionNotFoundFailure(schema, person, name, 'There is none.')).code, name).to.equal(
        'FORBIDDEN',
      );
  });
});

describe('renderUnservedTablesWarning', () => {
  it('the message names the first twenty tables and counts the rest', () => {
    const tables = Array.from({ length: 500 }, (_, at) => ({
      schema: 'public',
      name: `t${at}`,
      reason: 'it has no key',
    }));
    const message = renderUnservedTablesWarning(tables);
    expect(message).to.match(/^500 of the database's tables are not served: public\.t0 \(it has no key\); /);
    expect(message).to.match(/public\.t19 \(it has no key\); and 480 more, which GET \/collections names$/);
    expect(
      renderUnservedTablesWarning(tables.map((one) => ({ ...one, reason: 'x'.repeat(1000) }))),
    ).to.have.length.at.most(4000);
  });
});
