import { expect } from 'chai';
import { VERSION } from '#kernel';
import { LoadFailure } from '../../../plugins/extensions/library.ts';
import { selectEffectiveGrants } from '../../../plugins/extensions/manifest/capabilities.ts';
import {
  isExtensionName,
  stripExtensionNamePrefix,
} from '../../../plugins/extensions/manifest/extension-package-names.ts';
import { type ManifestDeps, validatePackageManifest } from '../../../plugins/extensions/manifest/validate.ts';
import {
  BUNDLE_MANIFEST,
  CONFINED_RUNTIME,
  createPackageJson,
  ENDPOINT_MANIFEST,
  OPERATION_MANIFEST,
  PANEL_MANIFEST,
} from './package-folder.ts';

const deps: ManifestDeps = {
  subjects: {
    findProblems: (grants) =>
      Object.entries(grants).flatMap(([name, grant]) =>
        name === 'log' && typeof grant !== 'boolean' ? ['/capabilities/log must be boolean'] : [],
      ),
  },
  settings: {
    parseDeclaration: (raw) => ({
      problems: Object.keys(raw as object).length ? [] : ['/settings is empty'],
      declaration: {},
    }),
  },
  config: { EXTENSIONS_HOST_CHECK: 'warn' },
};
const hook = { type: 'hook', path: 'dist/index.js', source: 'src/index.js' };
const check = (manifest: object, more: object = {}, other: ManifestDeps = deps) =>
  validatePackageManifest(createPackageJson('service-extension-a', manifest, more), other);

function refusal(manifest: object, more: object = {}, other: ManifestDeps = deps): string {
  try {
    check(manifest, more, other);
  } catch (error) {
    expect(error).to.be.instanceOf(LoadFailure);
    expect((error as LoadFailure).code).to.equal('MANIFEST_INVALID');
    return (error as LoadFailure).detail;
  }
  throw new Error('it was accepted');
}

