import { expect } from 'chai';
import { type Spawned, spawnService } from '../support/service.ts';
import { type ConfinedPackages, createPackages, rowsOf } from './confined-packages.ts';

const CODE = `
  export default (router) => {
    const soon = (work) => (req, res) => { setTimeout(work, 1); res.json({}); };
    router.get('/promise', soon(() => Promise.reject(new Error('nobody waits for this'))));
    router.get('/throw', soon(() => { throw new Error('thrown out of nowhere'); }));
    router.get('/after', (req, res) => { res.json({}); throw new Error('after the answer'); });
  };`;
const HOOK = `
  export default ({ init, schedule, action }) => {
    init('app.before', () => { throw new Error('at the start'); });
    init('app.after', async () => { throw new Error('at its end'); });
    schedule('* * * * * *', async () => { throw new Error('every second'); });
    action('extensions.load', () => { throw new Error('told of a load'); });
  };`;

describe('errors of code with full authority that belong to nobody', () => {
  let packages: ConfinedPackages;
  let service: Spawned;
  before(async () => {
    packages = await createPackages();
    await packages.put('service-extension-stray', { type: 'endpoint', runtime: undefined }, CODE);
    await packages.put('service-extension-clock', { type: 'hook', runtime: undefined }, HOOK);
    service = await spawnService({ env: { EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'warn' } });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const said = async (text: string) => {
    for (const until = Date.now() + 30_000; Date.now() < until && !service.output().includes(text); )
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(service.output()).to.include(text);
  };

  it('are lines in the log where a promise was rejected, a point of the start or a time came, or an answer was out', async () => {
    const rows = await rowsOf(service);
    expect(Object.values(rows).map(({ status }) => status)).to.deep.equal(['loaded', 'loaded']);
    for (const path of ['promise', 'after'])
      expect((await service.request('GET', `/stray/${path}`)).status).to.equal(200);
    for (const text of [
      'nobody waits',
      'service-extension-stray rejected a promise',
      'after the answer',
      'at the start',
      'at its end',
      'every second',
      'told of a load',
    ])
      await said(text);
    expect((await service.request('GET', '/server/ping')).status).to.equal(200);
  });

  it('end the service where one was thrown out of nowhere, so that whoever watches it starts it anew', async () => {
    expect((await service.request('GET', '/stray/throw')).status).to.equal(200);
    const ended = service.kill('SIGCONT');
    expect(await ended).to.equal(1);
    await said('thrown out of nowhere');
    await said('service-extension-stray threw');
  });
});
