import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { runCommand } from '../../support/run-command.ts';
import { FIRST_ADMIN_CREDENTIALS, QUICK_HASH_SETTINGS, TEST_SECRET } from '../../support/service.ts';
import { type Snapshot, type SnapshotService, startChinook } from './snapshot-fixture.ts';

describe('the commands schema snapshot, schema plan and schema apply', function () {
  this.timeout(240_000);
  let chinook: SnapshotService;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-schema-'));
    chinook = await startChinook();
  });
  after(async () => {
    await chinook?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a command beside the running service. */
  async function run(...args: readonly string[]) {
    const command = await runCommand(['schema', ...args], {
      ...QUICK_HASH_SETTINGS,
      LOG_LEVEL: 'silent',
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      DB_CONNECTION_STRING: chinook.database.url,
      SECRET: TEST_SECRET,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    });
    return { code: command.code, output: command.standardOutput, all: command.output };
  }
  /** Writes a changed snapshot of the database, and answers the path of the file. */
  async function change(edit: (snapshot: Snapshot) => void, query = ''): Promise<string> {
    const snapshot = await chinook.snapshot(query);
    edit(snapshot);
    const file = join(folder, `changed-${Math.random().toString(36).slice(2)}.yaml`);
    await writeFile(file, stringify(snapshot, { aliasDuplicateObjects: false }));
    return file;
  }
  const fieldOf = (snapshot: Snapshot, name: string) =>
    snapshot.fields.find((entry: Snapshot) => `${entry.collection}.${entry.field}` === name);

  it('a snapshot in a file is planned with 0 where nothing has changed, and the file is not replaced unasked', async () => {
    const file = join(folder, 'snapshot.yaml');
    const written = await run('snapshot', file);
    expect(written.code, written.all).to.equal(0);
    expect(parse(await readFile(file, 'utf8'))).to.deep.equal(await chinook.snapshot());
    const plan = await run('plan', file);
    expect([plan.code, plan.output]).to.deep.equal([0, 'There is nothing to change.\n']);
    expect((await run('snapshot', file)).code).to.equal(1);
    const printed = await run('snapshot', '--format', 'json', '--with', 'roles');
    expect(JSON.parse(printed.output).roles.map((role: Snapshot) => role.key)).to.include('public');
  });

  it('plan shows statements and counts the values that do not convert, and changes nothing', async () => {
    const file = await change((snapshot) => {
      Object.assign(fieldOf(snapshot, 'track.name'), { type: 'integer', schema: {} });
      Object.assign(fieldOf(snapshot, 'customer.postal_code'), { type: 'text', schema: {} });
      snapshot.fields.push({ collection: 'genre', field: 'note', type: 'text', meta: null, schema: {} });
    });
    const before = await chinook.snapshot();
    const { code, output, all } = await run('plan', file);
    expect(code, all).to.equal(4);
    expect(output).to.contain('alter table "public"."genre" add column "note" text;');
    expect(output).to.match(/alter table "public"."customer" alter column "postal_code" type text/);
    expect(output).to.match(/track\.name: .* to integer, 3503 values, of which \d+ do not convert/);
    expect(output).to.contain('CANNOT BE APPLIED');
    const applied = await run('apply', file, '--yes');
    expect(applied.code).to.equal(4);
    expect(await chinook.snapshot()).to.deep.equal(before);
  });

  it('a drop shows rows and what names the field, and is refused unless it is allowed by name', async () => {
    const [role] = (await chinook.send('POST', '/roles', [{ name: 'Readers', key: 'readers' }])).body.data;
    await chinook.send('POST', '/permissions', [
      { role: role.id, collection: 'track', action: 'read', fields: ['name', 'composer'] },
      { role: role.id, collection: 'album', action: 'read', permissions: { title: { _eq: 'a' } }, fields: ['*'] },
    ]);
    await chinook.send('POST', '/flows', {
      name: 'Composers',
      trigger: 'manual',
      options: {},
      operations: [
        {
          key: 'read',
          type: 'item-read',
          position_x: 1,
          position_y: 1,
          options: { collection: 'track', query: { fields: ['composer'] } },
        },
      ],
    });
    const file = await change((snapshot) => {
      snapshot.fields = snapshot.fields.filter((entry: Snapshot) => entry.field !== 'composer');
    });
    const plan = await run('plan', file);
    expect(plan.code, plan.all).to.equal(4);
    const rows = await chinook.database.query<{ count: string }>('select count(composer) from track');
    expect(plan.output).to.contain('- field track.composer');
    expect(plan.output).to.contain(`track.composer: ${rows[0]?.count} values`);
    expect(plan.output).to.contain('track.composer: the permission of role "Readers" to read track');
    expect(plan.output).to.contain('track.composer: the operation "read" of the flow "Composers"');
    expect(plan.output).to.not.contain('read album');
    expect(plan.output).to.contain('--allow-drop track.composer');
    expect((await run('apply', file, '--yes')).code).to.equal(4);
    expect((await run('plan', file, '--allow-drop', 'track.composer')).code).to.equal(3);
    expect((await run('apply', file, '--allow-drop', 'track.composer', '--dry-run')).code).to.equal(0);
    expect((await chinook.send('GET', '/fields/track/composer')).status).to.equal(200);
    const applied = await run('apply', file, '--allow-drop', 'track.composer', '--yes');
    expect(applied.code, applied.all).to.equal(0);
    expect((await chinook.send('GET', '/fields/track/composer')).status).to.equal(404);
    expect((await run('plan', file)).code).to.equal(0);
  });

  it('a field with another name is a drop that may be a rename; declared as a rename it keeps its data', async () => {
    const [before] = await chinook.database.query<{ name: string }>('select name from track where track_id = 1');
    const file = await change((snapshot) => {
      const entry = fieldOf(snapshot, 'track.name');
      entry.field = 'headline';
      entry.schema.name = 'headline';
    });
    const dropped = await run('plan', file);
    expect(dropped.code, dropped.all).to.equal(4);
    expect(dropped.output).to.contain('--rename track.name=track.headline');
    const plan = await run('plan', file, '--rename', 'track.name=track.headline');
    expect(plan.code, plan.all).to.equal(3);
    expect(plan.output).to.contain('alter table "public"."track" rename column "name" to "headline";');
    expect(plan.output).to.contain('track.name: the permission of role "Readers" to read track');
    const applied = await run('apply', file, '--rename', 'track.name=track.headline', '--yes');
    expect(applied.code, applied.all).to.equal(0);
    const [row] = await chinook.database.query<{ headline: string }>('select headline from track where track_id = 1');
    expect(row?.headline).to.equal(before?.name);
    expect((await chinook.send('GET', '/items/track/1?fields=headline')).body.data.headline).to.equal(before?.name);
    expect((await run('plan', file)).code).to.equal(0);
  });

  it('a saved plan is applied, and refused where the schema has changed since', async () => {
    const file = await change((snapshot) => {
      snapshot.fields.push({ collection: 'genre', field: 'color', type: 'string', meta: null, schema: {} });
    });
    const saved = join(folder, 'plan.json');
    const planned = await run('plan', file, '--save', saved);
    expect(planned.code, planned.all).to.equal(3);
    await chinook.database.query('alter table genre add column other integer');
    const refused = await run('apply', saved, '--yes');
    expect(refused.code, refused.all).to.equal(4);
    expect(refused.all).to.contain('changed since');
    await chinook.database.query('alter table genre drop column other');
    const applied = await run('apply', saved, '--yes');
    expect(applied.code, applied.all).to.equal(0);
    expect((await chinook.send('GET', '/fields/genre/color')).status).to.equal(200);
  });

  it('rights that lead to everything stand first in a plan', async () => {
    const file = await change((snapshot) => {
      snapshot.roles.push({ key: 'chief', name: 'Chief', admin_access: true });
      snapshot.permissions.push(
        { role: 'chief', collection: 'platform_users', action: 'update', fields: ['*'] },
        { role: 'public', collection: 'track', action: 'read', fields: ['*'] },
      );
    }, '?with=roles,permissions');
    const { code, output, all } = await run('plan', file);
    expect(code, all).to.equal(3);
    expect(output.split('\n').slice(0, 4)).to.deep.equal([
      'GRANTS FAR-REACHING RIGHTS',
      '  ! role "chief" gets ADMIN ACCESS: its users may do everything',
      '  ! role "chief" may update in platform_users',
      '  ! PUBLIC, anyone without a sign-in, may read in track',
    ]);
    const applied = await run('apply', file, '--yes');
    expect(applied.code, applied.all).to.equal(0);
    expect((await chinook.service.request('GET', '/items/track?limit=1')).status).to.equal(200);
  });

  it('wrong arguments end with 2, a file that cannot be read or is no snapshot with 1', async () => {
    const wrong = join(folder, 'wrong.yaml');
    await writeFile(wrong, 'version: 7');
    for (const [code, ...args] of [
      [2, 'plan'],
      [2, 'plan', 'a', 'b'],
      [2, 'snapshot', '--with', 'users'],
      [2, 'plan', wrong, '--rename', 'track'],
      [1, 'plan', join(folder, 'missing.yaml')],
      [1, 'plan', wrong],
      [1, 'apply', await change((snapshot) => void (snapshot.collections[0].meta = { note: 'x' }))],
    ] as const)
      expect((await run(...args.map(String))).code, args.join(' ')).to.equal(code);
  });
});
