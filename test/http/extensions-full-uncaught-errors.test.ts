import { expect } from 'chai';
import { type SpawnedService, spawnService } from '../support/service.ts';
import { type ConfinedPackageFolder, createConfinedPackageFolder, listExtensions } from './confined-packages.ts';

const CODE = `
  export default (router) => {
    const soon = (work) => (req, res) => { setTimeout(work, 1); res.json({}); };
    router.get('/promise', soon(() => Promise.reject(new Error('this promise is not awaited'))));
    router.get('/throw', soon(() => { throw new Error('thrown out of nowhere'); }));
    router.get('/after', (req, res) => { res.json({}); throw new Error('after the answer'); });
  };`;
const HOOK = `
  export default ({ init, schedule, action }) => {
    init('app.before', () => { throw new Error('at the start'); });
    init('app.after', async () => { throw new Error('at its end'); });
    schedule('* * * * * *', async () => { throw new Error('every second'); });
    action('extensions.load', () => { throw new Error('a failing load listener'); });
  };`;

describe('uncaught errors of code with full authority', () => {
  let packages: ConfinedPackageFolder;
  let service: SpawnedService;
  before(async () => {
    packages = await createConfinedPackageFolder();
    await packages.put('service-extension-stray', { type: 'endpoint', runtime: undefined }, CODE);
    await packages.put('service-extension-clock', { type: 'hook', runtime: undefined }, HOOK);
    service = await spawnService({ env: { EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'warn' } });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const waitForLog = async (text: string) => {
    for (const until = Date.now() + 30_000; Date.now() < until && !service.output().includes(text); )
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(service.output()).to.include(text);
  };

  it('a rejected promise and a failed init event, schedule or late response are logged, and the service runs on', async () => {
    const rows = await listExtensions(service);
    expect(Object.values(rows).map(({ status }) => status)).to.deep.equal(['loaded', 'loaded']);
    for (const path of ['promise', 'after'])
      expect((await service.request('GET', `/stray/${path}`)).status).to.equal(200);
    for (const text of [
      'this promise is not awaited',
      'service-extension-stray rejected a promise',
      'after the answer',
      'at the start',
      'at its end',
      'every second',
      'a failing load listener',
    ])
      await waitForLog(text);
    expect((await service.request('GET', '/server/ping')).status).to.equal(200);
  });

  it('an uncaught exception ends the process with code 1 and a log line that names the package', async () => {
    expect((await service.request('GET', '/stray/throw')).status).to.equal(200);
    const ended = service.kill('SIGCONT');
    expect(await ended).to.equal(1);
    await waitForLog('thrown out of nowhere');
    await waitForLog('service-extension-stray threw');
  });
});
