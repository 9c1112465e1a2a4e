import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { compareStatementsWithGrants } from '../support/statement-grants.ts';

describe('statements of a test run', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-statements-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const compare = async (...statements: readonly (readonly [plugin: string, kind: string, text: string])[]) => {
    const lines = statements.map(([plugin, kind, text]) => JSON.stringify({ plugin, kind, text }));
    await writeFile(join(folder, '1.jsonl'), `${lines.join('\n')}\n`);
    return compareStatementsWithGrants(folder);
  };

  it('a statement with an undeclared table is reported with its plugin', async () => {
    const { undeclared } = await compare(
      ['@tenon/tus', 'query', 'select 1 from platform_uploads join platform_files f on true for update of f'],
      ['@tenon/tus', 'query', 'with x as (delete from platform_files returning 1) select 1 from x, platform_users'],
    );
    expect(undeclared.map((line) => line.split(', and runs: ')[0])).to.deep.equal([
      '@tenon/tus may not use the table platform_users',
      '@tenon/tus may not write to the table platform_files',
    ]);
  });

  it('statements inside of functions are checked as well', async () => {
    const body = 'begin if new.id is null then insert into platform_roles values (1); end if; return null; end';
    const { undeclared } = await compare([
      '@tenon/tus',
      'ddl',
      `create function f() returns trigger language plpgsql as $$ ${body} $$`,
    ]);
    expect(undeclared).to.have.length(1);
    expect(undeclared[0]).to.contain('@tenon/tus may not write to the table platform_roles');
  });

  it('a plugin with the grant sql, and plugins of tests, may run any statement', async () => {
    const { undeclared } = await compare(
      ['@tenon/items', 'plain', ''],
      ['@tenon/items', 'query', 'select 1 from platform_users'],
      ['a plugin of a test', 'query', 'select 1 from platform_users'],
    );
    expect(undeclared).to.deep.equal([]);
  });

  it('grants that no statement needed are reported', async () => {
    const { idle } = await compare(
      ['@tenon/tus', 'query', 'select 1 from platform_uploads'],
      ['@tenon/auth', 'query', 'select 1 from platform_users'],
      ['@tenon/items', 'plain', ''],
    );
    expect(idle).to.include.members([
      '@tenon/tus declares database.own platform_upload_pieces, and no statement needs it',
      '@tenon/auth declares database.write platform_users, and no statement needs it',
      '@tenon/query declares database.sql, and no plain text needs it',
    ]);
    expect(idle.filter((line) => /platform_uploads|items/.test(line))).to.deep.equal([]);
  });
});
