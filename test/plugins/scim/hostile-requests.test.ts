import { expect } from 'chai';
import { GROUP, PATCH, type ScimFixture, startScimFixture, USER } from './scim-fixture.ts';

describe('hostile requests of SCIM', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture();
    await fixture.createUser('ann@example.com', { externalId: 'ann', name: { givenName: "O'Neil %_\\" } });
  });
  after(() => fixture?.stop());

  const list = (filter: string, path = '/Users') => fixture.scim('GET', `${path}?filter=${encodeURIComponent(filter)}`);

  for (const [title, filter] of [
    ['nested deeper than 20 levels', `${'('.repeat(21)}userName pr${')'.repeat(21)}`],
    ['of negations nested deeper than 20 levels', `${'not ('.repeat(30)}userName pr${')'.repeat(30)}`],
    ['longer than 4096 characters', `userName eq "${'x'.repeat(4096)}"`],
    ['with more than 100 comparisons', Array(101).fill('title pr').join(' or ')],
    ['that is not closed', 'userName eq "ann'],
    ['with brackets that do not match', 'emails[type eq "work"'],
    ['without an operator', 'userName'],
    ['without a value', 'userName eq'],
    ['with a value without quotes', 'userName eq ann'],
    ['with an unknown operator', 'userName like "a%"'],
    ['with something behind its end', 'userName pr userName pr'],
    ['with an unknown attribute', 'shoeSize eq "1"'],
    ['with the name of a member of every object', 'constructor eq "x"'],
    ['with a sub-attribute of that name', 'name.constructor pr'],
    ['with an unknown sub-attribute', 'name.nick eq "1"'],
    ['with a column of the table', 'password pr or token pr'],
    ['with a NUL character', 'userName eq "a\\u0000b"'],
    ['with half of a pair of surrogates as an escape', 'userName eq "\\ud800" and userName xx "1"'],
    ['with an order of booleans', 'active gt true'],
    ['with a number for a text', 'userName eq 5'],
    ['with a year that is none', 'meta.created gt "0000-01-01T00:00:00Z"'],
    ['with a year of five digits', 'meta.created gt "9999-12-31T23:59:59-23:59"'],
    ['with a text that is no time', 'meta.created gt "yesterday"'],
    ['with statements of SQL', `userName eq "a"); drop table platform_users; --"`],
    ['with an empty pair of brackets', '()'],
    ['with a bracket within a bracket', 'emails[emails[type eq "work"]]'],
  ] as const) {
    it(`refuses a filter ${title} with 400 "invalidFilter"`, async () => {
      const { status, body } = await list(filter);
      expect([status, body.scimType], JSON.stringify(body)).to.deep.equal([400, 'invalidFilter']);
    });
  }

  it('compares signs of SQL and of patterns as what they are', async () => {
    for (const [filter, count] of [
      [`name.givenName eq "O'Neil %_\\\\"`, 1],
      ['name.givenName co "%_\\\\"', 1],
      ['userName sw "%"', 0],
      ['userName co "_"', 0],
      [`userName eq "' or '1'='1"`, 0],
      ['userName eq "\\u0061nn@example.com"', 1],
    ] as const)
      expect((await list(filter)).body.totalResults, filter).to.equal(count);
  });

  it('takes a filter at its limits', async () => {
    expect((await list(`${'('.repeat(19)}userName pr${')'.repeat(19)}`)).body.totalResults).to.equal(1);
    expect((await list(Array(100).fill('title pr').join(' or '))).status).to.equal(200);
  });

  for (const [title, query] of [
    ['a startIndex that is no number', 'startIndex=one'],
    ['a count with a fraction', 'count=1.5'],
    ['two filters', 'filter=userName%20pr&filter=userName%20pr'],
    ['a filter with brackets in its name', 'filter[a]=userName%20pr'],
    ['an unknown sortBy', 'sortBy=shoeSize'],
    ['a sortBy of many values', 'sortBy=groups.value'],
    ['an unknown sortOrder', 'sortOrder=up'],
    ['attributes that are none', 'attributes=user%20name'],
  ] as const) {
    it(`refuses ${title} with 400`, async () => {
      const { status, body } = await fixture.scim('GET', `/Users?${query}`);
      expect([status, body.status], JSON.stringify(body)).to.deep.equal([400, '400']);
    });
  }

  it('takes numbers below and above the limits as the limits', async () => {
    const read = async (query: string) => (await fixture.scim('GET', `/Users?${query}`)).body;
    expect(await read('startIndex=-5&count=-1')).to.include({ startIndex: 1, itemsPerPage: 0, totalResults: 1 });
    expect((await read('count=9999999999')).Resources).to.have.length(1);
    expect(await read('startIndex=9999999999')).to.include({ itemsPerPage: 0, totalResults: 1 });
  });

  for (const [title, method, path, body] of [
    ['a list as a user', 'POST', '/Users', []],
    ['a user without schemas', 'POST', '/Users', { userName: 'a' }],
    ['a user of another schema', 'POST', '/Users', { schemas: [GROUP], userName: 'a' }],
    ['a user without a userName', 'POST', '/Users', { schemas: [USER] }],
    ['a user with an empty userName', 'POST', '/Users', { schemas: [USER], userName: ' ' }],
    ['a userName of 256 characters', 'POST', '/Users', { schemas: [USER], userName: 'x'.repeat(256) }],
    ['an object as userName', 'POST', '/Users', { schemas: [USER], userName: { $gt: '' } }],
    ['an attribute in two spellings', 'POST', '/Users', { schemas: [USER], userName: 'a', USERNAME: 'b' }],
    ['a name that is a list', 'POST', '/Users', { schemas: [USER], userName: 'a', name: [] }],
    [
      'an address whose type is no text',
      'POST',
      '/Users',
      { schemas: [USER], userName: 'a', emails: [{ value: 'a@b.example', type: { toString: 1, valueOf: 1 } }] },
    ],
    ['a NUL character', 'POST', '/Users', { schemas: [USER], userName: 'a\0b' }],
    [
      '101 addresses',
      'POST',
      '/Users',
      { schemas: [USER], userName: 'a', emails: Array(101).fill({ value: 'a@b.example' }) },
    ],
    [
      '1001 operations',
      'PATCH',
      '/Users/00000000-0000-4000-8000-00000000ffff',
      { schemas: [PATCH], Operations: Array(1001).fill({ op: 'add', path: 'title', value: 'x' }) },
    ],
    [
      'operations that are no list',
      'PATCH',
      '/Groups/00000000-0000-4000-8000-00000000ffff',
      { schemas: [PATCH], Operations: {} },
    ],
    ['a group without a name', 'POST', '/Groups', { schemas: [GROUP] }],
    ['members that are no objects', 'POST', '/Groups', { schemas: [GROUP], displayName: 'g', members: [[1]] }],
    ['a search of another schema', 'POST', '/Users/.search', { schemas: [USER] }],
  ] as const) {
    it(`refuses ${title} with 400 in the form of SCIM`, async () => {
      const reply = await fixture.scim(method, path, body);
      const known = path.endsWith('ffff') ? [400, 404] : [400];
      expect(reply.status, JSON.stringify(reply.body)).to.be.oneOf(known);
      expect(reply.body.schemas).to.deep.equal(['urn:ietf:params:scim:api:messages:2.0:Error']);
    });
  }

  it('answers paths that lead to nothing with 404, and methods that a path has not, in the form of SCIM', async () => {
    for (const [method, path] of [
      ['GET', '/Users/no-key'],
      ['GET', '/Nothing'],
      ['GET', ''],
      ['GET', '/Schemas/urn:none'],
      ['DELETE', '/Users'],
      ['POST', '/Bulk'],
    ] as const) {
      const { status, body } = await fixture.scim(method, path, method === 'POST' ? {} : undefined);
      expect([status, body.status], `${method} ${path}`).to.deep.equal([404, '404']);
    }
  });

  it('refuses a body over MAX_PAYLOAD_SIZE with 413 in the form of SCIM', async () => {
    const { status, body } = await fixture.scim('POST', '/Users', { schemas: [USER], userName: 'x'.repeat(1_100_000) });
    expect([status, body.status]).to.deep.equal([413, '413']);
  });
});
