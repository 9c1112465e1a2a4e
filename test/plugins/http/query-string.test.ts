import { expect } from 'chai';
import { Failure } from '#kernel';
import { parseQueryString } from '../../../plugins/http/library.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const codeOf = (text: string): string | undefined => {
  try {
    parseQueryString(text);
    return undefined;
  } catch (error) {
    return error instanceof Failure ? error.code : String(error);
  }
};

describe('parseQueryString', () => {
  const cases: readonly [text: string, query: unknown][] = [
    ['', {}],
    ['a=1&b=two&c', { a: '1', b: 'two', c: '' }],
    [
      'fields=name,album_id.title&sort=-milliseconds&limit=3',
      { fields: 'name,album_id.title', sort: '-milliseconds', limit: '3' },
    ],
    ['filter[composer][_contains]=Bach', { filter: { composer: { _contains: 'Bach' } } }],
    ['filter%5Ba%5D%5B_eq%5D=x%20y+z', { filter: { a: { _eq: 'x y z' } } }],
    [
      'filter[_and][0][a][_eq]=1&filter[_and][1][b][_eq]=2',
      { filter: { _and: [{ a: { _eq: '1' } }, { b: { _eq: '2' } }] } },
    ],
    ['fields[]=a&fields[]=b', { fields: ['a', 'b'] }],
    ['fields=a&fields=b', { fields: ['a', 'b'] }],
    ['a=b=c', { a: 'b=c' }],
    ['=x&&a=1', { a: '1' }],
    ['a=%zz', { a: '%zz' }],
  ];
  for (const [text, query] of cases) {
    it(`parses ${text || '(empty)'}`, () => {
      expect(plain(parseQueryString(text))).to.deep.equal(query);
    });
  }

  it('treats names of Object.prototype as ordinary names', () => {
    for (const text of [
      '__proto__[admin]=1',
      '__proto__=1',
      'a[__proto__][admin]=1',
      'constructor[prototype][admin]=1',
    ]) {
      const query = parseQueryString(text);
      expect(Object.getPrototypeOf(query)).to.equal(null);
      expect(query.admin).to.equal(undefined);
    }
    expect(({} as Record<string, unknown>).admin).to.equal(undefined);
    expect(Object.keys(parseQueryString('__proto__=1'))).to.deep.equal([]);
  });

  it('refuses texts over a limit', () => {
    expect(codeOf(`a${'[b]'.repeat(10)}=1`)).to.equal(undefined);
    expect(codeOf(`a${'[b]'.repeat(11)}=1`)).to.equal('INVALID_QUERY');
    expect(codeOf(`a${'[b]'.repeat(600)}=1`)).to.equal('INVALID_QUERY');
    expect(codeOf(Array.from({ length: 1000 }, (_, at) => `a${at}=1`).join('&'))).to.equal(undefined);
    expect(codeOf(Array.from({ length: 1001 }, (_, at) => `a${at}=1`).join('&'))).to.equal('INVALID_QUERY');
  });

  it('parses lists over the limit into objects keyed by index', () => {
    const { a } = parseQueryString(Array.from({ length: 501 }, (_, at) => `a[]=${at}`).join('&'));
    expect(a).not.to.be.an('array');
    expect(Object.values(a as object)).to.deep.equal(Array.from({ length: 501 }, (_, at) => String(at)));
    expect(parseQueryString('a[100000]=1').a).to.deep.equal({ 100000: '1' });
  });

  it('refuses NUL characters', () => {
    expect(codeOf('a=x%00y')).to.equal('INVALID_QUERY');
    expect(codeOf('a%00=x')).to.equal('INVALID_QUERY');
    expect(codeOf('a=x%2500y')).to.equal(undefined);
  });
});
