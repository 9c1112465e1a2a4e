import { expect } from 'chai';
import type { BundleEntryOutcome, DiscoveredExtension } from '../../../plugins/extensions/contract.ts';
import { LoadFailure } from '../../../plugins/extensions/library.ts';
import { type ExtensionLoadSlot, toExtensionRow } from '../../../plugins/extensions/load/extension-load-state.ts';
import { createFailureReasonRedactor, toExtensionInfoRecord } from '../../../plugins/extensions/records/info-record.ts';
import { redactDetail, redactGateDetail } from '../../../plugins/extensions/records/redact.ts';

const asReason = createFailureReasonRedactor((text) => text.replaceAll('hunter2hunter2', '<redacted>'));
const nothing = (text: string) => text;
const found = (more: Partial<DiscoveredExtension>): DiscoveredExtension => ({
  id: 'id',
  folder: '/srv/extensions/my-folder',
  name: 'service-extension-a',
  local: true,
  type: 'endpoint',
  version: '1.0.0',
  files: {},
  revision: '',
  ...more,
});
const manifest = { type: 'endpoint', host: '^1.0.0', path: 'dist/index.js' } as const;
const record = (slot: ExtensionLoadSlot, since?: LoadFailure) =>
  toExtensionInfoRecord(toExtensionRow(slot, asReason, since));

describe('toRecord', () => {
  const forClients = {
    bundle: null,
    schema: { type: 'endpoint', local: true, version: '1.0.0' },
    meta: { id: 'id', source: 'local', enabled: true, folder: 'my-folder', bundle: null },
  };

  it('a record has the members of the specification and of older clients, without those that do not apply', () => {
    expect(record({ extension: found({ manifest }) })).to.deep.equal({
      id: 'id',
      name: 'service-extension-a',
      type: 'endpoint',
      local: true,
      status: 'loaded',
      version: '1.0.0',
      ...forClients,
    });
  });

  it('a record of a confined extension has runtime and capabilities, also if it failed', () => {
    const capabilities = { log: true };
    const declared = { ...manifest, runtime: 'confined-server', capabilities, stateful: true } as const;
    const failure = new LoadFailure('ROUTE_COLLISION', 'another extension answers there');
    const { bundle: _b, schema: _s, meta: _m, ...own } = record({ extension: found({ manifest: declared }), failure });
    expect(own).to.deep.equal({
      id: 'id',
      name: 'service-extension-a',
      type: 'endpoint',
      local: true,
      status: 'failed',
      version: '1.0.0',
      runtime: 'confined-server',
      capabilities,
      stateful: true,
      reason: {
        code: 'ROUTE_COLLISION',
        detail: 'another extension answers there. Rename it, or remove the other one.',
      },
    });
  });

  it('type is null if it could not be read, and version is absent without one', () => {
    const { version: _v, ...rest } = found({ type: null });
    const failure = new LoadFailure('MANIFEST_INVALID', 'package.json is not JSON. Correct it.');
    expect(record({ extension: rest, failure })).to.deep.include({
      type: null,
      status: 'failed',
      schema: null,
      reason: { code: 'MANIFEST_INVALID', detail: 'package.json is not JSON. Correct it.' },
    });
    expect(record({ extension: rest, failure })).not.to.have.any.keys('version', 'runtime', 'settings', 'entries');
  });

  it('status is "discovered" for browser extensions, and settings are shown', () => {
    const settings = { status: 'available' } as const;
    expect(record({ extension: found({ type: 'panel' }), settings })).to.deep.include({
      status: 'discovered',
      settings,
    });
    const appFailure = new LoadFailure('BUNDLE_BUILD_FAILED', 'it cannot be bundled');
    expect(record({ extension: found({ type: 'panel' }), appFailure })).to.deep.include({ status: 'failed' });
    const half = record({ extension: found({ type: 'operation' }), appFailure });
    expect(half).to.deep.include({ status: 'partial' });
    expect(half.reason).to.include({ code: 'BUNDLE_BUILD_FAILED' });
  });

  describe('records of bundles', () => {
    const entries = [
      { type: 'endpoint', name: 'a', source: 'a.js', capabilities: { log: true } },
      { type: 'hook', name: 'b', source: 'b.js' },
      { type: 'panel', name: 'c', source: 'c.js' },
    ] as const;
    const path = { app: 'app.js', api: 'api.js' };
    const full = found({ type: 'bundle', manifest: { type: 'bundle', host: '*', path, entries } });
    const confined = found({
      type: 'bundle',
      manifest: { type: 'bundle', host: '*', path, entries, runtime: 'confined-server' },
    });
    const bad = (name: string, type: string): BundleEntryOutcome => ({
      name,
      type,
      status: 'failed',
      reason: { code: 'ROUTE_COLLISION', detail: 'taken' },
    });
    const loaded = (...outcomes: BundleEntryOutcome[]) => ({ entries: outcomes, remove: async () => {} });
    const good = (name: string, type: string): BundleEntryOutcome => ({ name, type, status: 'loaded' });

    it('each entry of a bundle with full authority has the status of the bundle', () => {
      expect(record({ extension: full, loaded: loaded() })).to.deep.include({
        status: 'loaded',
        entries: entries.map(({ name, type }) => ({ name, type, status: 'loaded' })),
      });
    });

    it('each entry of a confined bundle has its own status', () => {
      const shown = record({ extension: confined, loaded: loaded(bad('a', 'endpoint'), good('b', 'hook')) });
      expect(shown).to.deep.include({
        status: 'partial',
        entries: [
          {
            name: 'a',
            type: 'endpoint',
            status: 'failed',
            reason: { code: 'ROUTE_COLLISION', detail: 'taken. Rename it, or remove the other one.' },
            capabilities: { log: true },
          },
          { name: 'b', type: 'hook', status: 'loaded' },
          { name: 'c', type: 'panel', status: 'loaded' },
        ],
      });
      expect(shown).not.to.have.any.keys('reason', 'capabilities');
    });

    it('a bundle is loaded if all server entries are, and failed if none is', () => {
      expect(record({ extension: confined, loaded: loaded(good('a', 'endpoint'), good('b', 'hook')) }).status).to.equal(
        'loaded',
      );
      const failed = record({ extension: confined, loaded: loaded(bad('a', 'endpoint'), bad('b', 'hook')) });
      expect(failed.status).to.equal('failed');
      expect(failed.reason).to.include({ code: 'ROUTE_COLLISION' });
      const gate = record({ extension: confined, failure: new LoadFailure('CRASH', 'it died'), failedAtGate: true });
      expect((gate.entries as BundleEntryOutcome[]).map(({ status }) => status)).to.deep.equal([
        'failed',
        'failed',
        'loaded',
      ]);
    });

    it('a bundle fails as a whole when its process is parked later', () => {
      const slot = { extension: confined, loaded: loaded(good('a', 'endpoint'), good('b', 'hook')) };
      const shown = record(slot, new LoadFailure('RUNTIME_CRASHED', 'it crashed five times'));
      expect([shown.status, (shown.reason as { code: string }).code]).to.deep.equal(['failed', 'RUNTIME_CRASHED']);
    });
  });
});

