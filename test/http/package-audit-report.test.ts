import { expect } from 'chai';
import pg from 'pg';
import {
  BUNDLE_MANIFEST,
  CONFINED_RUNTIME,
  createPackageFolder,
  createPackageJson,
  ENDPOINT_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { type InProcessService, runCli, startService } from '../support/service.ts';

/** The class of the advisory locks that live processes hold, defined in `plugins/cluster`. */
const PRESENCE = 1952804466;
const ROUTE = 'platform_extensions';

interface Line {
  readonly name: string;
  readonly runtime: string;
  readonly sentences: readonly string[];
}
interface Entry {
  readonly kind: string;
  readonly plugin: string;
  readonly what: string;
  readonly count: number;
}

describe('the audit of third-party packages', function () {
  this.timeout(60_000);
  let place: PackageFolder;

  before(async () => {
    const grants = { capabilities: { endpoint: { access: 'public' }, items: { accountability: 'full-access' } } };
    place = await createPackageFolder({
      'service-extension-held/package.json': createPackageJson('service-extension-held', {
        ...ENDPOINT_MANIFEST,
        ...CONFINED_RUNTIME,
        ...grants,
      }),
      'service-extension-free/package.json': createPackageJson('service-extension-free', ENDPOINT_MANIFEST),
      'service-extension-free/dist/index.js': `console.log('it ran'); export default () => {};`,
      'service-extension-many/package.json': createPackageJson('service-extension-many', {
        ...BUNDLE_MANIFEST,
        ...CONFINED_RUNTIME,
        entries: [
          { type: 'hook', name: 'stamp', source: 'a.js', capabilities: {}, events: { filter: ['notes.items.create'] } },
        ],
      }),
      'acme-plugin/package.json': createPackageJson('acme-plugin', {
        type: 'plugin',
        path: 'index.js',
        capabilities: { events: { action: ['items.create'] } },
      }),
      'acme-plugin/index.js': `console.log('it ran'); export default { register() {} };`,
      'service-extension-broken/package.json': '{',
      'hooks/single/index.js': `console.log('it ran'); export default () => {};`,
    });
  });
  after(() => place?.remove());

  describe('npm run audit', () => {
    const audit = async (...args: string[]) => {
      const run = runCli(['audit', ...args], { EXTENSIONS_PATH: place.path, LOG_LEVEL: 'silent' });
      expect(await run.ended).to.equal(0);
      return run.output();
    };

    it('the command lists confined, full, plugin and broken packages without running their code', async () => {
      const all = JSON.parse(await audit('--json')) as Line[];
      const line = (name: string) => all.find((one) => one.name === name);
      expect(line('@tenon/items')?.runtime).to.equal('internal');
      expect(line('service-extension-held')?.runtime).to.equal('confined');
      expect(line('service-extension-held')?.sentences.join('\n'))
        .to.match(/may be called by/)
        .and.match(/items|rows/);
      expect(line('service-extension-many')?.runtime).to.equal('confined');
      expect(line('service-extension-many')?.sentences).to.include(
        'may change notes.items.create (before it is stored)',
      );
      for (const name of ['service-extension-free', 'single', 'acme-plugin'])
        expect(line(name)?.runtime, name).to.equal('full');
      expect(line('service-extension-free')?.sentences).to.include('may do everything this process can do');
      expect(line('acme-plugin')?.sentences).to.include('listens to items.create');
      expect(line('service-extension-broken')?.sentences.join()).to.match(/MANIFEST_INVALID/);
    });

    it('the command prints packages after the core plugins, which match docs/audit.txt', async () => {
      const text = await audit();
      const [own, packages] = text.split(/^Packages .*$/m);
      const { readFile } = await import('node:fs/promises');
      expect(own?.trimEnd()).to.equal((await readFile('docs/audit.txt', 'utf8')).trimEnd());
      expect(packages)
        .to.match(/^service-extension-held\s+confined/m)
        .and.match(/^acme-plugin\s+FULL/m);
      expect(text).not.to.include('it ran');
    });
  });

  describe('GET /extensions/audit', () => {
    let one: InProcessService;
    let other: InProcessService;

    before(async () => {
      one = await startService();
      other = await startService({ database: one.database });
    });
    after(async () => {
      await other?.stop();
      await one?.stop();
    });

    const account = async () =>
      (await one.request('GET', '/extensions/audit', { token: one.admin.token })).body.data as {
        did: Entry[];
        since: string;
        processes: { since: string; answered: boolean; id?: string }[];
      };
    const countOf = (did: readonly Entry[], what: string) =>
      did.filter((entry) => entry.what === what).reduce((sum, { count }) => sum + count, 0);

    it('the answer sums the ledgers of all live processes and has the start of the oldest one', async () => {
      for (const { kernel } of [one, other]) for (let n = 0; n < 2; n++) kernel.ledger.record('denied', 'acme', ROUTE);
      const { did, since, processes } = await account();
      expect(countOf(did, ROUTE)).to.equal(4);
      expect(did.filter(({ what }) => what === ROUTE)).to.have.length(1);
      expect(processes.map(({ answered }) => answered)).to.deep.equal([true, true]);
      expect(Date.parse(since)).to.equal(Math.min(...processes.map((each) => Date.parse(each.since))));
      expect(Date.parse(since)).to.be.lessThanOrEqual(Date.now());
    });

    it('the answer sums more ledger entries than fit into one bus message', async () => {
      for (let n = 0; n < 300; n++) other.kernel.ledger.record('denied', 'acme-many', `${n} ${'x'.repeat(150)}`);
      const { did } = await account();
      expect(did.filter(({ plugin }) => plugin === 'acme-many')).to.have.length(300);
    });

    it('the answer lists a process that does not reply, after at most the reply deadline', async () => {
      const hanging = new pg.Client({ connectionString: one.database.url });
      await hanging.connect();
      try {
        await hanging.query(`select pg_advisory_lock_shared(${PRESENCE}, hashtext('a process that hangs'))`);
        const began = Date.now();
        const { did, processes } = await account();
        expect(Date.now() - began).to.be.lessThan(10_000);
        expect(processes.filter(({ answered }) => answered)).to.have.length(2);
        expect(processes.filter(({ answered }) => !answered)).to.have.length(1);
        expect(countOf(did, ROUTE)).to.equal(4);
      } finally {
        await hanging.end();
      }
    });
  });
});
