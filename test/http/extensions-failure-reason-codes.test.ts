import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { REASON_CODES, type ReasonCode } from '../../plugins/extensions/extension-types.ts';
import {
  CONFINED_RUNTIME,
  createPackageFolder,
  createPackageJson,
  ENDPOINT_MANIFEST,
  type FileContentsByPath,
  OPERATION_MANIFEST,
  PANEL_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';

interface Case {
  readonly manifest?: object;
  readonly source?: string;
  /** The text of the built file; by default the text of the source. */
  readonly built?: string;
  /** The files of the package instead of the source and the built file. */
  readonly files?: FileContentsByPath;
  readonly more?: object;
}

const hook = { type: 'hook', path: 'dist/index.js', source: 'src/index.js' } as const;
const access = { capabilities: { endpoint: { access: 'public' } } } as const;
const answering = (id: string) => `export default { id: '${id}', handler: () => ({ body: 1 }) };`;
const listening = (id: string, event: string) => `export default { id: '${id}', actions: { '${event}': () => {} } };`;
const plain = 'export default () => {};';
/** Allocates more than the memory limit at once, which ends the process within milliseconds, before any deadline. */
const BOMB = 'new Array(30_000_000).fill(1);';

/** For each reason code the packages that fail with it, by their names without "service-extension-". */
const CASES: Partial<Record<ReasonCode, Readonly<Record<string, Case>>>> = {
  MANIFEST_INVALID: { manifest: { files: { 'package.json': '{' } } },
  ENTRYPOINT_NOT_FOUND: { entrypoint: { manifest: hook, files: {} } },
  REGISTRATION_FAILED: { registration: { manifest: hook, source: `throw new Error('no');` } },
  BUNDLE_BUILD_FAILED: { browser: { manifest: PANEL_MANIFEST, source: 'export default {' } },
  MANIFEST_TOO_LARGE: { large: { more: { description: 'x'.repeat(300 * 1024) } } },
  SOURCE_UNAVAILABLE: { sourceless: { files: { 'dist/index.js': answering('sourceless') } } },
  SOURCE_READ_FAILED: { endless: { source: `// ${'x'.repeat(5 * 1024 * 1024)}`, built: answering('endless') } },
  ARTIFACT_TOO_LARGE: { heavy: { source: plain, built: `export default '${'x'.repeat(80 * 1024)}';` } },
  USES_NODE_BUILTIN: { builtin: { source: `import 'node:os';` } },
  USES_RAW_FS: { files: { source: `import { readFile } from 'fs/promises';` } },
  USES_RAW_NETWORK: { network: { source: `export default { handler: () => fetch('https://a.example') };` } },
  USES_CHILD_PROCESS: { child: { source: `import { spawn } from 'node:child_process';` } },
  USES_RAW_ENV: { env: { source: 'export default { handler: () => process.env.SECRET };' } },
  USES_DYNAMIC_REQUIRE: { require: { source: 'const name = "a"; require(name);' } },
  USES_DYNAMIC_IMPORT: { import: { source: 'const name = "a"; import(name);' } },
  USES_DYNAMIC_CODE: { code: { source: `export default { handler: () => eval('1') };` } },
  USES_INTERNAL_IMPORT: { internal: { source: `import { boot } from '#kernel/boot';` } },
  USES_LEGACY_SDK_RUNTIME_IMPORT: { kit: { source: `import { defineEndpoint } from '@tenon/extension-sdk';` } },
  INVALID_ENTRY: { entry: { source: `export const nothing = 1;` } },
  IDENTITY_MISMATCH: { identity: { source: answering('somebody-else') } },
  TIMEOUT: { timeout: { source: 'while (true) {}' } },
  CRASH: { crash: { source: BOMB } },
  ROUTE_INVALID: { Route: { source: answering('Route') } },
  AMBIGUOUS_ENDPOINT: {
    twice: { source: answering('twice') },
    again: {
      files: {
        'package.json': createPackageJson('@acme/service-extension-twice', {
          ...ENDPOINT_MANIFEST,
          ...CONFINED_RUNTIME,
          ...access,
        }),
        'src/index.js': answering('twice'),
        'dist/index.js': answering('twice'),
      },
    },
  },
  AMBIGUOUS_HOOK: {
    hooked: {
      manifest: { ...hook, ...CONFINED_RUNTIME, events: { action: ['a.b'] } },
      source: listening('hooked', 'a.b'),
    },
    rehooked: {
      files: {
        'package.json': createPackageJson('@acme/service-extension-hooked', {
          ...hook,
          ...CONFINED_RUNTIME,
          events: { action: ['a.b'] },
        }),
        'src/index.js': listening('hooked', 'a.b'),
        'dist/index.js': listening('hooked', 'a.b'),
      },
    },
  },
  AMBIGUOUS_OPERATION: {
    worked: { manifest: { ...OPERATION_MANIFEST, ...CONFINED_RUNTIME }, source: answering('worked') },
    reworked: {
      files: {
        'package.json': createPackageJson('@acme/service-extension-worked', {
          ...OPERATION_MANIFEST,
          ...CONFINED_RUNTIME,
        }),
        'src/api.js': answering('worked'),
        'dist/api.js': answering('worked'),
      },
    },
  },
  ROUTE_COLLISION: { items: { source: answering('items') } },
  OPERATION_COLLISION: {
    taken: { manifest: { ...OPERATION_MANIFEST, ...CONFINED_RUNTIME }, source: answering('taken') },
  },
  CAPABILITY_MISSING: { open: { manifest: { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME }, source: answering('open') } },
  EVENT_INVALID: {
    event: {
      manifest: { ...hook, ...CONFINED_RUNTIME, events: { action: ['constructor.x'] } },
      source: listening('event', 'constructor.x'),
    },
  },
};

function filesOf(name: string, { manifest, source = '', built = source, files, more }: Case): FileContentsByPath {
  const declared = manifest ?? { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, ...access };
  const packageJson = createPackageJson(`service-extension-${name}`, declared, more);
  const written = files ?? {
    'src/index.js': source,
    'src/api.js': source,
    'dist/index.js': built,
    'dist/api.js': built,
    'dist/app.js': plain,
  };
  const all = { 'package.json': packageJson, ...written };
  return Object.fromEntries(Object.entries(all).map(([path, text]) => [`service-extension-${name}/${path}`, text]));
}

const good = {
  'service-extension-good/package.json': createPackageJson('service-extension-good', {
    ...ENDPOINT_MANIFEST,
    ...CONFINED_RUNTIME,
    ...access,
  }),
  'service-extension-good/src/index.js': answering('good'),
  'service-extension-good/dist/index.js': answering('good'),
  'service-extension-plain/package.json': createPackageJson('service-extension-plain', {
    type: 'endpoint',
    path: 'index.js',
  }),
  'service-extension-plain/index.js': `export default (router) => router.get('/', (req, res) => res.send('plain'));`,
};

describe('the reason codes of GET /extensions', function () {
  this.timeout(120_000);
  const seen = new Set<string>();
  let place: PackageFolder;
  let service: InProcessService;
  interface Shown {
    readonly name: string;
    readonly folder: string;
    readonly status: string;
    readonly reason?: { readonly code: string; readonly detail: string };
  }
  const rows = async (from = service): Promise<readonly Shown[]> => {
    const { body } = await from.request('GET', '/extensions', { token: from.admin.token });
    return body.data.map((one: Shown & { meta: { folder: string } }) => ({ ...one, folder: one.meta.folder }));
  };

  before(async () => {
    place = await createPackageFolder(good);
    for (const cases of Object.values(CASES)) {
      for (const [name, one] of Object.entries(cases)) await place.write(filesOf(name, one));
    }
    await place.write({
      // Has the same operation id as the package "taken", which therefore fails with OPERATION_COLLISION.
      'operations/taken/api.js': `module.exports = { id: 'taken', handler: () => 1 };`,
      'outside.js': answering('escape'),
      ...filesOf('escape', { files: { 'src/index.js': plain, 'dist/readme': '' } }),
      ...filesOf('upgrade', { source: answering('upgrade') }),
      ...filesOf('crashing', {
        source: `export default { id: 'crashing', handler: () => { ${BOMB} } };`,
      }),
    });
    await symlink(join(place.path, 'outside.js'), join(place.path, 'service-extension-escape/dist/index.js'));
    await symlink(join(place.path, 'nowhere'), join(place.path, 'service-extension-lost'));
    service = await startService({
      env: {
        EXTENSIONS_PATH: place.path,
        EXTENSIONS_SANDBOX_MAX_ARTIFACT: '64kb',
        // So long that the CPU limit ends the endless loop first, and that no other package times out on a busy machine.
        EXTENSIONS_SANDBOX_TIMEOUT: '60s',
        LOG_LEVEL: 'error',
      },
    });
    for (const { reason } of await rows()) if (reason) seen.add(reason.code);
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  for (const [code, cases] of Object.entries(CASES)) {
    for (const name of Object.keys(cases)) {
      it(`${code} is the reason of ${name}`, async () => {
        const all = (await rows()).filter((one) => one.folder === `service-extension-${name}`);
        expect(all.map(({ status, reason }) => [status, reason?.code])).to.deep.equal([['failed', code]]);
      });
    }
  }

  it('DISCOVERY_FAILED: a package folder that is a link to a missing target', async () => {
    const lost = (await rows()).find(({ name }) => name === 'service-extension-lost');
    expect(lost?.reason?.code).to.equal('DISCOVERY_FAILED');
  });

  it('LOCAL_PATH_ESCAPES_ROOT: a built entry that is a link to the outside', async () => {
    const leading = (await rows()).find(({ name }) => name === 'service-extension-escape');
    expect(leading?.reason?.code).to.equal('LOCAL_PATH_ESCAPES_ROOT');
  });

  it('CONSENT_REQUIRED: a version that requests more capabilities', async () => {
    await place.write(
      filesOf('upgrade', {
        manifest: {
          ...ENDPOINT_MANIFEST,
          ...CONFINED_RUNTIME,
          capabilities: { ...access.capabilities, items: { accountability: 'full-access' } },
        },
        source: answering('upgrade'),
        more: { version: '1.1.0' },
      }),
    );
    await service.request('POST', '/extensions/reload', { token: service.admin.token });
    const upgrade = (await rows()).find(({ name }) => name === 'service-extension-upgrade');
    expect(upgrade?.reason?.code, JSON.stringify(upgrade)).to.equal('CONSENT_REQUIRED');
    seen.add('CONSENT_REQUIRED');
    const { token } = service.admin;
    await service.request('POST', '/extensions/consent', { token, body: { name: 'service-extension-upgrade' } });
    expect((await rows()).find(({ name }) => name === 'service-extension-upgrade')?.status).to.equal('loaded');
  });

  it('RUNTIME_CRASHED: a package whose process crashes repeatedly, until an admin restarts it', async () => {
    const crashing = async () => (await rows()).find(({ name }) => name === 'service-extension-crashing');
    const deadline = Date.now() + 60_000;
    while ((await crashing())?.status === 'loaded' && Date.now() < deadline) {
      await service.request('GET', '/crashing');
      await pause(20);
    }
    expect((await crashing())?.reason?.code).to.equal('RUNTIME_CRASHED');
    seen.add('RUNTIME_CRASHED');
    const { token } = service.admin;
    const { body } = await service.request('POST', '/extensions/restart', {
      token,
      body: { name: 'service-extension-crashing' },
    });
    expect(body.data[0].status).to.equal('loaded');
  });

  it('VALIDATION_INCOMPLETE: a confined package with an invalid sandbox setting; full packages still run', async () => {
    const other = await startService({ env: { EXTENSIONS_PATH: place.path, EXTENSIONS_SANDBOX_MAX_MEMORY: 'plenty' } });
    try {
      const all = await rows(other);
      const row = (name: string) => all.find((one) => one.name === name);
      expect(row('service-extension-good')?.reason?.code).to.equal('VALIDATION_INCOMPLETE');
      expect(row('service-extension-good')?.reason?.detail).to.match(/EXTENSIONS_SANDBOX_MAX_MEMORY/);
      seen.add('VALIDATION_INCOMPLETE');
      expect((await other.request('GET', '/plain')).body).to.equal('plain');
      const { body } = await other.request('GET', '/extensions', { token: other.admin.token });
      expect(body.meta.confinedRuntime.state).to.equal('unavailable');
    } finally {
      await other.stop();
    }
  });

  it('every reason code is tested, and a valid extension runs beside the broken ones', async () => {
    // UNKNOWN is tested by test/plugins/extensions/load.test.ts; DISABLED is no failure for clients (extensions-disabled.test.ts).
    expect(REASON_CODES.filter((code) => !seen.has(code))).to.deep.equal(['UNKNOWN', 'DISABLED']);
    expect((await service.request('GET', '/good')).body).to.equal(1);
    expect((await service.request('GET', '/plain')).body).to.equal('plain');
    const { body } = await service.request('GET', '/extensions', { token: service.admin.token });
    expect(body.meta.confinedRuntime.state).to.equal('available');
  });

  it('each reason is one line with a remedy and without paths of the machine', async () => {
    for (const { name, reason } of await rows()) {
      if (!reason) continue;
      expect(reason.detail, name)
        .to.match(/[.:;] \S.*\S$/)
        .and.not.match(/\n|(?:^|[\s"'(])\//);
      expect(reason.detail.length, name).to.be.at.most(300);
      expect(reason.detail, name).not.to.include(place.path);
    }
  });
});
