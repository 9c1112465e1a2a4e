import { expect } from 'chai';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, QUICK_HASH_SETTINGS, runCli, spawnService, TEST_SECRET } from '../support/service.ts';
import { until } from '../support/until.ts';

const COMMANDS = `export default ({ init, schedule, action }, { services, logger }) => {
  schedule('* * * * * *', () => process.stdout.write('the schedule ran\\n'));
  action('server.start', () => process.stdout.write('server.start\\n'));
  for (const event of ['app.before', 'app.after']) init(event, () => process.stdout.write(event + '\\n'));
  init('cli.before', ({ event, program }) => process.stdout.write(event + ' ' + program.commands.length + '\\n'));
  init('cli.after', ({ program }) => {
    program.command('acme:count <collection>').option('--double').description('counts rows').action(async (name, { double }) => {
      const rows = await new services.ItemsService(name).readByQuery({ limit: -1 });
      process.stdout.write('rows ' + rows.length * (double ? 2 : 1) + '\\n');
    });
    program.command('acme:fail').action(() => { throw new Error('it went wrong'); });
    program.command('acme:code').action(() => { process.exitCode = 3; });
    program.command('start').action(() => process.stdout.write('the package has taken the place of start\\n'));
  });
};`;

const PLUGIN = `export default { register(host) {
  host.contribute({ id: 'commands' }, { name: 'plug:say', about: 'says what it gets', run: async (args) => { process.stdout.write('plug ' + args.join('+') + '\\n'); return 5; } });
} };`;

describe('commands of packages with full authority', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let none: PackageFolder;
  let database: FreshDatabase;

  before(async () => {
    database = await createMigratedDatabase('package_commands');
    await database.query('create table parts (id serial primary key)');
    await database.query('insert into parts default values');
    none = await createPackageFolder();
    const plugin = { type: 'plugin', path: 'index.ts', contributes: { commands: {} } };
    place = await createPackageFolder({
      'service-extension-acme/package.json': createPackageJson('service-extension-acme', {
        type: 'hook',
        path: 'index.js',
      }),
      'service-extension-acme/index.js': COMMANDS,
      'plug/package.json': createPackageJson('plug', plugin),
      'plug/index.ts': PLUGIN,
    });
  });
  after(async () => {
    await place?.remove();
    await none?.remove();
    await database?.drop();
  });

  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { ended, output, standardOutput } = runCli(args, {
      ...QUICK_HASH_SETTINGS,
      SECRET: TEST_SECRET,
      DATA_PATH: place.path,
      EXTENSIONS_PATH: place.path,
      EXTENSIONS_CONSENT: 'off',
      DB_CONNECTION_STRING: database.url,
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'warn',
      ...env,
    });
    return { code: await ended, text: standardOutput(), all: output() };
  };
  /** A database that cannot be reached: what ends well here has not asked it. */
  const WITHOUT_DATABASE = { DB_CONNECTION_STRING: 'postgres://none@127.0.0.1:1/none' };

  it('a command of a hook gets its arguments, after cli.before and cli.after and no event of a service', async () => {
    const { code, text, all } = await run(['acme:count', 'parts', '--double']);
    expect([code, text], all).to.deep.equal([0, 'cli.before 0\nrows 2\n']);
  });

  it('a command of a third-party plugin runs, with its name in two words too, and its exit code', async () => {
    const { code, text, all } = await run(['plug', 'say', 'a', '--b']);
    expect([code, text], all).to.deep.equal([5, 'cli.before 0\nplug a+--b\n']);
  });

  it('"extensions run" lists the commands of packages', async () => {
    const { code, text, all } = await run(['extensions', 'run']);
    expect(code, all).to.equal(0);
    expect(text)
      .to.match(/acme:count .*counts rows/)
      .and.to.match(/plug:say {2}says what it gets/);
  });

  it('a command that fails, or sets an exit code, ends with it', async () => {
    const failed = await run(['acme:fail']);
    expect([failed.code, failed.all.includes('it went wrong')], failed.all).to.deep.equal([1, true]);
    expect((await run(['acme:code'])).code).to.equal(3);
    expect((await run(['acme:count'])).all).to.include("missing required argument 'collection'");
  });

  it('a command that no package has is unknown', async () => {
    const { code, all } = await run(['acme:nothing']);
    expect(code).to.equal(1);
    expect(all)
      .to.include('No package has the command "acme:nothing".')
      .and.to.include("unknown command 'acme:nothing'");
  });

  for (const [what, args, env] of [
    ['with --safe', ['acme:count', '--safe', 'parts'], {}],
    ['in SAFE_MODE', ['acme:count', 'parts'], { SAFE_MODE: 'true' }],
  ] as const)
    it(`${what} no package is loaded for a command, and the database is not asked`, async () => {
      const { code, all } = await run(args, { ...env, ...WITHOUT_DATABASE });
      expect(code).to.equal(1);
      expect(all).to.include("unknown command 'acme:count'").and.not.to.include('cli.before');
    });

  it('a misspelled command does not ask the database where no package is installed', async () => {
    const { code, all } = await run(['strat'], { EXTENSIONS_PATH: none.path, ...WITHOUT_DATABASE });
    expect([code, all.includes("unknown command 'strat'"), all.includes('Did you mean start?')]).to.deep.equal([
      1,
      true,
      true,
    ]);
  });

  it('a service emits cli.before and cli.after before the other init events, and runs schedules', async () => {
    const service = await spawnService({ database, env: { EXTENSIONS_PATH: place.path, EXTENSIONS_CONSENT: 'off' } });
    try {
      await until(() => service.output().includes('the schedule ran'));
      const lines = service
        .output()
        .split('\n')
        .flatMap((line) => /"msg":"((?:cli|app|server)\.[^"]*)"/.exec(line)?.[1] ?? []);
      expect(lines).to.deep.equal(['cli.before 0', 'app.before', 'app.after', 'server.start']);
    } finally {
      await service.stop();
    }
  });

  it('a core command loads no package', async () => {
    const { code, text, all } = await run(['flows', 'list']);
    expect([code, text.includes('cli.')], all).to.deep.equal([0, false]);
  });
});
