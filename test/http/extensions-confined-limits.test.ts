import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  renderConfinedEndpoint,
} from './confined-packages.ts';
import { requestAsAdmin } from './test-users.ts';

const open = { type: 'endpoint', capabilities: { endpoint: { access: 'public' } } };

describe('limits of confined packages', () => {
  let packages: ConfinedPackageFolder;
  let service: InProcessService;

  before(async function () {
    this.timeout(120_000);
    packages = await createConfinedPackageFolder();
    for (let at = 0; at < 8; at++) {
      await packages.put(
        `service-extension-public-${at}`,
        { type: 'endpoint', capabilities: { endpoint: { access: 'public' }, log: true } },
        renderConfinedEndpoint(
          `public-${at}`,
          `({ path, query }, { host }) => {
            const time = Number(query.time);
            if (path === '/wait') { host.log.info('waits'); return new Promise((done) => setTimeout(() => done({}), time)); }
            for (const end = Date.now() + time; Date.now() < end; );
            return {};
          }`,
        ),
      );
    }
    await packages.put(
      'service-extension-guard',
      { type: 'hook', events: { filter: ['notes.items.create'] }, capabilities: {} },
      `export default { id: 'guard', filters: { 'notes.items.create': (payload) =>
        payload.text === 'slow' ? new Promise((done) => setTimeout(done, 3000)) : { text: payload.text + '!' } } };`,
    );
    await packages.put(
      'service-extension-bomb',
      open,
      renderConfinedEndpoint(
        'bomb',
        `({ path }) => { if (path === '/well') return {}; new Array(30_000_000).fill(1); }`,
      ),
    );
    service = await startService({
      env: {
        EXTENSIONS_PATH: packages.path,
        EXTENSIONS_SANDBOX_MAX_PROCESSES: '1',
        // Much longer than the longest call (8 s), so that no call exceeds the limit on a busy machine.
        EXTENSIONS_SANDBOX_TIMEOUT: '60s',
        LOG_LEVEL: 'info',
      },
    });
    const fields = [{ field: 'text', type: 'text' }];
    await requestAsAdmin(service, 'POST', '/collections', { collection: 'notes', schema: {}, fields });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const codeOf = (body: { errors: [{ extensions: { code: string } }] }) => body.errors[0].extensions.code;

  const waits = () => service.log.filter(({ msg }) => msg === 'waits').length;
  const call = (at: number, path: string, time: number) =>
    service.request('GET', `/public-${at}/${path}?time=${time}`).then(({ status }) => status);
  const write = (text: string) =>
    service.request('POST', '/items/notes', { token: service.admin.token, body: { text } });

  it('a waiting endpoint does not delay other packages or writes with a hook', async () => {
    const before = waits();
    let isOver = false;
    const waiting = [0, 1, 2, 3, 4, 5].map((at) => call(at, 'wait', 8000));
    void Promise.race(waiting).then(() => (isOver = true));
    while (waits() < before + 6) await new Promise((resolve) => setTimeout(resolve, 10));
    expect([await call(7, 'burn', 1), (await write('a')).body.data.text, isOver]).to.deep.equal([200, 'a!', false]);
    expect(await Promise.all(waiting)).to.deep.equal([200, 200, 200, 200, 200, 200]);
  });

  it('eight concurrent calls of 300 ms all answer, waiting or computing', async () => {
    for (const path of ['wait', 'burn']) {
      const statuses = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((at) => call(at, path, 300)));
      expect(statuses, path).to.deep.equal([200, 200, 200, 200, 200, 200, 200, 200]);
    }
  });

  it('calls above the concurrency limit answer 503 with Retry-After, for endpoints and hooks', async () => {
    const crowds = {
      endpoint: () => service.request('GET', '/public-0/wait?time=3000'),
      hook: () => write('slow'),
    };
    for (const [kind, one] of Object.entries(crowds)) {
      const replies = await Promise.all(Array.from({ length: 80 }, one));
      const refused = replies.filter(({ status }) => status !== 200);
      expect(refused.length, kind).to.be.within(1, 79);
      expect(new Set(refused.map(({ status, body }) => `${status} ${codeOf(body)}`)), kind).to.deep.equal(
        new Set(['503 SERVICE_UNAVAILABLE']),
      );
      for (const { headers } of refused) expect(headers.get('retry-after'), kind).to.match(/^\d+$/);
    }
  });

  it('a package that keeps crashing is parked, listed as failed, and restarted by an admin', async function () {
    this.timeout(120_000);
    const deadline = Date.now() + 100_000;
    const row = async () => (await listExtensions(service))['service-extension-bomb'];
    while (Date.now() < deadline && (await row())?.status === 'loaded') {
      expect((await service.request('GET', '/bomb')).status).to.be.oneOf([500, 503]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect([(await row())?.status, (await row())?.reason?.code]).to.deep.equal(['failed', 'RUNTIME_CRASHED']);
    expect((await row())?.reason?.detail).to.match(/^Failed too often .* POST its name to extensions\/restart\.$/);
    const parked = await service.request('GET', '/bomb/well');
    expect([parked.status, codeOf(parked.body)]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    const restart = { token: service.admin.token, body: { name: 'service-extension-bomb' } };
    expect((await service.request('POST', '/extensions/restart', restart)).status).to.equal(200);
    expect((await row())?.status).to.equal('loaded');
    expect((await service.request('GET', '/bomb/well')).status).to.equal(200);
  });
});
