import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findJsonSchemaProblems } from '#kernel';
import type { ExtensionManifest } from '../../../../plugins/extensions/contract.ts';
import { LoadFailure } from '../../../../plugins/extensions/library.ts';
import { listAllowedContributionIds } from '../../../../plugins/extensions-confined/gate/contributions.ts';
import { type GateDeps, runConfinedPackageGate } from '../../../../plugins/extensions-confined/gate/gate.ts';
import type { ArtifactExport, InvocationFailureCode } from '../../../../plugins/sandbox/contract.ts';
import { GuestFailure } from '../../../../plugins/sandbox/library.ts';
import { createPackageFolder, type PackageFolder, stopBundlerAfterTests } from '../../extensions/package-folder.ts';
import { CONFINED_ENDPOINT_MANIFEST, catchLoadFailure, createDiscoveredExtension, packageJson } from './packages.ts';

const NAME = 'service-extension-orders';
const entry = (more: Partial<ArtifactExport> = {}): ArtifactExport => ({
  key: '',
  id: 'orders',
  handler: true,
  filters: [],
  actions: [],
  ...more,
});

describe('passGate', () => {
  let place: PackageFolder;
  let contract: readonly ArtifactExport[] | InvocationFailureCode;
  let consent: LoadFailure | undefined;
  let probed: string[];
  const steps: string[] = [];

  beforeEach(async () => {
    place = await createPackageFolder();
    contract = [entry()];
    consent = undefined;
    probed = [];
    steps.length = 0;
  });
  afterEach(() => place.remove());
  stopBundlerAfterTests();

  const deps = (): GateDeps => ({
    subjects: { findProblems: (grants) => findJsonSchemaProblems({ type: 'object' }, grants) },
    settings: { parseDeclaration: () => ({ problems: [], declaration: {} }) },
    config: { EXTENSIONS_HOST_CHECK: 'warn' },
    consent: async () => {
      steps.push('consent');
      return consent;
    },
    sandbox: {
      maxArtifact: () => 1024 * 1024,
      async probe(script) {
        steps.push('probe');
        probed.push(script);
        if (typeof contract === 'string') throw new GuestFailure(contract);
        return contract;
      },
    },
  });

  const SOURCES = { 'src/index.js': 'export default {};', 'dist/index.js': 'export default {};' };
  const pass = async (
    manifest: ExtensionManifest = CONFINED_ENDPOINT_MANIFEST,
    files: Readonly<Record<string, string | object>> = SOURCES,
    name = NAME,
  ) => {
    await place.write({ 'package.json': packageJson(name, manifest), ...files });
    return runConfinedPackageGate(createDiscoveredExtension(place.path, name, manifest), deps());
  };
  const codeOf = async (...args: Parameters<typeof pass>) => (await catchLoadFailure(pass(...args))).code;

  it('a valid package passes with the script that was probed', async () => {
    const gated = await pass();
    expect(probed).to.deep.equal([gated.script]);
    expect(gated.contributions).to.deep.equal([
      {
        type: 'endpoint',
        key: '',
        id: 'orders',
        capabilities: CONFINED_ENDPOINT_MANIFEST.capabilities,
        events: {},
        secretOptions: [],
      },
    ]);
    expect(steps).to.deep.equal(['consent', 'probe']);
  });

  describe('the manifest at the gate', () => {
    const changed = async (before: object, name = NAME) => {
      await place.write({ ...SOURCES, 'package.json': packageJson(name, before) });
      return (
        await catchLoadFailure(
          runConfinedPackageGate(createDiscoveredExtension(place.path, NAME, CONFINED_ENDPOINT_MANIFEST), deps()),
        )
      ).code;
    };

    it('a manifest that changed since discovery is MANIFEST_INVALID', async () => {
      expect(await changed({ ...CONFINED_ENDPOINT_MANIFEST, path: 'dist/other.js' })).to.equal('MANIFEST_INVALID');
      expect(await changed({ ...CONFINED_ENDPOINT_MANIFEST, capabilities: { log: true } })).to.equal(
        'MANIFEST_INVALID',
      );
      expect(await changed(CONFINED_ENDPOINT_MANIFEST, 'service-extension-other')).to.equal('MANIFEST_INVALID');
      const { runtime: _runtime, capabilities: _capabilities, ...full } = CONFINED_ENDPOINT_MANIFEST;
      expect(await changed(full)).to.equal('MANIFEST_INVALID');
      expect(steps).to.deep.equal([]);
    });

    it('a manifest above 256 KiB is MANIFEST_TOO_LARGE', async () => {
      await place.write({
        ...SOURCES,
        'package.json': { ...packageJson(NAME, CONFINED_ENDPOINT_MANIFEST), more: 'x'.repeat(256 * 1024) },
      });
      const failure = await catchLoadFailure(
        runConfinedPackageGate(createDiscoveredExtension(place.path, NAME, CONFINED_ENDPOINT_MANIFEST), deps()),
      );
      expect(failure.code).to.equal('MANIFEST_TOO_LARGE');
    });

    it('a package.json that was removed meanwhile is MANIFEST_INVALID', async () => {
      await place.write(SOURCES);
      expect(
        (
          await catchLoadFailure(
            runConfinedPackageGate(createDiscoveredExtension(place.path, NAME, CONFINED_ENDPOINT_MANIFEST), deps()),
          )
        ).code,
      ).to.equal('MANIFEST_INVALID');
    });

    it('duplicate server entries and hooks without events are MANIFEST_INVALID', async () => {
      const bundle = (entries: ExtensionManifest['entries']): ExtensionManifest => ({
        type: 'bundle',
        host: '^1.0.0',
        path: { app: 'dist/app.js', api: 'dist/index.js' },
        runtime: 'confined-server',
        entries: entries ?? [],
      });
      const one = { type: 'endpoint', name: 'a', source: 'src/index.js' } as const;
      expect(await codeOf(bundle([one, one]))).to.equal('MANIFEST_INVALID');
      expect(await codeOf(bundle([{ type: 'hook', name: 'a', source: 'src/index.js' }]))).to.equal('MANIFEST_INVALID');
    });
  });

  it('consent is checked before any source is read', async () => {
    consent = new LoadFailure('CONSENT_REQUIRED', 'It asks for more.');
    expect(await codeOf(CONFINED_ENDPOINT_MANIFEST, {})).to.equal('CONSENT_REQUIRED');
  });

  describe('the sources at the gate', () => {
    it('a missing source is SOURCE_UNAVAILABLE', async () => {
      expect(await codeOf(CONFINED_ENDPOINT_MANIFEST, { 'dist/index.js': '' })).to.equal('SOURCE_UNAVAILABLE');
      expect(
        await codeOf(CONFINED_ENDPOINT_MANIFEST, { ...SOURCES, 'src/index.js': "import './missing.js';" }),
      ).to.equal('SOURCE_UNAVAILABLE');
    });

    it('imported files of the package are scanned, and the detail names the file', async () => {
      const failure = await catchLoadFailure(
        pass(CONFINED_ENDPOINT_MANIFEST, {
          ...SOURCES,
          'src/index.js': "import { a } from './lib/a.js';",
          'src/lib/a.ts': "export * from './b';",
          'src/lib/b/index.ts': 'export const b = (x: string) => fetch(x);',
        }),
      );
      expect(failure.code).to.equal('USES_RAW_NETWORK');
      expect(failure.detail).to.match(/^"src\/lib\/b\/index\.ts" calls fetch: .*host\.request\.send/);
      expect(probed).to.deep.equal([]);
    });

    it('a source behind a link to outside is LOCAL_PATH_ESCAPES_ROOT', async () => {
      const outside = await createPackageFolder();
      try {
        await outside.write({ 'index.js': '' });
        await place.write(SOURCES);
        await rm(join(place.path, 'src/index.js'));
        await symlink(join(outside.path, 'index.js'), join(place.path, 'src/index.js'));
        expect(await codeOf(CONFINED_ENDPOINT_MANIFEST, {})).to.equal('LOCAL_PATH_ESCAPES_ROOT');
      } finally {
        await outside.remove();
      }
    });

    it('the browser half of an operation is not scanned', async () => {
      contract = [entry()];
      const operation: ExtensionManifest = {
        type: 'operation',
        host: '^1.0.0',
        path: { app: 'dist/app.js', api: 'dist/index.js' },
        source: { app: 'src/app.js', api: 'src/index.js' },
        runtime: 'confined-server',
      };
      await pass(operation, { ...SOURCES, 'src/app.js': 'fetch("https://a.example")' });
    });
  });

  describe('the probe at the gate', () => {
    const outcomes: readonly (readonly [InvocationFailureCode, string])[] = [
      ['invalid-entry', 'INVALID_ENTRY'],
      ['timeout', 'TIMEOUT'],
      ['crash', 'CRASH'],
      ['busy', 'VALIDATION_INCOMPLETE'],
      ['internal', 'VALIDATION_INCOMPLETE'],
    ];
    for (const [outcome, code] of outcomes) {
      it(`a probe that ends with ${outcome} is ${code}`, async () => {
        contract = outcome;
        expect(await codeOf()).to.equal(code);
      });
    }

    it("an export without one contract, a handler and the package's id is refused", async () => {
      for (const [exported, code] of [
        [[], 'INVALID_ENTRY'],
        [[entry(), entry()], 'INVALID_ENTRY'],
        [[entry({ key: 'endpoint:orders' })], 'INVALID_ENTRY'],
        [[entry({ handler: false })], 'INVALID_ENTRY'],
        [[entry({ id: null, handler: false })], 'INVALID_ENTRY'],
        [[entry({ id: null })], 'IDENTITY_MISMATCH'],
        [[entry({ id: 'others' })], 'IDENTITY_MISMATCH'],
      ] as const) {
        contract = exported;
        expect(await codeOf()).to.equal(code);
      }
    });

    it('a hook that does not export exactly its declared events is IDENTITY_MISMATCH', async () => {
      const hook: ExtensionManifest = {
        ...CONFINED_ENDPOINT_MANIFEST,
        type: 'hook',
        capabilities: {},
        events: { filter: ['a.items.create'], action: ['a.items.update'] },
      };
      contract = [entry({ handler: false, filters: ['a.items.create'], actions: ['a.items.update'] })];
      await pass(hook);
      for (const [filters, actions] of [
        [[], ['a.items.update']],
        [['a.items.create', 'b.items.create'], ['a.items.update']],
        [['a.items.create'], ['a.items.create']],
      ] as const) {
        contract = [entry({ handler: false, filters, actions })];
        expect(await codeOf(hook)).to.equal('IDENTITY_MISMATCH');
      }
    });

    it('a bundle that does not export every server entry under its key is INVALID_ENTRY', async () => {
      const bundle: ExtensionManifest = {
        type: 'bundle',
        host: '^1.0.0',
        path: { app: 'dist/app.js', api: 'dist/index.js' },
        runtime: 'confined-server',
        entries: [
          { type: 'endpoint', name: 'a', source: 'src/index.js', capabilities: { endpoint: { access: 'public' } } },
          { type: 'panel', name: 'b', source: 'src/panel.js' },
        ],
      };
      contract = [entry({ key: 'endpoint:a', id: null })];
      expect((await pass(bundle)).contributions.map(({ key, id }) => [key, id])).to.deep.equal([['endpoint:a', 'a']]);
      contract = [entry({ key: 'endpoint:a', id: 'b' })];
      expect(await codeOf(bundle)).to.equal('IDENTITY_MISMATCH');
      contract = [entry({ key: 'endpoint:b', id: null })];
      expect(await codeOf(bundle)).to.equal('INVALID_ENTRY');
      contract = [entry({ key: 'endpoint:a' }), entry({ key: 'endpoint:a' })];
      expect(await codeOf(bundle)).to.equal('INVALID_ENTRY');
    });

    it('a bundle without server entries is not probed', async () => {
      const bundle: ExtensionManifest = {
        type: 'bundle',
        host: '^1.0.0',
        path: { app: 'dist/app.js', api: 'dist/api.js' },
        runtime: 'confined-server',
        entries: [{ type: 'panel', name: 'b', source: 'src/panel.js' }],
      };
      expect((await pass(bundle, {})).contributions).to.deep.equal([]);
      expect(probed).to.deep.equal([]);
    });
  });

  it('listAllowedIds has the name with and without prefix and scope', () => {
    expect(listAllowedContributionIds('service-extension-orders')).to.deep.equal([
      'service-extension-orders',
      'orders',
    ]);
    expect(listAllowedContributionIds('@acme/service-extension-orders')).to.deep.equal([
      '@acme/service-extension-orders',
      'orders',
      '@acme/orders',
    ]);
    expect(listAllowedContributionIds('@service/extension-orders')).to.deep.equal([
      '@service/extension-orders',
      'orders',
    ]);
  });

  it('any other error is VALIDATION_INCOMPLETE', async () => {
    const found = createDiscoveredExtension(place.path, NAME, CONFINED_ENDPOINT_MANIFEST);
    await place.write({ 'package.json': packageJson(NAME, CONFINED_ENDPOINT_MANIFEST) });
    const broken = { ...deps(), consent: async () => Promise.reject(new Error('the database is away')) };
    const failure = await catchLoadFailure(runConfinedPackageGate(found, broken));
    expect(failure.code).to.equal('VALIDATION_INCOMPLETE');
    expect(failure.detail).not.to.include('database');
  });
});
