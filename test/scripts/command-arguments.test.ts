import { expect } from 'chai';
import { boot } from '#kernel/boot';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { runCommand } from '../support/run-command.ts';

/** Arguments that make no sense to any command. */
const WRONG_ARGUMENTS = ['--no-such-option', 'one', 'two', 'three'];

describe('arguments of commands that migrate or start the service', function () {
  this.timeout(120_000);
  let database: FreshDatabase;
  let names: readonly string[];
  before(async () => {
    database = await freshDatabase('command_arguments');
    const kernel = await boot(listCorePlugins(), { environment: { CONFIG_PATH: '/dev/null', LOG_LEVEL: 'silent' } });
    names = [...kernel.commands().values()].filter(({ needs }) => needs !== undefined).map(({ name }) => name);
    await kernel.stop();
  });
  after(() => database?.drop());

  const run = (args: readonly string[]) =>
    runCommand(args, {
      DB_CONNECTION_STRING: database.url,
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'silent',
      AUTH_CORP_DRIVER: 'ldap',
    });
  const tables = async () =>
    (await database.query<{ name: string }>(`select relname::text as name from pg_class where relname ~ '^platform_'`))
      .length;

  it('are refused with the usage before the database is changed', async () => {
    expect(names).to.include.members(['database:migrate', 'users:create', 'schema:apply', 'queues', 'auth:check']);
    for (const name of names) {
      const { code, output } = await run([name, ...WRONG_ARGUMENTS]);
      expect([name, code === 1 || code === 2, /usage: /i.test(output), await tables()], output).to.deep.equal([
        name,
        true,
        true,
        0,
      ]);
    }
  });

  it('that are missing, or exclude each other, are refused before the database is changed', async () => {
    for (const args of [
      ['database:migrate', '--dry-run'],
      ['users:create', '--first-name', 'Ann'],
      ['users:create', '--email', 'ann@example.com', '--no-password', '--password-file', 'one'],
      ['users:passwd'],
      ['roles:create', '--name', 'Editors', '--admin', '--no-app'],
      ['sessions:end'],
      ['schema:apply'],
      ['schema:plan', 'one.yaml', '--rename', 'one'],
      ['schema:snapshot', '--format', 'xml'],
      ['auth:check', 'other'],
    ]) {
      const { code, output } = await run(args);
      expect([args, code, /usage: /i.test(output), await tables()], output).to.deep.equal([args, 2, true, 0]);
    }
  });
});
