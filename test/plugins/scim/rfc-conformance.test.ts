/**
 * The rules of RFC 7643 and 7644 as a table of requests, with SCIMMY, a library of another house, as a second opinion: it reads what the
 * service answers by the schemas that the service announces, and applies filters and operations itself.
 */
import { expect } from 'chai';
import SCIMMY from 'scimmy';
import { createSeededRandom } from '../../support/random.ts';
import { CORP_TOKEN, ENTERPRISE, GROUP, PATCH, type ScimFixture, startScimFixture, USER } from './scim-fixture.ts';

const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
type Resource = Record<string, unknown> & { readonly id: string };

const PEOPLE = [
  {
    userName: 'bjensen',
    externalId: '701984',
    name: { givenName: 'Barbara', familyName: 'Jensen' },
    displayName: 'Babs',
    title: 'Tour Guide',
    emails: [{ value: 'bjensen@example.com', type: 'work' }],
  },
  {
    userName: 'jsmith',
    name: { givenName: 'John', familyName: 'Smith' },
    displayName: 'Johnny',
    emails: [{ value: 'john@example.org' }],
    active: false,
  },
  { userName: 'amy@example.com', externalId: 'amy', name: { givenName: 'Amy' }, title: 'Guide' },
  { userName: 'zoe', name: { familyName: 'Jensen' }, displayName: 'Zoe', active: false, title: 'Vice President' },
  { userName: 'plain' },
] as const;