describe('redactDetail and redactGateDetail', () => {
  const cases: readonly [string, string, string][] = [
    ['an absolute path', 'no file at /srv/app/dist/index.js.', 'no file at <path>.'],
    ['a path of one segment', 'cannot read "/etc"', 'cannot read "<path>"'],
    ['a relative path', "Cannot find module './lib/a.js'", "Cannot find module '<path>'"],
    ['a path without a dot', 'in src/index.js:3:4', 'in <path>'],
    ['a drive letter', 'at C:\\Users\\me\\a.js failed', 'at <path> failed'],
    ['a file URL', 'at file:///srv/a.js:1', 'at <path>'],
    ['the path of a URL', 'to https://api.example.com/v1/secret failed', 'to https://api.example.com/<path> failed'],
    ['a URL with a password', 'to https://me:hunter2@api.example.com/v1 failed', 'to <path> failed'],
    ['a URL with a query', 'to http://api.example.com?key=hunter2 failed', 'to http://api.example.com/<path> failed'],
    ['a text like a token', 'key abcdefghijklmnopqrstuvwx12 bad', 'key <redacted> bad'],
    ['several lines', 'a\n   at b\t c', 'a at b c'],
    ['a scoped package', 'of @acme/service-extension-chat-notify too', 'of @acme/service-extension-chat-notify too'],
    ['a long name', 'by service-extension-chat-notify-and-more too', 'by service-extension-chat-notify-and-more too'],
    ['a setting', 'raise EXTENSIONS_SANDBOX_MAX_ARTIFACT now', 'raise EXTENSIONS_SANDBOX_MAX_ARTIFACT now'],
  ];
  for (const [what, detail, shown] of cases) {
    it(`a detail with ${what} is redacted`, () => {
      expect(redactDetail(detail, nothing)).to.equal(shown);
    });
  }

  it('values of the environment are removed, and a detail is cut at 300 characters', () => {
    expect(asReason({ code: 'UNKNOWN', detail: 'with hunter2hunter2 in it' }, false).detail).to.equal(
      'with <redacted> in it. See the log of the service for the error.',
    );
    expect(asReason({ code: 'RUNTIME_CRASHED', detail: 'Failed too often.' }, false).detail).to.equal(
      'Failed too often. Correct the package, then POST its name to extensions/restart.',
    );
    // A folder from the environment and the path below it are redacted as one path.
    const folder = (text: string) => text.replaceAll('/srv/extensions', '<redacted>');
    expect(redactDetail("no '/srv/extensions/a/index.js' there", folder)).to.equal("no '<path>' there");
    expect(redactDetail('word '.repeat(200), nothing)).to.have.length(300);
    for (const code of ['VALIDATION_INCOMPLETE', 'BUNDLE_BUILD_FAILED']) {
      expect(asReason({ code, detail: 'word '.repeat(200) }, false).detail.length).to.be.at.most(300);
    }
  });

  it('a detail of the gate may name a file of the package, and is replaced if it names another path', () => {
    expect(redactGateDetail('src/index.js imports node:fs', nothing)).to.equal('src/index.js imports node:fs');
    for (const text of ['found /etc/passwd', 'found ../../a.js', 'at C:\\a', 'at file:///a', 'in src/../../a']) {
      expect(redactGateDetail(text, nothing), text).to.match(/^The package could not be validated/);
    }
  });
});
