import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { type PackageSketch, PUBLIC_ENDPOINT_MANIFEST, type WrittenPackages, writePackages } from './write-packages.ts';

const good = (id: string) => `export default { id: '${id}', handler: () => ({ body: 'ESCAPED' }) };\n`;
const access = { endpoint: { access: 'public' } };

/** Hostile packages, and the code with which the service refuses to load each. */
const hostile: readonly [what: string, code: string, sketch: Omit<PackageSketch, 'name'>][] = [
  ['a built file above its folder', 'LOCAL_PATH_ESCAPES_ROOT', { manifest: { path: '../outside.js' } }],
  ['an absolute built file', 'SOURCE_UNAVAILABLE', { manifest: { path: '/etc/passwd' } }],
  ['a link to a file outside', 'LOCAL_PATH_ESCAPES_ROOT', { manifest: { path: 'link.js' } }],
  ['a link to a folder outside', 'LOCAL_PATH_ESCAPES_ROOT', { manifest: { path: 'linked/outside.js' } }],
  ['a runtime that is nearly the right one', 'MANIFEST_INVALID', { manifest: { runtime: 'confined' } }],
  ['a runtime of null', 'MANIFEST_INVALID', { manifest: { runtime: null } }],
  ['capabilities but no runtime', 'MANIFEST_INVALID', { manifest: { runtime: undefined } }],
  ['an unknown capability', 'MANIFEST_INVALID', { manifest: { capabilities: { ...access, everything: true } } }],
  [
    'a capability of plugins',
    'MANIFEST_INVALID',
    { manifest: { capabilities: { ...access, database: { sql: 'tests run any statement' } } } },
  ],
  ['full authority as a capability', 'MANIFEST_INVALID', { manifest: { capabilities: { ...access, full: true } } }],
  ['authority over other packages', 'MANIFEST_INVALID', { manifest: { capabilities: { ...access, packages: true } } }],
  [
    'the minting of callers',
    'MANIFEST_INVALID',
    { manifest: { capabilities: { ...access, identity: { evidence: ['user'] } } } },
  ],
  [
    'an origin with a path',
    'MANIFEST_INVALID',
    { manifest: { capabilities: { ...access, request: { origins: ['https://a.b/c'] } } } },
  ],
  ['any origin', 'MANIFEST_INVALID', { manifest: { capabilities: { ...access, request: { origins: ['*'] } } } }],
  [
    'an origin with a name in it',
    'MANIFEST_INVALID',
    { manifest: { capabilities: { ...access, request: { origins: ['https://u:p@a.b'] } } } },
  ],
  ['a wildcard event', 'MANIFEST_INVALID', { manifest: { capabilities: access, events: { filter: ['*'] } } }],
  ['the host of another version', 'MANIFEST_INVALID', { manifest: { host: '^99.0.0' } }],
  ['no access level', 'CAPABILITY_MISSING', { manifest: { capabilities: {} } }],
  ['the id of a core route', 'IDENTITY_MISMATCH', { files: { 'index.js': good('users') } }],
  ['an id that is a prototype', 'IDENTITY_MISMATCH', { files: { 'index.js': good('__proto__') } }],
  [
    'a module of the host',
    'USES_CHILD_PROCESS',
    { files: { 'index.js': `import 'node:child_process';\n${good('x')}` } },
  ],
  [
    'raw file access by another module name',
    'USES_RAW_FS',
    { files: { 'index.js': `import fs from 'fs/promises';\n${good('x')}` } },
  ],
  ['code made from text', 'USES_DYNAMIC_CODE', { files: { 'index.js': `eval('1');\n${good('x')}` } }],
  [
    'a manifest of many megabytes',
    'MANIFEST_TOO_LARGE',
    {
      text: JSON.stringify({
        name: 'service-extension-x',
        version: '1.0.0',
        more: 'x'.repeat(3e5),
        'service:extension': PUBLIC_ENDPOINT_MANIFEST,
      }),
    },
  ],
  ['a manifest of brackets', 'MANIFEST_INVALID', { text: '['.repeat(1e5) }],
  [
    'settings named like members of objects',
    'MANIFEST_INVALID',
    {
      text: `{"name":"service-extension-x","version":"1.0.0","service:extension":${JSON.stringify(PUBLIC_ENDPOINT_MANIFEST).slice(0, -1)},"settings":{"__proto__":{"type":"string"}}}}`,
    },
  ],
];

describe('sandbox: hostile packages', () => {
  let installed: WrittenPackages;
  let service: InProcessService;
  let rows: { name: string; status: string; reason?: { code: string; detail: string } }[];
  const nameOf = (at: number) => `service-extension-hostile${at}`;
  before(async () => {
    installed = await writePackages(
      hostile.map(([, , sketch], at) => ({
        ...sketch,
        name: nameOf(at),
        ...(sketch.text ? { text: sketch.text.replace('service-extension-x', nameOf(at)) } : {}),
        files: { 'index.js': good(`hostile${at}`), ...sketch.files },
      })),
    );
    await writeFile(join(installed.folder, 'outside.js'), good('outside'));
    for (const [at, [, , { manifest }]] of hostile.entries()) {
      const packageFolder = join(installed.folder, nameOf(at));
      if (manifest?.path === 'link.js') await symlink('../outside.js', join(packageFolder, 'link.js'));
      if (manifest?.path === 'linked/outside.js') await symlink('..', join(packageFolder, 'linked'));
    }
    service = await startService({ env: { EXTENSIONS_PATH: installed.folder } });
    rows = (await service.request('GET', '/extensions', { token: service.admin.token })).body.data;
  });
  after(async () => {
    await service?.stop();
    await installed.remove();
  });

  for (const [at, [what, code]] of hostile.entries()) {
    it(`a package with ${what} is refused`, async () => {
      const row = rows.find(({ name }) => name === nameOf(at));
      expect(row?.status).to.equal('failed');
      expect(row?.reason?.code, row?.reason?.detail).to.equal(code);
      expect(row?.reason?.detail).not.to.contain(installed.folder);
      expect((await service.request('GET', `/hostile${at}`)).status).to.equal(404);
    });
  }

  it('routes of the service answer as before with hostile packages installed', async () => {
    expect((await service.request('GET', '/server/ping')).status).to.equal(200);
    expect((await service.request('GET', '/users', { token: service.admin.token })).body.data).to.have.length(1);
  });
});