describe('validatePackageManifest', () => {
  const entry = { type: 'endpoint', name: 'a', source: 'src/a.js' };
  const bare = { log: true };

  const fine: readonly [string, object][] = [
    ['a panel', PANEL_MANIFEST],
    ['an item view', { ...PANEL_MANIFEST, type: 'item-view' }],
    ['a hidden endpoint with settings', { ...ENDPOINT_MANIFEST, hidden: true, settings: { a: { type: 'string' } } }],
    ['a hook without a source', { type: 'hook', path: 'index.js' }],
    ['an operation', OPERATION_MANIFEST],
    [
      'a confined endpoint',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, capabilities: { endpoint: { access: 'app' }, log: true } },
    ],
    ['a confined hook', { ...hook, ...CONFINED_RUNTIME, events: { action: ['items.create'] } }],
    ['a confined hook without events, which the gate refuses', { ...hook, ...CONFINED_RUNTIME }],
    [
      'a confined operation',
      { ...OPERATION_MANIFEST, ...CONFINED_RUNTIME, optionDelivery: { key: { delivery: 'reference' } } },
    ],
    ['an empty bundle', { ...BUNDLE_MANIFEST, entries: [] }],
    [
      'a bundle of both kinds',
      { ...BUNDLE_MANIFEST, entries: [entry, { type: 'panel', name: 'p', source: 'src/p.js' }] },
    ],
    ['a confined bundle', { ...BUNDLE_MANIFEST, ...CONFINED_RUNTIME, entries: [{ ...entry, capabilities: bare }] }],
    ['a stateful confined endpoint', { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, stateful: true }],
    [
      'reserved capabilities',
      {
        ...ENDPOINT_MANIFEST,
        ...CONFINED_RUNTIME,
        capabilities: { files: { accountability: 'user' }, schema: ['read'] },
      },
    ],
  ];
  it('names with spaces, control or look-alike characters are refused', () => {
    for (const name of [
      'a b',
      'a\nb',
      '@tenon/items@1.0.0',
      '@tenοn/items',
      'a\u202eb',
      '\u001b[31ma',
      'x'.repeat(215),
    ])
      expect(refusal(ENDPOINT_MANIFEST, { name }), name).to.include('name must');
    for (const version of ['1.0.0 ', '1@2', '1\u0007', '1'.repeat(101)])
      expect(refusal(ENDPOINT_MANIFEST, { version }), version).to.include('version must');
    for (const name of ['a\nb', 'x'.repeat(256)])
      expect(refusal({ ...BUNDLE_MANIFEST, entries: [{ ...entry, name }] }), name).to.include('name must');
  });

  for (const [what, manifest] of fine) {
    it(`${what} is valid`, () => {
      expect(check(manifest).manifest).to.deep.equal({ host: '^1.0.0', ...manifest });
    });
  }

  const wrong: readonly [string, object, RegExp][] = [
    ['no type', { path: 'a.js' }, /type must be one of/],
    ['an unknown type', { type: 'theme', path: 'a.js' }, /type must be one of/],
    ['no path', { type: 'hook' }, /required property 'path'/],
    ['one path instead of two', { ...OPERATION_MANIFEST, path: 'dist/index.js' }, /path must be object/],
    ['two paths instead of one', { ...ENDPOINT_MANIFEST, path: { app: 'a', api: 'b' } }, /path must be string/],
    ['no range of hosts', { ...ENDPOINT_MANIFEST, host: undefined }, /required property 'host'/],
    ['an invalid range of hosts', { ...ENDPOINT_MANIFEST, host: 'newest' }, /"newest" is not a range/],
    ['another runtime', { ...ENDPOINT_MANIFEST, runtime: 'sandbox' }, /runtime must be "confined-server"/],
    ['no runtime', { ...ENDPOINT_MANIFEST, runtime: null }, /runtime must be "confined-server"/],
    [
      'an unknown key for confinement',
      { ...ENDPOINT_MANIFEST, sandbox: { enabled: true } },
      /additional properties "sandbox"/,
    ],
    ['runtime on an app type', { ...PANEL_MANIFEST, ...CONFINED_RUNTIME }, /additional properties "runtime"/],
    ['capabilities on an app type', { ...PANEL_MANIFEST, capabilities: bare }, /additional properties "capabilities"/],
    ['events on an app type', { ...PANEL_MANIFEST, events: { action: ['a'] } }, /additional properties "events"/],
    [
      'optionDelivery on an app type',
      { ...PANEL_MANIFEST, optionDelivery: {} },
      /additional properties "optionDelivery"/,
    ],
    ['capabilities without the runtime', { ...ENDPOINT_MANIFEST, capabilities: bare }, /capabilities needs "runtime"/],
    ['events without the runtime', { ...hook, events: { action: ['a'] } }, /events needs "runtime"/],
    [
      'optionDelivery without the runtime',
      { ...OPERATION_MANIFEST, optionDelivery: {} },
      /optionDelivery needs "runtime"/,
    ],
    ['stateful without the runtime', { ...ENDPOINT_MANIFEST, stateful: true }, /stateful needs "runtime"/],
    ['stateful: false', { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, stateful: false }, /stateful must be true/],
    [
      'events on an endpoint',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, events: { action: ['a'] } },
      /additional properties "events"/,
    ],
    [
      'events on an operation',
      { ...OPERATION_MANIFEST, ...CONFINED_RUNTIME, events: { action: ['a'] } },
      /additional properties "events"/,
    ],
    [
      'optionDelivery on an endpoint',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, optionDelivery: {} },
      /properties "optionDelivery"/,
    ],
    [
      'optionDelivery on a hook',
      { ...hook, ...CONFINED_RUNTIME, optionDelivery: {} },
      /additional properties "optionDelivery"/,
    ],
    [
      'optionDelivery at the root',
      { ...BUNDLE_MANIFEST, ...CONFINED_RUNTIME, entries: [], optionDelivery: {} },
      /properties "optionDel/,
    ],
    [
      'capabilities at the root',
      { ...BUNDLE_MANIFEST, ...CONFINED_RUNTIME, entries: [], capabilities: {} },
      /properties "capabilities"/,
    ],
    [
      'events at the root',
      { ...BUNDLE_MANIFEST, ...CONFINED_RUNTIME, entries: [], events: {} },
      /additional properties "events"/,
    ],
    [
      'runtime on an entry',
      { ...BUNDLE_MANIFEST, entries: [{ ...entry, ...CONFINED_RUNTIME }] },
      /entries\.0 must NOT .*"runtime"/,
    ],
    [
      'a bundle in a bundle',
      { ...BUNDLE_MANIFEST, entries: [{ ...entry, type: 'bundle' }] },
      /entries\.0\.type is no type/,
    ],
    ['a bundle without entries', BUNDLE_MANIFEST, /required property 'entries'/],
    [
      'settings of an entry',
      { ...BUNDLE_MANIFEST, entries: [{ ...entry, settings: {} }] },
      /additional properties "settings"/,
    ],
    [
      'intent of an entry alone',
      { ...BUNDLE_MANIFEST, entries: [{ ...entry, capabilities: bare }] },
      /entries\.0\.capabilities needs/,
    ],
    [
      'capabilities of a panel in a confined bundle',
      {
        ...BUNDLE_MANIFEST,
        ...CONFINED_RUNTIME,
        entries: [{ type: 'panel', name: 'p', source: 's', capabilities: bare }],
      },
      /entries\.0 must NOT have additional properties "capabilities"/,
    ],
    [
      'an entry without a name',
      { ...BUNDLE_MANIFEST, entries: [{ type: 'panel', source: 's' }] },
      /required property 'name'/,
    ],
    [
      'an unknown capability',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, capabilities: { shell: true } },
      /shell is not a capability/,
    ],
    [
      'a capability of plugins',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, capabilities: { database: { sql: 'tests run any statement' } } },
      /database is not/,
    ],
    [
      'full authority in confinement',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, capabilities: { full: true } },
      /full is not/,
    ],
    [
      'a grant of another shape',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, capabilities: { log: 'yes' } },
      /capabilities\.log must be/,
    ],
    [
      'a reserved one of another shape',
      { ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, capabilities: { schema: [] } },
      /schema must NOT/,
    ],
    ['no source with the runtime', { type: 'endpoint', path: 'a.js', ...CONFINED_RUNTIME }, /source is required/],
    [
      'a wildcard among events',
      { ...hook, ...CONFINED_RUNTIME, events: { filter: ['items.*'] } },
      /events\.filter\.0 must be the exact name of an event/,
    ],
    ['events of no kind', { ...hook, ...CONFINED_RUNTIME, events: {} }, /events must NOT have fewer/],
    [
      'seventeen events',
      { ...hook, ...CONFINED_RUNTIME, events: { filter: [...'abcdefghijklmnopq'] } },
      /events\.filter must NOT/,
    ],
    ['empty settings', { ...ENDPOINT_MANIFEST, settings: {} }, /settings is empty/],
    ['partial', { ...BUNDLE_MANIFEST, entries: [], partial: true }, /additional properties "partial"/],
    ['a list', [] as never, /must be/],
  ];
  for (const [what, manifest, detail] of wrong) {
    it(`a manifest with ${what} is refused with a pointer`, () => {
      expect(refusal(manifest))
        .to.match(detail)
        .and.match(/Correct package\.json\.$/);
    });
  }

  it('a package without name, version or service:extension is refused', () => {
    expect(refusal(ENDPOINT_MANIFEST, { name: '' })).to.match(/name must NOT/);
    expect(refusal(ENDPOINT_MANIFEST, { version: undefined })).to.match(/version/);
    expect(refusal(ENDPOINT_MANIFEST, { type: 'script' })).to.match(/type must be equal to one/);
    expect(() => validatePackageManifest(null, deps)).to.throw(LoadFailure, /the manifest must be object/);
    expect(() => validatePackageManifest({ name: 'a', version: '1' }, deps)).to.throw(/service:extension/);
  });

  it('another host is a warning for full authority, and refused with EXTENSIONS_HOST_CHECK=strict', () => {
    const older = { ...ENDPOINT_MANIFEST, host: '^9.0.0' };
    expect(check(older).warning).to.match(/\^9\.0\.0.*1\.0\.0/);
    expect(check(ENDPOINT_MANIFEST)).not.to.have.property('warning');
    // A range may also match the version of the service.
    expect(check({ ...ENDPOINT_MANIFEST, ...CONFINED_RUNTIME, host: `^${VERSION}` })).not.to.have.property('warning');
    expect(refusal({ ...older, ...CONFINED_RUNTIME })).to.match(/written for host \^9\.0\.0/);
    expect(refusal(older, {}, { ...deps, config: { EXTENSIONS_HOST_CHECK: 'strict' } })).to.match(/host \^9/);
  });

  it('selectGrants leaves out reserved grants and those that are false', () => {
    expect(selectEffectiveGrants({ log: false, template: true, files: { accountability: 'user' } })).to.deep.equal({
      template: true,
    });
    expect(selectEffectiveGrants()).to.deep.equal({});
  });

  it('isExtensionName and stripExtensionNamePrefix know the three name patterns', () => {
    for (const [name, rest] of [
      ['service-extension-orders', 'orders'],
      ['@acme/service-extension-orders', 'orders'],
      ['@service/extension-orders', 'orders'],
    ] as const) {
      expect([isExtensionName(name), stripExtensionNamePrefix(name)]).to.deep.equal([true, rest]);
    }
    for (const name of ['service-extension-', 'orders', '@acme/extension-orders', 'x-service-extension-y', '@a/b/c']) {
      expect(isExtensionName(name), name).to.equal(false);
    }
    expect(stripExtensionNamePrefix('@acme/orders')).to.equal('orders');
  });
});
