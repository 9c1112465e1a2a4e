import { expect } from 'chai';
import type { PermissionRestricted, PreparedStatement, RawQuery, ReadNode } from '../../../plugins/query/contract.ts';
import type { Collection } from '../../../plugins/schema/contract.ts';
import { createQueryEngine } from './query-engine.ts';
import { buildSketchedSchema } from './schema-sketch.ts';

/** The largest number of prepared statements that a process names. */
const MOST = 1000;

const schema = buildSketchedSchema({ book: { id: 'integer key', title: 'string', pages: 'integer' } });
const book = schema.collections.get('book') as Collection;

describe('names of prepared statements', () => {
  const { parse, prepare, keepPrepared: keep } = createQueryEngine();
  const reading = (query: RawQuery, form?: 'text' | 'rows'): PreparedStatement =>
    prepare(parse(book, query, { schema }) as PermissionRestricted<ReadNode>, schema, form);
  const withPages = (pages: number) => reading({ filter: { pages: { _eq: pages } } });

  it('a kept statement has a name made of its text, whatever its values', () => {
    expect(withPages(1).name).to.equal(undefined);
    const name = keep(withPages(1)).name;
    expect(name).to.match(/^q[\w-]{27}$/);
    expect(keep(withPages(2)).name).to.equal(name);
    expect(keep(reading({ filter: { title: { _eq: 'a' } } })).name)
      .to.match(/^q/)
      .and.not.equal(name);
  });

  it('a statement with a known text has its name from the first run on', () => {
    const name = keep(withPages(1)).name;
    const other = withPages(3);
    expect(other.name).to.equal(name);
    expect(other.params).to.deep.equal(['3']);
    expect(keep(other)).to.equal(other);
  });

  it('a statement for a cursor has no name', () => {
    keep(reading({ fields: 'id' }));
    expect(reading({ fields: 'id' }, 'rows').name).to.equal(undefined);
  });

  it('the limit of named statements counts texts, not values', () => {
    const { parse, prepare, keepPrepared: keep } = createQueryEngine();
    const kept = (query: RawQuery) =>
      keep(prepare(parse(book, query, { schema }) as PermissionRestricted<ReadNode>, schema));
    for (let pages = 0; pages < MOST + 10; pages++) kept({ filter: { pages: { _eq: pages } } });
    expect(kept({ fields: 'id' }).name).to.match(/^q/);
    for (let limit = 1; limit <= MOST; limit++) kept({ limit });
    expect(kept({ fields: 'title' }).name, 'one too many').to.equal(undefined);
    expect(kept({ fields: 'id' }).name, 'a known one').to.match(/^q/);
  });
});
