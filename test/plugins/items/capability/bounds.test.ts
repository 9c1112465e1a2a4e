import { expect } from 'chai';
import type { BrokerRefusal } from '../../../../plugins/broker/library.ts';
import { parseBoundedQuery } from '../../../../plugins/items/capability/bounded-query.ts';
import {
  requireBoundedDistinctKeys,
  requireBoundedPayload,
  requireBoundedPayloads,
} from '../../../../plugins/items/capability/parse-bounded-payload.ts';
import { captureError } from '../../../support/test-plugins.ts';

const refused = async (run: () => unknown, about: unknown) =>
  expect((await captureError<BrokerRefusal>(run)).code, JSON.stringify(about)?.slice(0, 200)).to.equal(
    'invalid_request',
  );
const refusedQuery = (query: unknown) => refused(() => parseBoundedQuery(query, -1), query);

/** A filter of nested fields, `levels` deep: `{ a: { a: … { _eq: 1 } } }`. */
const nested = (levels: number): unknown => (levels === 0 ? { _eq: 1 } : { a: nested(levels - 1) });
const alternatives = (levels: number): unknown => (levels === 0 ? {} : { _or: [alternatives(levels - 1)] });
const times = <T>(count: number, one: T): T[] => Array(count).fill(one);

describe('bounds of queries of host.items', () => {
  it('defaults are filled in', () => {
    for (const nothing of [undefined, null, {}, { fields: null, limit: undefined }])
      expect(parseBoundedQuery(nothing, -1)).to.deep.equal({ fields: ['*'], sort: [], limit: 100 });
    expect(parseBoundedQuery({}, 25).limit).to.equal(25);
    expect(
      parseBoundedQuery({ fields: 'a, b.c', sort: '-a,b', limit: 5, page: 2, offset: 7, search: 'x' }, 25),
    ).to.deep.equal({
      fields: ['a', 'b.c'],
      sort: ['-a', 'b'],
      limit: 5,
      page: 2,
      offset: 7,
      search: 'x',
    });
  });

  it('limit is reduced to the maximum, and rejected where it is no number of rows', async () => {
    expect([1, 100, 101, 1e9].map((limit) => parseBoundedQuery({ limit }, -1).limit)).to.deep.equal([1, 100, 100, 100]);
    for (const limit of [0, -1, 1.5, '5', true, [], Number.NaN]) await refusedQuery({ limit });
  });

  it('offset and page are rejected beyond the maximum number of skipped rows', async () => {
    for (const query of [{ offset: 10_000 }, { page: 100 }, { page: 10_000, limit: 1 }]) parseBoundedQuery(query, -1);
    for (const query of [{ offset: 10_001 }, { page: 101 }, { page: 5001, limit: 2 }, { offset: -1 }, { page: 0 }])
      await refusedQuery(query);
  });

  it('a query has seven known parameters', async () => {
    for (const key of [
      'deep',
      'alias',
      'aggregate',
      'groupBy',
      'export',
      'meta',
      'version',
      'backlink',
      '__proto__',
      'x',
    ])
      await refusedQuery(JSON.parse(`{"${key}":1}`));
    for (const query of ['x', 7, [], true]) await refusedQuery(query);
  });

  it('paths have at most three names, and wildcards only by themselves', async () => {
    for (const fields of [['*'], ['*', 'a.b.c'], ['item:headings.title'], ['year(born)', 'a.count(b)'], times(64, 'a')])
      parseBoundedQuery({ fields }, -1);
    for (const path of [
      'a.b.c.d',
      '*.a',
      'a.*',
      '*.*',
      '**',
      '',
      '.',
      'a.',
      'a,b',
      '$FOLLOW(a,b)',
      'year(a.b.c.d)',
      'a b*',
    ])
      await refusedQuery({ fields: [path] });
    for (const fields of [times(65, 'a'), ['a'.repeat(129)], [7], [['a']], {}, 7]) await refusedQuery({ fields });
    for (const sort of [times(9, 'a'), ['a.b.c.d'], ['*'], ['-*'], ['--a.b.c.d'], ['-'], 7])
      await refusedQuery({ sort });
    parseBoundedQuery({ sort: ['-a.b.c', ...times(7, 'a')] }, -1);
  });

  it('search has at most 256 characters', async () => {
    parseBoundedQuery({ search: 'x'.repeat(256) }, -1);
    for (const search of ['x'.repeat(257), 7, {}]) await refusedQuery({ search });
  });

  it('filters are limited in depth, size and branches', async () => {
    for (const filter of [
      {},
      nested(8),
      alternatives(8),
      { _or: times(16, {}) },
      { a: { _in: times(100, 1) }, b: { _null: true }, c: { d: { _between: [1, 2] } } },
      { _and: times(16, Object.fromEntries(times(7, 0).map((_, at) => [`f${at}`, { _eq: 1 }]))) },
    ])
      parseBoundedQuery({ filter }, -1);
    for (const filter of [
      nested(9),
      alternatives(9),
      { _or: [] },
      { _or: times(17, {}) },
      { _and: {} },
      { _and: [1] },
      { a: { _in: times(101, 1) } },
      { a: { _in: '1,2' } },
      { a: { _nbetween: 1 } },
      { _and: times(16, Object.fromEntries(times(9, 0).map((_, at) => [`f${at}`, { _eq: 1 }]))) },
    ])
      await refusedQuery({ filter });
  });

  it('a field of a filter has one operator or one field, and known operators only', async () => {
    for (const rule of [
      1,
      null,
      'x',
      [],
      {},
      { _eq: 1, _neq: 2 },
      { a: { _eq: 1 }, b: { _eq: 1 } },
      { _eq: { a: 1 } },
      { _eq: [1] },
    ])
      await refusedQuery({ filter: { a: rule } });
    for (const operator of [
      '_ieq',
      '_some',
      '_none',
      '_and',
      '_or',
      '_json',
      '_regex',
      '_intersects',
      '_nicontains',
      '_',
    ])
      await refusedQuery({ filter: { a: { [operator]: 1 } } });
    for (const name of ['$FOLLOW(comments,article)', 'a.b', 'year(a.b)', '*', ''])
      await refusedQuery({ filter: { [name]: { _eq: 1 } } });
    for (const filter of ['{"a":1}', [], 7]) await refusedQuery({ filter });
  });
});

