import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../support/run-command.ts';
import {
  FIRST_ADMIN_CREDENTIALS,
  type InProcessService,
  QUICK_HASH_SETTINGS,
  startService,
  TEST_SECRET,
} from '../../support/service.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createWebhook } from './flow-fixture.ts';

const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const name = { field: 'name', type: 'text', schema: {} };

describe('the command flows', function () {
  this.timeout(300_000);
  let service: InProcessService;
  let admin: SendAsUser;
  let folder: string;
  let flow: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-flows-'));
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    await admin('POST', '/collections', { collection: 'tags', schema: {}, fields: [key, name] });
    const options = { collection: 'tags', payload: { name: '{{ $trigger.body.name }}' } };
    flow = await createWebhook(admin, [{ key: 'make', type: 'item-create', options }]);
  });
  after(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(...args: readonly string[]) {
    const command = await runCommand(['flows', ...args], {
      ...QUICK_HASH_SETTINGS,
      LOG_LEVEL: 'silent',
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: '/dev/null',
      DB_CONNECTION_STRING: service.database.url,
      SECRET: TEST_SECRET,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    });
    return { code: command.code, output: command.standardOutput.trim(), all: command.output };
  }

  it('list names flows with state and trigger, and runs lists what ran', async () => {
    await admin('POST', `/flows/trigger/${flow}`, { name: 'a' });
    expect((await run('list')).output).to.equal(`${flow} active webhook a flow by webhook`);
    expect((await run('runs', flow)).output).to.match(/^[0-9a-f-]{36} \S+Z resolve after \d+ ms at make$/);
  });

  it('audit says what each flow may reach, and retry says what is missing', async () => {
    expect((await run('audit')).output).to.match(
      /^flow "a flow by webhook" \(\S+\) {2}internal {2}serves POST \/flows\/trigger\/\S+ \(as the caller\)\n +creates tags \(with the permissions of the caller\)$/,
    );
    const [{ id }] = (await admin('GET', `/flows/${flow}/runs`)).body.data;
    const { code, all } = await run('retry', id);
    expect(code).to.equal(1);
    expect(all).to.include('SECRETS_ENCRYPTION_KEY');
  });

  it('try prints what would happen, and changes nothing', async () => {
    const file = join(folder, 'trigger.json');
    await writeFile(file, JSON.stringify({ body: { name: 'tried' } }));
    const before = await service.database.query('select * from tags');
    const { code, output, all } = await run('try', flow, file);
    expect(code, all).to.equal(0);
    const { status, changes } = JSON.parse(output);
    expect(status).to.equal('resolve');
    expect(changes).to.have.length(1);
    expect(changes[0].data.name).to.equal('tried');
    expect(await service.database.query('select * from tags')).to.deep.equal(before);
  });

  it('wrong arguments, an unknown flow and a file that is no JSON end with 1', async () => {
    const file = join(folder, 'wrong.json');
    await writeFile(file, 'no');
    for (const args of [
      [],
      ['list', 'more'],
      ['runs'],
      ['runs', 'x'],
      ['retry'],
      ['retry', '11111111-2222-4333-8444-555555555555'],
      ['try', flow],
      ['try', flow, file],
      ['try', '11111111-2222-4333-8444-555555555555', file],
    ])
      expect((await run(...args)).code, args.join(' ')).to.equal(1);
  });
});
