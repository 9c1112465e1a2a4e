import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadFull } from '../../../plugins/extensions-full/load.ts';
import { failureOf } from '../../support/plugin.ts';
import { type ExtensionSources, REPORT, reports, startTestService, type TestService, until } from './test-service.ts';

const LINE = (stage: TestService, name: string) => stage.deps.subjects.account().may.find((one) => one.name === name);

describe('loading code with full authority', () => {
  let stage: TestService;
  before(async () => {
    stage = await startTestService();
  });
  after(() => stage?.stop());
  beforeEach(() => void reports.splice(0));

  const failureCode = async (extension: ExtensionSources, deadline?: number) =>
    (await failureOf<{ code: string }>(stage.load(extension, deadline ? { deadline } : {}))).code;
  const answer = async (path = '/one') => (await stage.request('GET', path)).body;

  it('takes modules, CommonJS, and modules compiled to it', async () => {
    const handler = `{ id: 'one', handler: (router) => { router.get('/', (req, res) => res.send('here')); } }`;
    const forms: ExtensionSources[] = [
      { files: `export default ${handler}` },
      { files: { 'package.json': '{}', 'index.js': `module.exports = ${handler}` } },
      { files: { 'index.cjs': `module.exports = ${handler}` }, entry: 'index.cjs' },
      { files: { 'package.json': '{}', 'index.mjs': `export default ${handler}` }, entry: 'index.mjs' },
      {
        files: {
          'index.cjs': `Object.defineProperty(exports, '__esModule', { value: true }); exports.default = ${handler}`,
        },
        entry: 'index.cjs',
      },
      // A single file is what it looks like, whatever the package around it is.
      { files: `const { sep } = require('node:path'); module.exports = ${handler}`, single: true },
    ];
    for (const form of forms) await stage.with(form, async () => expect(await answer()).to.equal('here'));
  });

  for (const [kind, entry, exports] of [
    ['a module', 'index.js', 'export default'],
    ['CommonJS', 'index.cjs', 'module.exports ='],
  ] as const) {
    it(`runs ${kind} anew each time, as it is then`, async () => {
      const text = (word: string) =>
        `${exports} { id: 'one', handler: (router) => { router.get('/', (req, res) => res.send('${word}')); } }`;
      const found = await stage.createExtension({ files: text('before'), entry });
      const first = await loadFull(found, stage.deps, 'endpoints');
      expect(await answer()).to.equal('before');
      await first.remove();
      await writeFile(join(found.folder, entry), text('after'));
      const second = await loadFull(found, stage.deps, 'endpoints');
      expect(await answer()).to.equal('after');
      await second.remove();
    });
  }

  it('says that there is no entry, or that something it imports is not there', async () => {
    expect(await failureCode({ files: { 'other.js': '' } })).to.equal('ENTRYPOINT_NOT_FOUND');
    expect(await failureCode({ files: `import './nothing.js'` })).to.equal('ENTRYPOINT_NOT_FOUND');
    expect(await failureCode({ files: `import 'a-package-that-nobody-has'` })).to.equal('ENTRYPOINT_NOT_FOUND');
    expect(await failureCode({ files: `require('./nothing')`, entry: 'index.cjs' })).to.equal('ENTRYPOINT_NOT_FOUND');
  });

  for (const [what, extension] of Object.entries<ExtensionSources>({
    'what is not JavaScript': { files: 'export default (' },
    'what throws as it is imported': { files: `throw new Error('no')` },
    'what throws as it registers': { files: `export default () => { throw new Error('no'); }` },
    'what rejects as it registers': { files: `export default async () => { throw new Error('no'); }` },
    'an endpoint that exports something else': { files: 'export default 7' },
    'an endpoint that exports nothing': { files: '' },
    'a route of no valid form': { files: `export default (router) => { router.get('/:', () => {}); }` },
    'a hook that is no function': { type: 'hook', files: 'export default {}' },
    'a hook whose handler is none': { type: 'hook', files: `export default ({ filter }) => filter('items.create')` },
    'an operation without an id': { type: 'operation', files: 'export default { handler() {} }' },
    'a bundle that is no list': { type: 'bundle', files: 'export const hooks = {}' },
  })) {
    it(`refuses ${what} as REGISTRATION_FAILED`, async () => {
      expect(await failureCode({ ...extension, name: 'refused' })).to.equal('REGISTRATION_FAILED');
      expect(LINE(stage, 'refused')).to.equal(undefined);
    });
  }

  it('gives up what never ends registering, and undoes what it does later', async () => {
    const files = `${REPORT}
      export default async (register, { emitter }) => {
        register.filter('x.one', () => 'changed');
        await new Promise((resolve) => setTimeout(resolve, 150));
        register.filter('x.two', () => 'changed');
        emitter.onFilter('x.three', () => 'changed');
        register.schedule('* * * * * *', () => tell('by the clock'));
        register.embed('head', 'late');
        tell('registered');
      };`;
    expect(await failureCode({ type: 'hook', files }, 50)).to.equal('REGISTRATION_FAILED');
    await until(() => reports.includes('registered'));
    for (const event of ['x.one', 'x.two', 'x.three'])
      expect(stage.deps.events.has('filter', event), event).to.equal(false);
  });

  it('leaves nothing of what failed half-way', async () => {
    const files = `export const hooks = [{ name: 'a', config: ({ filter }) => filter('x.half', () => 1) }];
      export const endpoints = [{ name: 'one', config: (router) => { router.get('/', (req, res) => res.end()); } }];
      export const operations = [{ name: 'c', config: { id: 'step', handler() {} } }, { name: 'd', config: {} }];`;
    expect(await failureCode({ type: 'bundle', files })).to.equal('REGISTRATION_FAILED');
    expect(stage.deps.events.has('filter', 'x.half')).to.equal(false);
    expect(stage.deps.operations.find('step')).to.equal(undefined);
    expect((await stage.request('GET', '/one')).status).to.equal(404);
  });

  it('loads all parts of a bundle, and takes all of them away', async () => {
    const files = `
      export const hooks = [{ name: 'a', config: ({ filter }) => filter('x.bundle', () => 'changed') }];
      export const endpoints = [
        { name: 'one', config: (router) => { router.get('/', (req, res) => res.send('function')); } },
        { name: 'two', config: { id: 'three', handler: (router) => { router.get('/', (req, res) => res.send('object')); } } },
      ];
      export const operations = [{ name: 'c', config: { id: 'step', handler: () => 1 } }];`;
    const entries = [
      { type: 'hook', name: 'a', source: '' },
      { type: 'endpoint', name: 'one', source: '' },
    ] as const;
    const loaded = await stage.load({ type: 'bundle', files, manifest: { entries } });
    expect(loaded.entries).to.deep.equal([
      { name: 'a', type: 'hook', status: 'loaded' },
      { name: 'one', type: 'endpoint', status: 'loaded' },
    ]);
    expect([await answer(), await answer('/three')]).to.deep.equal(['function', 'object']);
    expect(stage.deps.events.has('filter', 'x.bundle')).to.equal(true);
    expect(stage.deps.operations.ids()).to.deep.equal(['step']);
    await loaded.remove();
    expect((await stage.request('GET', '/one')).status).to.equal(404);
    expect(stage.deps.events.has('filter', 'x.bundle')).to.equal(false);
    expect(stage.deps.operations.ids()).to.deep.equal([]);
  });

  it('takes a bundle in CommonJS as well', async () => {
    const files = `module.exports = { hooks: [], endpoints: [{ name: 'one', config: (router) => { router.get('/', (req, res) => res.send('cjs')); } }] };`;
    await stage.with({ type: 'bundle', files, entry: 'index.cjs' }, async () => expect(await answer()).to.equal('cjs'));
  });

  it('shows in the audit that it may do everything, and what it registered', async () => {
    const files = `export default ({ filter, schedule }, { services }) => {
      filter('items.create', () => {});
      schedule('0 0 1 1 *', () => {});
    };`;
    await stage.with({ type: 'hook', name: 'service-extension-seen', files }, async () => {
      const line = LINE(stage, 'service-extension-seen');
      expect(line).to.include({ version: '1.2.3', runtime: 'full' });
      expect(line?.sentences).to.include.members([
        'may change items.create',
        'runs 0 0 1 1 * (by the clock)',
        'may do everything this process can do',
      ]);
    });
    expect(LINE(stage, 'service-extension-seen')).to.equal(undefined);
  });

  it('takes away exactly its own, where two go by one name', async () => {
    const hook = (event: string): ExtensionSources => ({
      type: 'hook',
      name: 'twin',
      files: `export default ({ filter }) => filter('${event}', () => 1);`,
    });
    const one = await stage.load(hook('x.first'));
    const two = await stage.load(hook('x.second'));
    await one.remove();
    expect(['x.first', 'x.second'].map((event) => stage.deps.events.has('filter', event))).to.deep.equal([false, true]);
    await two.remove();
    expect(stage.deps.events.has('filter', 'x.second')).to.equal(false);
  });
});
