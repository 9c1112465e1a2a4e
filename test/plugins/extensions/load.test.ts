import { expect } from 'chai';
import type { BundleEntryOutcome, DiscoveredExtension } from '../../../plugins/extensions/contract.ts';
import { LoadFailure } from '../../../plugins/extensions/library.ts';
import { withDeadline } from '../../../plugins/extensions/load/deadline.ts';
import { createExtensionManager, type ExtensionManager } from '../../../plugins/extensions/load/extension-manager.ts';
import { createFailureReasonRedactor, toExtensionInfoRecord } from '../../../plugins/extensions/records/info-record.ts';

type LoadDeps = Parameters<typeof createExtensionManager>[0];

const log = { info: () => {}, warn: () => {}, error: () => {} } as never;

/** Loads fake extensions, listed in `all`, and records each step of a load. */
class Stage {
  all: DiscoveredExtension[] = [];
  readonly did: string[] = [];
  readonly fails = new Map<string, unknown>();
  readonly ambiguous = new Map<string, LoadFailure>();
  outcomes: BundleEntryOutcome[] | undefined;
  state: 'available' | 'unavailable' = 'available';
  readonly extensions: ExtensionManager;

  constructor(more: Partial<LoadDeps> = {}) {
    const step = (what: string, name: string) => {
      this.did.push(`${what} ${name}`);
      const failure = this.fails.get(`${what} ${name}`);
      if (failure) throw failure;
    };
    const loaded = (name: string) => ({
      ...(this.outcomes ? { entries: this.outcomes } : {}),
      remove: async () => step('remove', name),
    });
    const parts: LoadDeps = {
      discover: async () => this.all,
      consent: async () => undefined,
      loadFull: async ({ name }) => {
        step('full', name);
        return loaded(name);
      },
      confined: {
        passGate: async (found) => {
          step('gate', found.name);
          return found;
        },
        load: async (gated) => {
          const { name } = gated as DiscoveredExtension;
          step('confined', name);
          return loaded(name);
        },
        findAmbiguous: (all) =>
          new Map(
            [...this.ambiguous].filter(
              ([id]) => (all as DiscoveredExtension[]).filter((one) => one.id === id).length > 0,
            ),
          ),
      },
      runtimeState: () => ({ state: 'not-required', posture: null }),
      runtime: async () => {
        this.did.push('runtime');
        return { state: this.state, posture: null, reason: 'it is switched off' };
      },
      settings: (all) => {
        this.did.push('settings');
        return new Map(all.filter(({ manifest }) => manifest?.settings).map(({ id }) => [id, { status: 'available' }]));
      },
      appBundle: {
        build: async (halves) => {
          this.did.push(`app ${halves.map(({ name }) => name).join(',')}`);
          return { failed: new Map() };
        },
        chunk: () => undefined,
      },
      beforeLoad: () => {},
      afterLoad: async () => {},
      log,
      ...more,
    };
    this.extensions = createExtensionManager(
      parts,
      createFailureReasonRedactor((text) => text),
    );
  }

  /** Runs `load()` of the extensions and returns the steps that it recorded, such as `gate a`. */
  async load(again: Parameters<ExtensionManager['load']>[0] = { retryFailed: true }): Promise<string[]> {
    this.did.length = 0;
    await this.extensions.load(again);
    return [...this.did];
  }

  states(): string[] {
    return this.extensions.rows().map(({ extension, status, reason }) => `${extension.name} ${reason?.code ?? status}`);
  }
}

function found(
  name: string,
  type: DiscoveredExtension['type'],
  more: { confined?: true; revision?: string; entries?: unknown } = {},
): DiscoveredExtension {
  const { confined, revision = '1', entries } = more;
  const manifest = {
    type,
    host: '*',
    path: 'x',
    ...(confined ? { runtime: 'confined-server' } : {}),
    ...(entries ? { entries } : {}),
  };
  return {
    id: name,
    folder: `/x/${name}`,
    name,
    local: true,
    type,
    version: '1',
    manifest: manifest as never,
    files: { api: 'api.js', app: 'app.js' },
    revision,
  };
}
const confined = true as const;

