import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';

describe('unknown query parameters', () => {
  const services: InProcessService[] = [];
  const start = async (env: Record<string, string>) => {
    const service = await startService({ env });
    services.push(service);
    await service.database.query('create table thing (id serial primary key, name text)');
    return service;
  };
  after(async () => {
    for (const service of services) await service.stop();
  });
  const sending = (service: InProcessService) => (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  describe('with QUERYSTRING_UNKNOWN_PARAMETERS unset', () => {
    let service: InProcessService;
    let send: ReturnType<typeof sending>;
    const lines = () => service.log.filter(({ msg }) => String(msg).startsWith('unknown query parameter'));
    before(async () => {
      service = await start({ LOG_LEVEL: 'warn' });
      send = sending(service);
    });

    const CASES: readonly [what: string, method: string, path: string, body: unknown, warning: string | null][] = [
      [
        'a list with an unknown parameter',
        'GET',
        '/items/thing?filtr[name]=a&limit=1',
        undefined,
        'filtr, did you mean filter?',
      ],
      [
        'a singleton with an unknown parameter',
        'GET',
        '/settings?feilds=id',
        undefined,
        'feilds, did you mean fields?',
      ],
      [
        'a system collection with an unknown parameter',
        'GET',
        '/roles?Limit=1',
        undefined,
        'Limit, did you mean limit?',
      ],
      ['a write with an unknown parameter', 'POST', '/items/thing?nothing_like_it=1', {}, 'nothing_like_it"'],
      [
        'an unknown parameter with encoded brackets',
        'GET',
        '/items/thing?filtr%5Bname%5D=a',
        undefined,
        'filtr, did you mean filter?',
      ],
      [
        'a SEARCH body with an unknown member',
        'SEARCH',
        '/items/thing',
        { query: { sorts: ['id'] } },
        'sorts, did you mean sort?',
      ],
      [
        'a list with known parameters',
        'GET',
        '/items/thing?fields=id&filter[id]=1&sort=id&limit=1&offset=0&page=1&meta=*&deep={}&search=a&alias[x]=id&backlink=true&access_token=',
        undefined,
        null,
      ],
      ['a SEARCH body with known members', 'SEARCH', '/items/thing', { query: { filter: { id: 1 }, limit: 1 } }, null],
      ['a single row with list parameters', 'GET', '/items/thing/1?filter[id]=1&limit=1', undefined, null],
      ['a route that reads no query', 'GET', '/server/ping?time=1', undefined, null],
    ];
    for (const [what, method, path, body, warning] of CASES) {
      it(`${what} ${warning ? 'is answered with a Warning header' : 'is answered without a Warning header'}`, async () => {
        const { headers, status, body: answer } = await send(method, path, body);
        expect(status, JSON.stringify(answer)).to.be.oneOf([200, 204, 403]);
        const header = headers.get('warning');
        if (warning) expect(header).to.contain('299 - "unknown query parameter').and.to.contain(warning);
        else expect(header).to.equal(null);
      });
    }

    it('an unknown parameter has one line in the log, however often clients send it', async () => {
      for (let n = 0; n < 3; n++) await send('GET', '/items/thing?srch=x');
      const found = lines().filter(({ parameter }) => parameter === 'srch');
      expect(found).to.have.length(1);
      expect(found[0]).to.include({ route: 'GET /items', meant: 'search' });
    });

    it('the number of log lines and of names in a Warning header is bounded', async () => {
      for (let n = 0; n < 40; n++) {
        const many = Array.from({ length: 10 }, (_, at) => `made_up_${n}_${at}=1`).join('&');
        const { headers } = await send('GET', `/items/thing?${many}`);
        expect(headers.get('warning')?.split(', 299').length).to.equal(5);
      }
      expect(lines().length).to.be.at.most(101);
      expect(lines().at(-1)?.msg).to.contain('further ones are not logged');
    });

    for (const [query, message] of [
      ['filter[name][_contain]=a', '"_contain" is not an operator; did you mean "_contains"?'],
      ['filter[_adn][0][id]=1', 'did you mean "_and"?'],
      ['aggregate[cuont]=*', 'did you mean "count"?'],
      ['fields=yaer(id)', 'did you mean "year"?'],
      ['limit=many', '"many" is not a whole number of at least -1'],
      ['limit=-2', '"-2" is not a whole number of at least -1'],
      ['limit[toString]=1', 'an object or a list is not a whole number of at least -1'],
      ['offset[_eq][toString]=1', 'an object or a list is not a whole number of at least 0'],
    ] as const)
      it(`?${query} is refused with INVALID_QUERY: ${message}`, async () => {
        const { status, body } = await send('GET', `/items/thing?${query}`);
        expect(status).to.equal(400);
        expect(body.errors[0].message).to.contain(message);
      });

    it('the Warning header replaces quotes and line breaks of a parameter name', async () => {
      const { headers } = await send('GET', `/items/thing?${encodeURIComponent('a"\r\nb: c, ü')}=1`);
      expect(headers.get('warning')).to.equal('299 - "unknown query parameter a???b:?c???"');
    });
  });

  describe('with QUERYSTRING_UNKNOWN_PARAMETERS=refuse', () => {
    let send: ReturnType<typeof sending>;
    before(async () => {
      send = sending(await start({ QUERYSTRING_UNKNOWN_PARAMETERS: 'refuse' }));
    });

    for (const [method, path, body, name, meant] of [
      ['GET', '/items/thing?filtr[name]=a', undefined, 'filtr', 'filter'],
      ['GET', '/users?limt=1', undefined, 'limt', 'limit'],
      ['GET', '/items/thing?fields=id&xyzzy=1', undefined, 'xyzzy', null],
      ['SEARCH', '/items/thing', { query: { agregate: { count: '*' } } }, 'agregate', 'aggregate'],
    ] as const)
      it(`${method} ${path} is refused and suggests ${meant ? `"${meant}"` : 'no name'}`, async () => {
        const { status, body: answer } = await send(method, path, body);
        expect([status, answer.errors?.[0].extensions.code]).to.deep.equal([400, 'INVALID_QUERY']);
        expect(answer.errors[0].message).to.contain(`"${name}"`);
        if (meant) expect(answer.errors[0].message).to.contain(`Did you mean "${meant}"?`);
        else expect(answer.errors[0].message).not.to.contain('Did you mean');
      });

    it('requests with known parameters only are answered', async () => {
      for (const path of [
        '/items/thing?limit=1&fields=*',
        '/items/thing',
        '/users?filter[email][_nnull]=true',
        '/server/info',
      ])
        expect((await send('GET', path)).status, path).to.equal(200);
    });
  });
});
