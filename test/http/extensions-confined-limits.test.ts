import { expect } from 'chai';
import { type InProcess, startService } from '../support/service.ts';
import { endpoint, type Packages, packagesIn, rowsOf } from './confined-packages.ts';

const open = { type: 'endpoint', capabilities: { endpoint: { access: 'public' } } };

describe('confined endpoints at their limits', () => {
  let packages: Packages;
  let service: InProcess;

  before(async function () {
    this.timeout(120_000);
    packages = await packagesIn();
    await packages.put(
      'service-extension-slow',
      { type: 'endpoint', capabilities: { endpoint: { access: 'public' }, log: true } },
      endpoint(
        'slow',
        `(input, { host }) => { host.log.info('at work'); return new Promise((done) => setTimeout(() => done({}), 3000)); }`,
      ),
    );
    await packages.put('service-extension-other', open, endpoint('other', '() => ({})'));
    await packages.put(
      'service-extension-bomb',
      open,
      endpoint('bomb', `({ path }) => { if (path === '/well') return {}; new Array(30_000_000).fill(1); }`),
    );
    service = await startService({
      env: {
        EXTENSIONS_PATH: packages.path,
        EXTENSIONS_SANDBOX_MAX_PROCESSES: '1',
        LOG_LEVEL: 'info',
      },
    });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const codeOf = (body: { errors: [{ extensions: { code: string } }] }) => body.errors[0].extensions.code;

  it('are busy with 503 and when to try again, while there is no process for them', async () => {
    expect((await service.request('GET', '/slow')).status).to.equal(200);
    const slow = service.request('GET', '/slow');
    let refused: Awaited<typeof slow> | undefined;
    let isOver = false;
    void slow.finally(() => (isOver = true));
    const runs = () => service.log.filter(({ msg }) => msg === 'at work').length;
    while (runs() < 2 && !isOver) await new Promise((resolve) => setTimeout(resolve, 5));
    while (!refused && !isOver) {
      const reply = await service.request('GET', '/other');
      if (reply.status !== 200) refused = reply;
    }
    expect([refused?.status, codeOf(refused?.body)]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
    expect(refused?.headers.get('retry-after')).to.match(/^\d+$/);
    expect((await slow).status).to.equal(200);
  });

  it('are set aside when they crash again and again, told in the list, and started anew by an admin', async function () {
    this.timeout(120_000);
    const deadline = Date.now() + 100_000;
    const row = async () => (await rowsOf(service))['service-extension-bomb'];
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