describe('createExtensions', () => {
  it('a load follows the order of the conventions', async () => {
    const stage = new Stage();
    const entries = [
      { type: 'hook', name: 'h', source: 's' },
      { type: 'panel', name: 'p', source: 's' },
    ];
    stage.all = [
      found('cb', 'bundle', { confined, entries }),
      found('ch', 'hook', { confined }),
      found('fo', 'operation'),
      found('ce', 'endpoint', { confined }),
      found('fb', 'bundle', { entries }),
      found('co', 'operation', { confined }),
      found('p', 'panel'),
      found('fe', 'endpoint'),
      found('fh', 'hook'),
      found('app-only', 'bundle', { entries: [entries[1]] }),
    ];
    expect(await stage.load()).to.deep.equal([
      'settings',
      'runtime',
      'gate cb',
      'gate ch',
      'gate ce',
      'gate co',
      'full fh',
      'full fe',
      'full fo',
      'full fb',
      'confined co',
      'confined ce',
      'confined ch',
      'confined cb',
      'app cb,fo,fb,co,p,app-only',
    ]);
    expect(stage.extensions.runtime()).to.deep.equal({ state: 'available', posture: null });
  });

  it('the confined runtime is not started without a confined extension', async () => {
    const stage = new Stage();
    stage.all = [found('a', 'hook')];
    expect(await stage.load()).not.to.include('runtime');
    expect(stage.extensions.runtime()).to.deep.equal({ state: 'not-required', posture: null });
  });

  it('without a runtime every confined extension fails, and the others load', async () => {
    const stage = new Stage();
    stage.state = 'unavailable';
    stage.all = [found('a', 'hook', { confined }), found('b', 'hook')];
    expect(await stage.load()).to.deep.equal(['settings', 'runtime', 'full b', 'app ']);
    expect(stage.states()).to.deep.equal(['a VALIDATION_INCOMPLETE', 'b loaded']);
    expect(stage.extensions.rows()[0]?.reason?.detail).to.match(/^it is switched off\. .*EXTENSIONS_SANDBOX/);
    expect(toExtensionInfoRecord(stage.extensions.rows()[0] as never)).to.include({ runtime: 'confined-server' });
  });

  it('a failure belongs to one extension, with its code or UNKNOWN', async () => {
    const stage = new Stage();
    stage.all = ['a', 'b', 'c', 'd'].map((name) => found(name, 'operation', name < 'c' ? {} : { confined }));
    stage.fails.set('full a', new LoadFailure('REGISTRATION_FAILED', 'no'));
    stage.fails.set('full b', new Error('something'));
    stage.fails.set('gate c', new Error('something'));
    stage.fails.set('confined d', new LoadFailure('OPERATION_COLLISION', 'taken'));
    expect((await stage.load()).at(-1)).to.equal('app ');
    expect(stage.states()).to.deep.equal([
      'a REGISTRATION_FAILED',
      'b UNKNOWN',
      'c VALIDATION_INCOMPLETE',
      'd OPERATION_COLLISION',
    ]);
  });

  it('a reload keeps unchanged extensions, loads changed ones and tries failed ones again', async () => {
    const stage = new Stage();
    stage.all = [
      found('a', 'hook', { confined }),
      found('b', 'endpoint', { confined }),
      found('c', 'hook', { confined }),
    ];
    stage.fails.set('confined c', new LoadFailure('EVENT_INVALID', 'no'));
    await stage.load();
    stage.fails.clear();
    stage.all = [
      found('a', 'hook', { confined }),
      found('b', 'endpoint', { confined, revision: '2' }),
      stage.all[2] as DiscoveredExtension,
    ];
    expect(await stage.load()).to.deep.equal([
      'settings',
      'runtime',
      'gate b',
      'gate c',
      'remove b',
      'confined b',
      'confined c',
      'app ',
    ]);
    expect(stage.states()).to.deep.equal(['a loaded', 'b loaded', 'c loaded']);
    stage.all = stage.all.slice(1);
    expect(await stage.load()).to.deep.equal(['settings', 'runtime', 'remove a', 'app ']);
    expect(await stage.load({ names: ['b'] }))
      .to.include.members(['gate b', 'remove b', 'confined b'])
      .and.not.include('gate c');
  });

  it('load() answers the names of added and removed extensions', async () => {
    const stage = new Stage();
    stage.all = [found('a', 'hook'), found('b', 'hook')];
    expect(await stage.extensions.load()).to.deep.equal({ added: ['a', 'b'], removed: [] });
    stage.all = [found('b', 'hook', { revision: '2' }), found('c', 'hook')];
    expect(await stage.extensions.load()).to.deep.equal({ added: ['b', 'c'], removed: ['a', 'b'] });
    expect(await stage.extensions.load({ names: ['b'] })).to.deep.equal({ added: [], removed: [] });
  });

  it('extensions of one name are loaded together', async () => {
    const stage = new Stage();
    const twin = { ...found('a', 'hook'), id: 'twin' };
    stage.all = [found('a', 'hook'), twin, found('b', 'hook')];
    await stage.load();
    stage.all = [found('a', 'hook'), found('b', 'hook')];
    expect(await stage.load()).to.deep.equal(['settings', 'remove a', 'remove a', 'full a', 'app ']);
  });

  it('confined extensions are registered again without the gate when one with full authority is added or removed', async () => {
    const stage = new Stage();
    stage.all = [found('a', 'endpoint', { confined })];
    await stage.load();
    stage.all = [...stage.all, found('b', 'endpoint')];
    expect(await stage.load()).to.deep.equal(['settings', 'runtime', 'remove a', 'full b', 'confined a', 'app ']);
    stage.all = [...stage.all, found('c', 'panel')];
    expect(await stage.load()).not.to.include('remove a');
  });

  it('ambiguous extensions fail, also a running one, until one of them is removed', async () => {
    const stage = new Stage();
    stage.all = [found('a', 'endpoint', { confined })];
    await stage.load();
    stage.all = [...stage.all, { ...found('b', 'endpoint', { confined }) }];
    for (const id of ['a', 'b']) stage.ambiguous.set(id, new LoadFailure('AMBIGUOUS_ENDPOINT', 'twice'));
    expect(await stage.load()).to.deep.equal(['settings', 'runtime', 'gate b', 'remove a', 'app ']);
    expect(stage.states()).to.deep.equal(['a AMBIGUOUS_ENDPOINT', 'b AMBIGUOUS_ENDPOINT']);
    stage.ambiguous.clear();
    stage.all = stage.all.slice(1);
    await stage.load();
    expect(stage.states()).to.deep.equal(['b loaded']);
  });

  it('a bundle with a failed entry is tried again', async () => {
    const stage = new Stage();
    const entries = [{ type: 'hook', name: 'h', source: 's' }];
    stage.all = [found('a', 'bundle', { confined, entries })];
    stage.outcomes = [{ name: 'h', type: 'hook', status: 'failed', reason: { code: 'EVENT_INVALID', detail: 'no' } }];
    await stage.load();
    expect(stage.states()).to.deep.equal(['a EVENT_INVALID']);
    stage.outcomes = [{ name: 'h', type: 'hook', status: 'loaded' }];
    await stage.load();
    expect(stage.states()).to.deep.equal(['a loaded']);
  });

  it('a load after a folder change does not retry failures that do not depend on others', async () => {
    const stage = new Stage();
    stage.all = ['a', 'b', 'c', 'd'].map((name) => found(name, 'endpoint', { confined }));
    stage.fails.set('gate a', new LoadFailure('TIMEOUT', 'slow'));
    stage.fails.set('confined b', new LoadFailure('ROUTE_COLLISION', 'taken'));
    await stage.load();
    stage.extensions.reportFailed('c', new LoadFailure('RUNTIME_CRASHED', 'five times'));
    expect(await stage.load({})).to.deep.equal(['settings', 'runtime', 'gate b', 'confined b', 'app ']);
    expect(stage.states()).to.deep.equal(['a TIMEOUT', 'b ROUTE_COLLISION', 'c RUNTIME_CRASHED', 'd loaded']);
    expect(await stage.load({ names: ['c'] }))
      .to.include('gate c')
      .and.not.include('gate a');
    expect(stage.states()).to.deep.equal(['a TIMEOUT', 'b ROUTE_COLLISION', 'c loaded', 'd loaded']);
    expect(await stage.load())
      .to.include.members(['gate a', 'gate b'])
      .and.not.include('gate c');
  });

  it('reportFailed shows a failure until the extension recovers or is loaded again', async () => {
    const stage = new Stage();
    stage.all = [found('a', 'hook', { confined }), found('b', 'hook', { confined })];
    await stage.load();
    stage.extensions.reportFailed('a', new LoadFailure('RUNTIME_CRASHED', 'five times'));
    stage.extensions.reportFailed('b', new LoadFailure('RUNTIME_CRASHED', 'five times'));
    expect(stage.states()).to.deep.equal(['a RUNTIME_CRASHED', 'b RUNTIME_CRASHED']);
    stage.extensions.reportRecovered('b');
    expect(stage.states()).to.deep.equal(['a RUNTIME_CRASHED', 'b loaded']);
    expect(await stage.load())
      .to.include.members(['gate a', 'remove a', 'confined a'])
      .and.not.include('gate b');
    expect(stage.states()).to.deep.equal(['a loaded', 'b loaded']);
  });

  it('loads run one after the other, and an unexpected error does not stop later ones', async () => {
    let running = 0;
    let most = 0;
    const stage = new Stage({
      discover: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (most > 0 && stage.all.length === 0) throw new Error('the disk is gone');
        return stage.all;
      },
    });
    stage.all = [found('a', 'hook')];
    await Promise.all([stage.extensions.load(), stage.extensions.load(), stage.extensions.load()]);
    expect(most).to.equal(1);
    stage.all = [];
    expect(await stage.extensions.load()).to.deep.equal({ added: [], removed: [] });
    expect(stage.states()).to.deep.equal(['a loaded']);
  });

  it('stop() unloads everything in reverse order, also if an unload fails', async () => {
    const stage = new Stage();
    stage.all = [found('a', 'hook'), found('b', 'hook')];
    stage.fails.set('remove b', new Error('no'));
    await stage.load();
    stage.did.length = 0;
    await stage.extensions.stop();
    expect(stage.did).to.deep.equal(['remove b', 'remove a']);
    expect(await stage.load()).to.deep.equal([]);
  });

  it('a failed browser build has a row of its own', async () => {
    const failure = new LoadFailure('BUNDLE_BUILD_FAILED', 'no bundler');
    const stage = new Stage({
      appBundle: { build: async () => ({ failed: new Map(), failure }), chunk: () => undefined },
    });
    stage.all = [found('a', 'panel')];
    await stage.load();
    expect(stage.states()).to.deep.equal(['a discovered', '(app bundle) BUNDLE_BUILD_FAILED']);
    expect(toExtensionInfoRecord(stage.extensions.rows()[1] as never)).to.include({
      type: null,
      local: false,
      status: 'failed',
    });
  });

  it('extensions with settings show their status', async () => {
    const stage = new Stage();
    const one = found('a', 'panel');
    stage.all = [{ ...one, manifest: { ...one.manifest, settings: {} } as never }, found('b', 'panel')];
    await stage.load();
    expect(stage.extensions.rows().map(({ settings }) => settings)).to.deep.equal([{ status: 'available' }, undefined]);
  });

  it('withDeadline rejects in time and passes a late result to onLate', async () => {
    let finish = (_value: string) => {};
    const late: string[] = [];
    const slow = withDeadline(
      5,
      'REGISTRATION_FAILED',
      () => new Promise<string>((resolve) => (finish = resolve)),
      (value) => void late.push(value),
    );
    const failure = await slow.catch((error: LoadFailure) => error);
    expect(failure).to.include({ code: 'REGISTRATION_FAILED' });
    finish('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(late).to.deep.equal(['late']);
    expect(await withDeadline(1000, 'UNKNOWN', async () => 'soon')).to.equal('soon');
  });
});
