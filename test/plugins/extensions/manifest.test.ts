import { expect } from 'chai';
import { VERSION } from '#kernel';
import { LoadFailure } from '../../../plugins/extensions/library.ts';
import { selectGrants } from '../../../plugins/extensions/manifest/capabilities.ts';
import { isExtensionName, stripNamePrefix } from '../../../plugins/extensions/manifest/names.ts';
import { type ManifestDeps, validatePackage } from '../../../plugins/extensions/manifest/validate.ts';
import { bundle, confined, createPackageJson, endpoint, operation, panel } from './package-folder.ts';

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
  validatePackage(createPackageJson('service-extension-a', manifest, more), other);

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

describe('validatePackage', () => {
  const entry = { type: 'endpoint', name: 'a', source: 'src/a.js' };
  const bare = { log: true };

  const fine: readonly [string, object][] = [
    ['a panel', panel],
    ['an item view', { ...panel, type: 'item-view' }],
    ['a hidden endpoint with settings', { ...endpoint, hidden: true, settings: { a: { type: 'string' } } }],
    ['a hook without a source', { type: 'hook', path: 'index.js' }],
    ['an operation', operation],
    ['a confined endpoint', { ...endpoint, ...confined, capabilities: { endpoint: { access: 'app' }, log: true } }],
    ['a confined hook', { ...hook, ...confined, events: { action: ['items.create'] } }],
    ['a confined hook without events, which the gate refuses', { ...hook, ...confined }],
    ['a confined operation', { ...operation, ...confined, optionDelivery: { key: { delivery: 'reference' } } }],
    ['an empty bundle', { ...bundle, entries: [] }],
    ['a bundle of both kinds', { ...bundle, entries: [entry, { type: 'panel', name: 'p', source: 'src/p.js' }] }],
    ['a confined bundle', { ...bundle, ...confined, entries: [{ ...entry, capabilities: bare }] }],
    ['a stateful confined endpoint', { ...endpoint, ...confined, stateful: true }],
    [
      'reserved capabilities',
      { ...endpoint, ...confined, capabilities: { files: { accountability: 'user' }, schema: ['read'] } },
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
      expect(refusal(endpoint, { name }), name).to.include('name must');
    for (const version of ['1.0.0 ', '1@2', '1\u0007', '1'.repeat(101)])
      expect(refusal(endpoint, { version }), version).to.include('version must');
    for (const name of ['a\nb', 'x'.repeat(256)])
      expect(refusal({ ...bundle, entries: [{ ...entry, name }] }), name).to.include('name must');
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
    ['one path instead of two', { ...operation, path: 'dist/index.js' }, /path must be object/],
    ['two paths instead of one', { ...endpoint, path: { app: 'a', api: 'b' } }, /path must be string/],
    ['no range of hosts', { ...endpoint, host: undefined }, /required property 'host'/],
    ['an invalid range of hosts', { ...endpoint, host: 'newest' }, /"newest" is not a range/],
    ['another runtime', { ...endpoint, runtime: 'sandbox' }, /runtime must be "confined-server"/],
    ['no runtime', { ...endpoint, runtime: null }, /runtime must be "confined-server"/],
    ['an unknown key for confinement', { ...endpoint, sandbox: { enabled: true } }, /additional properties "sandbox"/],
    ['runtime on an app type', { ...panel, ...confined }, /additional properties "runtime"/],
    ['capabilities on an app type', { ...panel, capabilities: bare }, /additional properties "capabilities"/],
    ['events on an app type', { ...panel, events: { action: ['a'] } }, /additional properties "events"/],
    ['optionDelivery on an app type', { ...panel, optionDelivery: {} }, /additional properties "optionDelivery"/],
    ['capabilities without the runtime', { ...endpoint, capabilities: bare }, /capabilities needs "runtime"/],
    ['events without the runtime', { ...hook, events: { action: ['a'] } }, /events needs "runtime"/],
    ['optionDelivery without the runtime', { ...operation, optionDelivery: {} }, /optionDelivery needs "runtime"/],
    ['stateful without the runtime', { ...endpoint, stateful: true }, /stateful needs "runtime"/],
    ['stateful: false', { ...endpoint, ...confined, stateful: false }, /stateful must be true/],
    [
      'events on an endpoint',
      { ...endpoint, ...confined, events: { action: ['a'] } },
      /additional properties "events"/,
    ],
    [
      'events on an operation',
      { ...operation, ...confined, events: { action: ['a'] } },
      /additional properties "events"/,
    ],
    ['optionDelivery on an endpoint', { ...endpoint, ...confined, optionDelivery: {} }, /properties "optionDelivery"/],
    [
      'optionDelivery on a hook',
      { ...hook, ...confined, optionDelivery: {} },
      /additional properties "optionDelivery"/,
    ],
    [
      'optionDelivery at the root',
      { ...bundle, ...confined, entries: [], optionDelivery: {} },
      /properties "optionDel/,
    ],
    [
      'capabilities at the root',
      { ...bundle, ...confined, entries: [], capabilities: {} },
      /properties "capabilities"/,
    ],
    ['events at the root', { ...bundle, ...confined, entries: [], events: {} }, /additional properties "events"/],
    ['runtime on an entry', { ...bundle, entries: [{ ...entry, ...confined }] }, /entries\.0 must NOT .*"runtime"/],
    ['a bundle in a bundle', { ...bundle, entries: [{ ...entry, type: 'bundle' }] }, /entries\.0\.type is no type/],
    ['a bundle without entries', bundle, /required property 'entries'/],
    ['settings of an entry', { ...bundle, entries: [{ ...entry, settings: {} }] }, /additional properties "settings"/],
    [
      'intent of an entry alone',
      { ...bundle, entries: [{ ...entry, capabilities: bare }] },
      /entries\.0\.capabilities needs/,
    ],
    [
      'capabilities of a panel in a confined bundle',
      { ...bundle, ...confined, entries: [{ type: 'panel', name: 'p', source: 's', capabilities: bare }] },
      /entries\.0 must NOT have additional properties "capabilities"/,
    ],
    ['an entry without a name', { ...bundle, entries: [{ type: 'panel', source: 's' }] }, /required property 'name'/],
    ['an unknown capability', { ...endpoint, ...confined, capabilities: { shell: true } }, /shell is not a capability/],
    [
      'a capability of plugins',
      { ...endpoint, ...confined, capabilities: { database: { sql: 'tests run any statement' } } },
      /database is not/,
    ],
    ['full authority in confinement', { ...endpoint, ...confined, capabilities: { full: true } }, /full is not/],
    [
      'a grant of another shape',
      { ...endpoint, ...confined, capabilities: { log: 'yes' } },
      /capabilities\.log must be/,
    ],
    ['a reserved one of another shape', { ...endpoint, ...confined, capabilities: { schema: [] } }, /schema must NOT/],
    ['no source with the runtime', { type: 'endpoint', path: 'a.js', ...confined }, /source is required/],
    [
      'a wildcard among events',
      { ...hook, ...confined, events: { filter: ['items.*'] } },
      /events\.filter\.0 must be the exact name of an event/,
    ],
    ['events of no kind', { ...hook, ...confined, events: {} }, /events must NOT have fewer/],
    [
      'seventeen events',
      { ...hook, ...confined, events: { filter: [...'abcdefghijklmnopq'] } },
      /events\.filter must NOT/,
    ],
    ['empty settings', { ...endpoint, settings: {} }, /settings is empty/],
    ['partial', { ...bundle, entries: [], partial: true }, /additional properties "partial"/],
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
    expect(refusal(endpoint, { name: '' })).to.match(/name must NOT/);
    expect(refusal(endpoint, { version: undefined })).to.match(/version/);
    expect(refusal(endpoint, { type: 'script' })).to.match(/type must be equal to one/);
    expect(() => validatePackage(null, deps)).to.throw(LoadFailure, /the manifest must be object/);
    expect(() => validatePackage({ name: 'a', version: '1' }, deps)).to.throw(/service:extension/);
  });

  it('another host is a warning for full authority, and refused with EXTENSIONS_HOST_CHECK=strict', () => {
    const older = { ...endpoint, host: '^9.0.0' };
    expect(check(older).warning).to.match(/\^9\.0\.0.*1\.0\.0/);
    expect(check(endpoint)).not.to.have.property('warning');
    // A range may also match the version of the service.
    expect(check({ ...endpoint, ...confined, host: `^${VERSION}` })).not.to.have.property('warning');
    expect(refusal({ ...older, ...confined })).to.match(/written for host \^9\.0\.0/);
    expect(refusal(older, {}, { ...deps, config: { EXTENSIONS_HOST_CHECK: 'strict' } })).to.match(/host \^9/);
  });

  it('selectGrants leaves out reserved grants and those that are false', () => {
    expect(selectGrants({ log: false, template: true, files: { accountability: 'user' } })).to.deep.equal({
      template: true,
    });
    expect(selectGrants()).to.deep.equal({});
  });

  it('isExtensionName and stripNamePrefix know the three name patterns', () => {
    for (const [name, rest] of [
      ['service-extension-orders', 'orders'],
      ['@acme/service-extension-orders', 'orders'],
      ['@service/extension-orders', 'orders'],
    ] as const) {
      expect([isExtensionName(name), stripNamePrefix(name)]).to.deep.equal([true, rest]);
    }
    for (const name of ['service-extension-', 'orders', '@acme/extension-orders', 'x-service-extension-y', '@a/b/c']) {
      expect(isExtensionName(name), name).to.equal(false);
    }
    expect(stripNamePrefix('@acme/orders')).to.equal('orders');
  });
});