describe('bounds of payloads of host.items', () => {
  const deep = (levels: number): unknown => (levels === 1 ? {} : { a: [deep(levels - 2)] });

  it('payloads have at most 128 KiB and 64 levels', async () => {
    requireBoundedPayload({ a: 'x'.repeat(128 * 1024 - 8) });
    requireBoundedPayload(deep(63));
    await refused(() => requireBoundedPayload({ a: 'x'.repeat(128 * 1024 - 7) }), 'too long');
    await refused(() => requireBoundedPayload({ a: 'ü'.repeat(65 * 1024) }), 'too long in bytes');
    await refused(() => requireBoundedPayload(deep(65)), 'too deep');
    await refused(
      () => requireBoundedPayload(JSON.parse(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)),
      'much too deep',
    );
    for (const payload of [null, undefined, [], 'x', 7]) await refused(() => requireBoundedPayload(payload), payload);
  });

  it('batches have at most 100 rows, each key once', async () => {
    const keys = Array.from({ length: 101 }, (_, at) => at);
    expect(requireBoundedDistinctKeys(keys.slice(1))).to.have.length(100);
    expect(requireBoundedPayloads(times(100, {}))).to.have.length(100);
    for (const list of [keys, [1, 1], [1, '1'], [null], [{}], [true], 'x', {}, undefined])
      await refused(() => requireBoundedDistinctKeys(list), list);
    for (const list of [times(101, {}), [[]], [null], {}, 'x']) await refused(() => requireBoundedPayloads(list), list);
  });
});
