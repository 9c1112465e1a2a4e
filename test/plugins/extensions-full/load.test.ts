import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadFullAuthorityExtension } from '../../../plugins/extensions-full/load.ts';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import {
  type ExtensionSources,
  type ExtensionTestService,
  extensionReports,
  startExtensionTestService,
  TELL_FUNCTION_SOURCE,
} from './test-service.ts';

const LINE = (testService: ExtensionTestService, name: string) =>
  testService.deps.subjects.account().may.find((one) => one.name === name);

describe('loadFullAuthorityExtension', () => {
  let testService: ExtensionTestService;
  before(async () => {
    testService = await startExtensionTestService();
  });
  after(() => testService?.stop());
  beforeEach(() => void extensionReports.splice(0));

  const failureCode = async (extension: ExtensionSources, deadline?: number) =>
    (await captureError<{ code: string }>(testService.load(extension, deadline ? { deadline } : {}))).code;
  const answer = async (path = '/one') => (await testService.request('GET', path)).body;

  it('ESM, CommonJS and ESM compiled to CommonJS load', async () => {
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
      // Whether a single-file extension is ESM or CommonJS follows from its code, not from the package.json in its folder.
      { files: `const { sep } = require('node:path'); module.exports = ${handler}`, single: true },
    ];
    for (const form of forms) await testService.with(form, async () => expect(await answer()).to.equal('here'));
  });

  for (const [kind, entry, exports] of [
    ['a module', 'index.js', 'export default'],
    ['CommonJS', 'index.cjs', 'module.exports ='],
  ] as const) {
    it(`${kind} is imported again at each load`, async () => {
      const text = (word: string) =>
        `${exports} { id: 'one', handler: (router) => { router.get('/', (req, res) => res.send('${word}')); } }`;
      const found = await testService.createExtension({ files: text('before'), entry });
      const first = await loadFullAuthorityExtension(found, testService.deps, 'endpoints');
      expect(await answer()).to.equal('before');
      await first.remove();
      await writeFile(join(found.folder, entry), text('after'));
      const second = await loadFullAuthorityExtension(found, testService.deps, 'endpoints');
      expect(await answer()).to.equal('after');
      await second.remove();
    });
  }

  it('a missing entry or import is ENTRYPOINT_NOT_FOUND', async () => {
    expect(await failureCode({ files: { 'other.js': '' } })).to.equal('ENTRYPOINT_NOT_FOUND');
    expect(await failureCode({ files: `import './nothing.js'` })).to.equal('ENTRYPOINT_NOT_FOUND');
    expect(await failureCode({ files: `import 'a-package-that-nobody-has'` })).to.equal('ENTRYPOINT_NOT_FOUND');
    expect(await failureCode({ files: `require('./nothing')`, entry: 'index.cjs' })).to.equal('ENTRYPOINT_NOT_FOUND');
  });

  for (const [what, extension] of Object.entries<ExtensionSources>({
    'an entry that is not JavaScript': { files: 'export default (' },
    'an entry that throws on import': { files: `throw new Error('no')` },
    'an endpoint that throws while it registers': { files: `export default () => { throw new Error('no'); }` },
    'an endpoint that rejects while it registers': { files: `export default async () => { throw new Error('no'); }` },
    'an endpoint that exports something else': { files: 'export default 7' },
    'an endpoint that exports nothing': { files: '' },
    'a route with an invalid path': { files: `export default (router) => { router.get('/:', () => {}); }` },
    'a hook that is not a function': { type: 'hook', files: 'export default {}' },
    'a hook without a handler function': {
      type: 'hook',
      files: `export default ({ filter }) => filter('items.create')`,
    },
    'an operation without an id': { type: 'operation', files: 'export default { handler() {} }' },
    'a bundle whose hooks are not a list': { type: 'bundle', files: 'export const hooks = {}' },
  })) {
    it(`${what} is REGISTRATION_FAILED`, async () => {
      expect(await failureCode({ ...extension, name: 'refused' })).to.equal('REGISTRATION_FAILED');
      expect(LINE(testService, 'refused')).to.equal(undefined);
    });
  }

  it('a register function that exceeds its deadline fails, and what it adds later is undone', async () => {
    const files = `${TELL_FUNCTION_SOURCE}
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
    await until(() => extensionReports.includes('registered'));
    for (const event of ['x.one', 'x.two', 'x.three'])
      expect(testService.deps.events.hasListeners('filter', event), event).to.equal(false);
  });

  it('a register function that fails half-way leaves nothing registered', async () => {
    const files = `export const hooks = [{ name: 'a', config: ({ filter }) => filter('x.half', () => 1) }];
      export const endpoints = [{ name: 'one', config: (router) => { router.get('/', (req, res) => res.end()); } }];
      export const operations = [{ name: 'c', config: { id: 'step', handler() {} } }, { name: 'd', config: {} }];`;
    expect(await failureCode({ type: 'bundle', files })).to.equal('REGISTRATION_FAILED');
    expect(testService.deps.events.hasListeners('filter', 'x.half')).to.equal(false);
    expect(testService.deps.operations.find('step')).to.equal(undefined);
    expect((await testService.request('GET', '/one')).status).to.equal(404);
  });

  it('all parts of a bundle load, and remove() removes all of them', async () => {
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
    const loaded = await testService.load({ type: 'bundle', files, manifest: { entries } });
    expect(loaded.entries).to.deep.equal([
      { name: 'a', type: 'hook', status: 'loaded' },
      { name: 'one', type: 'endpoint', status: 'loaded' },
    ]);
    expect([await answer(), await answer('/three')]).to.deep.equal(['function', 'object']);
    expect(testService.deps.events.hasListeners('filter', 'x.bundle')).to.equal(true);
    expect(testService.deps.operations.ids()).to.include('step');
    await loaded.remove();
    expect((await testService.request('GET', '/one')).status).to.equal(404);
    expect(testService.deps.events.hasListeners('filter', 'x.bundle')).to.equal(false);
    expect(testService.deps.operations.ids()).to.not.include('step');
  });

  it('a CommonJS bundle loads', async () => {
    const files = `module.exports = { hooks: [], endpoints: [{ name: 'one', config: (router) => { router.get('/', (req, res) => res.send('cjs')); } }] };`;
    await testService.with({ type: 'bundle', files, entry: 'index.cjs' }, async () =>
      expect(await answer()).to.equal('cjs'),
    );
  });

  it('the audit shows full authority and what the extension registered', async () => {
    const files = `export default ({ filter, schedule }, { services }) => {
      filter('items.create', () => {});
      schedule('0 0 1 1 *', () => {});
    };`;
    await testService.with({ type: 'hook', name: 'service-extension-seen', files }, async () => {
      const line = LINE(testService, 'service-extension-seen');
      expect(line).to.include({ version: '1.2.3', runtime: 'full' });
      expect(line?.sentences).to.include.members([
        'may change items.create',
        'runs 0 0 1 1 * (by the clock)',
        'may do everything this process can do',
      ]);
    });
    expect(LINE(testService, 'service-extension-seen')).to.equal(undefined);
  });

  it('remove() removes only the own contributions of two extensions with one name', async () => {
    const hook = (event: string): ExtensionSources => ({
      type: 'hook',
      name: 'twin',
      files: `export default ({ filter }) => filter('${event}', () => 1);`,
    });
    const one = await testService.load(hook('x.first'));
    const two = await testService.load(hook('x.second'));
    await one.remove();
    expect(['x.first', 'x.second'].map((event) => testService.deps.events.hasListeners('filter', event))).to.deep.equal(
      [false, true],
    );
    await two.remove();
    expect(testService.deps.events.hasListeners('filter', 'x.second')).to.equal(false);
  });
});