describe('SCIM beside the RFCs and SCIMMY', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  let people: readonly Resource[];
  before(async () => {
    fixture = await startScimFixture();
    for (const { userName, ...more } of PEOPLE) await fixture.createUser(userName, more);
    people = await list('');
  });
  after(() => fixture?.stop());

  async function list(query: string): Promise<readonly Resource[]> {
    const { status, body } = await fixture.scim('GET', `/Users${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.Resources;
  }
  const keyOf = (userName: string) => people.find((one) => one.userName === userName)?.id as string;
  const idsOf = (all: readonly Resource[]) => all.map(({ id }) => id).sort();
  /** The users whom SCIMMY finds. It needs each complex attribute in every resource, and lists that it filters without proxies. */
  const findBySCIMMY = (filter: string) => {
    const complete = people.map((one) => ({ ...one, name: one.name ?? {}, emails: one.emails ?? [] }));
    return idsOf(new SCIMMY.Types.Filter(filter).match(complete) as Resource[]);
  };
  const filtered = (filter: string) => list(`?filter=${encodeURIComponent(filter)}`);

  describe('discovery', () => {
    for (const path of ['/ServiceProviderConfig', '/ResourceTypes', '/Schemas'])
      it(`refuses to write ${path} with 405 and the methods that it has, whatever the body`, async () => {
        const token = { authorization: `Bearer ${CORP_TOKEN}`, 'content-type': 'application/scim+json' };
        const url = `${fixture.service.url}/scim/v2${path}`;
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
          const answer = await fetch(url, { method, headers: token, body: 'no JSON' });
          expect([method, answer.status, answer.headers.get('allow')]).to.deep.equal([method, 405, 'GET, HEAD']);
          expect(answer.headers.get('content-type')).to.contain('application/scim+json');
        }
      });
    it('announces what the service does (RFC 7643, section 5)', async () => {
      const { body } = await fixture.scim('GET', '/ServiceProviderConfig');
      expect(body.schemas).to.deep.equal(['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig']);
      expect(body).to.deep.include({
        patch: { supported: true },
        bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
        filter: { supported: true, maxResults: 200 },
        changePassword: { supported: false },
        sort: { supported: true },
        etag: { supported: true },
      });
      expect(body.authenticationSchemes[0].type).to.equal('oauthbearertoken');
      expect(body.meta).to.include({ resourceType: 'ServiceProviderConfig' });
    });

    for (const [path, names] of [
      ['ResourceTypes', ['User', 'Group']],
      ['Schemas', [USER, GROUP]],
    ] as const) {
      it(`lists ${path} and answers each by its id; a filter of them is 403 (RFC 7644, section 4)`, async () => {
        const { body } = await fixture.scim('GET', `/${path}`);
        expect([body.schemas, body.totalResults]).to.deep.equal([[LIST], 2]);
        expect(body.Resources.map((one: Resource) => one.id)).to.deep.equal(names);
        for (const one of body.Resources) {
          expect((await fixture.scim('GET', `/${path}/${one.id}`)).body).to.deep.equal(one);
          expect(one.meta.location).to.match(new RegExp(`/scim/v2/${path}/${one.id}$`));
        }
        expect((await fixture.scim('GET', `/${path}?filter=${encodeURIComponent('id pr')}`)).status).to.equal(403);
      });
    }

    it('announces each attribute of an answer, and no other', async () => {
      const id = keyOf('bjensen');
      const { body: group } = await fixture.scim('POST', '/Groups', {
        schemas: [GROUP],
        displayName: 'All attributes',
        externalId: 'g',
        members: [{ value: id }],
      });
      const user = (await fixture.scim('GET', `/Users/${id}`)).body;
      for (const [schema, resource] of [
        [USER, user],
        [GROUP, group],
      ] as const) {
        const { body } = await fixture.scim('GET', `/Schemas/${schema}`);
        const announced = body.attributes.map((one: { name: string }) => one.name);
        const common = ['schemas', 'id', 'externalId', 'meta'];
        expect(Object.keys(resource).filter((name) => !common.includes(name))).to.have.members(announced);
        for (const { name, subAttributes = [] } of body.attributes) {
          const value = [resource[name]].flat()[0];
          if (subAttributes.length > 0)
            expect(Object.keys(value), name).to.have.members(subAttributes.map((one: { name: string }) => one.name));
        }
      }
      await fixture.scim('DELETE', `/Groups/${group.id}`);
    });
  });

  describe('SCIMMY', () => {
    it('reads every user and group that the service answers as valid ones', async () => {
      const { body } = await fixture.scim('POST', '/Groups', {
        schemas: [GROUP],
        displayName: 'Read',
        members: [{ value: keyOf('bjensen') }],
      });
      for (const one of await list('')) expect(() => new SCIMMY.Schemas.User(one, 'out')).not.to.throw();
      expect(() => new SCIMMY.Schemas.Group(body, 'out')).not.to.throw();
      await fixture.scim('DELETE', `/Groups/${body.id}`);
    });

    for (const filter of [
      'userName eq "bjensen"',
      'userName ne "bjensen"',
      'name.familyName co "ens"',
      'name.familyName sw "J"',
      'name.familyName ew "ith"',
      'title pr',
      'not (title pr)',
      'title pr and active eq true',
      'title pr or active eq false',
      'active eq "False"',
      'title eq "Guide" or title eq "Tour Guide"',
      'displayName gt "Johnny"',
      'displayName ge "Johnny" and displayName le "Zoe"',
      'displayName lt "B"',
      'externalId eq "701984"',
      'externalId eq null',
      'emails[type eq "work"]',
      'emails[type eq "work" and value co "@example.com"]',
      'emails[type eq "home"]',
      'emails.value sw "john"',
      'userName eq "plain" or emails[value ew ".org"]',
      'active eq true and (title co "Guide" or name.givenName eq "Amy")',
      'meta.resourceType eq "User"',
      'meta.lastModified gt "2011-05-13T04:42:34Z"',
      'meta.created lt "2011-05-13T04:42:34Z"',
    ]) {
      it(`finds the same users by the filter ${filter}`, async () => {
        expect(idsOf(await filtered(filter))).to.deep.equal(findBySCIMMY(filter));
      });
    }

    it('finds the same users by 300 filters that are drawn at random', async () => {
      const random = createSeededRandom(7);
      const texts = ['userName', 'title', 'displayName', 'name.givenName', 'name.familyName', 'externalId'] as const;
      const values = ['bjensen', 'Tour Guide', 'Guide', 'Johnny', 'Jensen', 'Smith', '701984'] as const;
      let left: string[] = [];
      const drawComparison = () => {
        const attribute = left.splice(random.upTo(left.length), 1)[0];
        const operator = random.one(['eq', 'ne', 'co', 'sw', 'ew', 'pr'] as const);
        if (operator === 'pr') return `${attribute} pr`;
        const value = random.one(values);
        const part = { co: value.slice(2, 4), sw: value.slice(0, 2), ew: value.slice(-2) }[operator as 'co'] ?? value;
        return `${attribute} ${operator} "${part}"`;
      };
      // SCIMMY parses no brackets within brackets, and compares with regard to case: no value
      // differs from another in case alone. Of more than two terms after a bracket, and of an attribute in two terms, it loses some.
      const drawTerm = () => (random.chance(0.5) ? drawComparison() : `(${drawComparison()} or ${drawComparison()})`);
      for (let count = 0; count < 300; count++) {
        left = [...texts];
        const terms = Array.from({ length: random.one([1, 2] as const) }, drawTerm);
        const filter = terms.reduce((one, other) => `${one} ${random.one(['and', 'or'] as const)} ${other}`);
        expect(idsOf(await filtered(filter)), filter).to.deep.equal(findBySCIMMY(filter));
      }
    });

    for (const [title, Operations] of [
      [
        'replaces attributes by path',
        [
          { op: 'replace', path: 'title', value: 'T' },
          { op: 'Replace', path: 'name.familyName', value: 'F' },
        ],
      ],
      ['adds attributes without a path', [{ op: 'Add', value: { title: 'T', displayName: 'D', active: false } }]],
      [
        'replaces an address by filter',
        [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'patched@example.com' }],
      ],
      [
        'removes attributes',
        [
          { op: 'remove', path: 'title' },
          { op: 'remove', path: 'emails' },
        ],
      ],
      [
        'replaces, removes and adds one attribute',
        [
          { op: 'replace', path: 'title', value: 'a' },
          { op: 'remove', path: 'title' },
          { op: 'add', path: 'title', value: 'b' },
        ],
      ],
      ['replaces a complex attribute', [{ op: 'replace', path: 'name', value: { givenName: 'G', familyName: 'F' } }]],
    ] as const) {
      it(`makes the same of a PATCH that ${title}`, async () => {
        const id = await fixture.createUser(`patch-${crypto.randomUUID()}`, {
          name: { givenName: 'Pat', familyName: 'Ch' },
          title: 'Before',
          displayName: 'Pat',
          emails: [{ value: `${crypto.randomUUID()}@example.com`, type: 'work', primary: true }],
        });
        const before = (await fixture.scim('GET', `/Users/${id}`)).body;
        const message = { schemas: [PATCH], Operations: Operations.map((one) => structuredClone(one)) };
        const theirs = await new SCIMMY.Messages.PatchOp(message as never).apply(new SCIMMY.Schemas.User(before));
        const { body } = await fixture.scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations });
        const plain = JSON.parse(JSON.stringify(theirs));
        for (const name of ['userName', 'title', 'displayName', 'active', 'emails'])
          expect(body[name], name).to.deep.equal(plain[name]);
        const namesOf = ({ name = {} }: Resource) => [(name as Resource).givenName, (name as Resource).familyName];
        expect(namesOf(body)).to.deep.equal(namesOf(plain));
        await fixture.scim('DELETE', `/Users/${id}`);
      });
    }
  });

  describe('lists (RFC 7644, section 3.4.2)', () => {
    it('have the form of a ListResponse', async () => {
      const { body, headers } = await fixture.scim('GET', '/Users');
      expect(headers.get('content-type')).to.equal('application/scim+json');
      expect(body).to.deep.include({
        schemas: [LIST],
        totalResults: people.length,
        startIndex: 1,
        itemsPerPage: people.length,
      });
    });

    it('are sorted by an attribute in either order, those without it last in the ascending one', async () => {
      const sorted = async (query: string) => (await list(`?${query}`)).map(({ userName }) => userName);
      const byTitle = ['amy@example.com', 'bjensen', 'zoe'];
      expect((await sorted('sortBy=title')).slice(0, 3)).to.deep.equal(byTitle);
      expect((await sorted('sortBy=title&sortOrder=descending')).slice(-3)).to.deep.equal(byTitle.toReversed());
      expect(await sorted('sortBy=userName&sortOrder=ascending')).to.deep.equal([
        'amy@example.com',
        'bjensen',
        'jsmith',
        'plain',
        'zoe',
      ]);
      expect(await sorted('sortBy=emails&count=2')).to.deep.equal(['amy@example.com', 'bjensen']);
      expect(await sorted('sortBy=nickName')).to.have.length(people.length);
    });

    it('have pages that together are the whole list', async () => {
      const pages: string[] = [];
      for (let start = 1; start <= people.length; start += 2) {
        const { body } = await fixture.scim('GET', `/Users?sortBy=userName&startIndex=${start}&count=2`);
        expect(body).to.include({ totalResults: people.length, startIndex: start });
        expect(body.itemsPerPage).to.equal(body.Resources.length);
        pages.push(...body.Resources.map((one: Resource) => one.userName));
      }
      expect(pages).to.deep.equal(['amy@example.com', 'bjensen', 'jsmith', 'plain', 'zoe']);
    });

    it('answer a POST of .search as the GET with the same query', async () => {
      const query = { filter: 'title pr', sortBy: 'title', sortOrder: 'descending', startIndex: 2, count: 1 };
      const search = await fixture.scim('POST', '/Users/.search', {
        schemas: [SEARCH],
        ...query,
        attributes: ['userName'],
      });
      const params = new URLSearchParams({ ...query, startIndex: '2', count: '1', attributes: 'userName' });
      expect(search.status).to.equal(200);
      expect(search.body).to.deep.equal((await fixture.scim('GET', `/Users?${params}`)).body);
      expect(search.body.Resources).to.have.length(1);
    });

    it('compare names, operators and most values without regard to case, but identifiers with it', async () => {
      for (const [filter, count] of [
        ['USERNAME Eq "BJENSEN"', 1],
        [`${USER}:userName eq "bjensen"`, 1],
        ['NOT (title PR) AND active EQ False', 1],
        ['externalId eq "AMY"', 0],
        ['emails eq "BJENSEN@example.com"', 1],
        ['nickName pr', 0],
        ['nickName ne "x"', 5],
        // Entra ID looks so whether a manager is set.
        [`id eq "${keyOf('zoe')}" and manager eq "${keyOf('amy@example.com')}"`, 0],
        [`id eq "${keyOf('zoe')}" and ${ENTERPRISE}:manager eq "${keyOf('amy@example.com')}"`, 0],
        ['phoneNumbers[type eq "work"]', 0],
      ] as const)
        expect((await filtered(filter)).length, filter).to.equal(count);
    });

    it('find groups by name, key and members, as providers look for them', async () => {
      const member = keyOf('bjensen');
      const { body } = await fixture.scim('POST', '/Groups', {
        schemas: [GROUP],
        displayName: 'Sought',
        members: [{ value: member }],
      });
      for (const [filter, count] of [
        ['displayName eq "sought"', 1],
        [`id eq "${body.id}" and members eq "${member}"`, 1],
        [`members[value eq "${member}"]`, 1],
        [`id eq "${body.id}" and members eq "${keyOf('zoe')}"`, 0],
        [`members.value ne "${member}"`, 0],
      ] as const) {
        const found = await fixture.scim(
          'GET',
          `/Groups?excludedAttributes=members&filter=${encodeURIComponent(filter)}`,
        );
        expect(found.body.totalResults, filter).to.equal(count);
        for (const one of found.body.Resources) expect(one).not.to.have.property('members');
      }
      expect((await filtered('groups.display eq "Sought"')).map(({ id }) => id)).to.deep.equal([member]);
      expect((await filtered(`groups[value eq "${body.id}"]`)).map(({ id }) => id)).to.deep.equal([member]);
      await fixture.scim('DELETE', `/Groups/${body.id}`);
    });
  });
});
