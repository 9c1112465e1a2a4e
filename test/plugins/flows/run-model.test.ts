import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, createWebhook, type TestStep } from './flow-fixture.ts';

const exec = (code: string): TestStep => ({ key: 'one', type: 'exec', options: { code: `module.exports = ${code}` } });
const give = (json: unknown): TestStep => ({ key: 'one', type: 'transform', options: { json } });

describe('runs of chains', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService({
      env: {
        FLOW_RUN_PLAIN: 'plain value',
        FLOW_RUN_TOKEN: 'token value',
        FLOWS_ENV_ALLOW_LIST: 'FLOW_RUN_PLAIN,FLOW_RUN_TOKEN',
      },
    });
    admin = createUserSender(service, service.admin.token);
  });
  after(() => service?.stop());
  afterEach(() => admin('DELETE', '/flows', { query: { limit: -1 } }));

  // biome-ignore lint/suspicious/noExplicitAny: data of a run has any form
  async function run(steps: readonly TestStep[], body: unknown = {}): Promise<any> {
    const id = await createWebhook(admin, steps, { return: '$all' });
    return (await admin('POST', `/flows/trigger/${id}`, body)).body;
  }
  async function keptOf(id: string) {
    const { body } = await admin(
      'GET',
      `/activity?filter[item][_eq]=${id}&filter[action][_eq]=run&fields=*,revisions.*`,
    );
    return body.data[0];
  }

  for (const [title, step, expected] of [
    ['undefined is null', exec('() => undefined'), null],
    ['a date is its text', exec('() => new Date(0)'), '1970-01-01T00:00:00.000Z'],
    ['members that JSON does not have are left out', exec('() => ({ a: undefined, b: () => 1, c: 1 })'), { c: 1 }],
    ['a thrown text is the text', exec('() => { throw "plain" }'), 'plain'],
    ['a thrown text of JSON is its value', exec('() => { throw "{\\"a\\":1}" }'), { a: 1 }],
    ['a thrown number is the number', exec('() => { throw 7 }'), 7],
    ['a thrown null is null', exec('() => { throw null }'), null],
    [
      'a thrown error has a name and a message, and no stack',
      exec('() => { throw new RangeError("r") }'),
      { name: 'RangeError', message: 'r' },
    ],
    [
      'an error of the service has a code and a status',
      { key: 'one', type: 'item-read', options: { collection: 'platform_flows', query: { sort: ['nothing'] } } },
      { code: 'FORBIDDEN', status: 403 },
    ],
  ] as const)
    it(`the value of an operation: ${title}`, async () => {
      const { one } = await run([step]);
      if (typeof expected === 'object' && expected !== null) expect(one).to.deep.include(expected);
      else expect(one).to.deep.equal(expected);
      expect(JSON.stringify(one)).to.not.include('stack');
    });

  it('data of a run has $trigger, $last, $accountability, $env and each key, and $last begins as the trigger', async () => {
    const all = await run(
      [give({ last: '{{ $last.body.n }}', env: '{{ $env.FLOW_RUN_PLAIN }}' }), { ...give('2'), key: 'two' }],
      {
        n: 1,
      },
    );
    expect(all).to.have.all.keys('$trigger', '$last', '$accountability', '$env', 'one', 'two');
    expect(all.one).to.deep.equal({ last: 1, env: 'plain value' });
    expect([all.$last, all.two]).to.deep.equal([2, 2]);
    expect(all.$env).to.deep.equal({ FLOW_RUN_PLAIN: 'plain value', FLOW_RUN_TOKEN: '--redact--' });
    expect(all.$accountability).to.include({ admin: true, ip: '127.0.0.1' });
  });

  it('of two operations with one key the later value counts', async () => {
    expect((await run([give('1'), give('{{ one }}2')])).one).to.equal(12);
  });

  it('operations that nothing leads to do not run', async () => {
    const id = await createWebhook(admin, [give('1')], { return: '$all' });
    await admin('POST', '/operations', { flow: id, key: 'lonely', type: 'transform', options: { json: '1' } });
    expect((await admin('POST', `/flows/trigger/${id}`, {})).body).to.not.have.property('lonely');
  });

  it('a flow without operations gives its trigger', async () => {
    const id = await createWebhook(admin, []);
    expect((await admin('POST', `/flows/trigger/${id}`, { a: 1 })).body.body).to.deep.equal({ a: 1 });
  });

  it('activity has the caller, and the revision has steps with their state, and all data', async () => {
    const steps: readonly TestStep[] = [
      { key: 'if', type: 'condition', options: { filter: { $trigger: { method: { _eq: 'GET' } } } } },
      { key: 'then', type: 'transform', options: { json: { n: '{{ $trigger.body.n }}' } }, after: 'reject' },
      { key: 'odd', type: 'odd' },
    ];
    const id = await createWebhook(admin, steps);
    await service.request('POST', `/flows/trigger/${id}`, {
      token: service.admin.token,
      body: { n: 3 },
      headers: { 'user-agent': 'an agent' },
    });
    const activity = await keptOf(id);
    const me = (await admin('GET', '/users/me')).body.data.id;
    expect(activity).to.include({
      action: 'run',
      collection: 'platform_flows',
      item: id,
      user: me,
      ip: '127.0.0.1',
      user_agent: 'an agent',
    });
    const [revision] = activity.revisions;
    expect(revision).to.include({ collection: 'platform_flows', item: id, delta: null });
    expect(revision.data).to.have.all.keys('steps', 'data');
    expect(revision.data.steps.map(({ key, status }: { key: string; status: string }) => [key, status])).to.deep.equal([
      ['if', 'reject'],
      ['then', 'resolve'],
      ['odd', 'unknown'],
    ]);
    const operations = (await admin('GET', `/operations?filter[flow][_eq]=${id}&fields=id,key`)).body.data;
    for (const step of revision.data.steps) expect(operations).to.deep.include({ id: step.operation, key: step.key });
    expect(revision.data.steps[1].options).to.deep.equal({ json: { n: 3 } });
    expect(revision.data.data).to.have.all.keys('$trigger', '$last', '$accountability', '$env', 'if', 'then', 'odd');
    expect(revision.data.data.$trigger.headers.authorization).to.equal('--redact--');
  });

  for (const [accountability, activity, revisions] of [
    ['all', 1, 1],
    [undefined, 1, 1],
    ['activity', 1, 0],
    [null, 0, 0],
  ] as const)
    for (const fails of [false, true])
      it(`accountability ${accountability} of a run that ${fails ? 'fails' : 'does not fail'} keeps ${activity} activity and ${revisions} revision`, async () => {
        const id = await createTestFlow(admin, {
          trigger: 'webhook',
          options: { method: 'POST' },
          ...(accountability === undefined ? {} : { accountability }),
          steps: [fails ? { key: 'no', type: 'throw-error', options: {} } : give('1')],
        });
        await admin('POST', `/flows/trigger/${id}`, {});
        const kept = await keptOf(id);
        expect([kept === undefined ? 0 : 1, kept?.revisions.length ?? 0]).to.deep.equal([activity, revisions]);
      });

  describe('keys of secrets', () => {
    for (const [path, isSecret] of [
      ['headers.authorization', true],
      ['headers.cookie', true],
      ['query.access_token', true],
      ['payload.password', true],
      ['payload.token', true],
      ['payload.tfa_secret', true],
      ['payload.external_identifier', true],
      ['payload.auth_data', true],
      ['payload.credentials', true],
      ['payload.refreshToken', true],
      ['payload.client_secret', true],
      ['payload.apiKey', true],
      ['payload.X-Api-Key', true],
      ['deep.list.0.new_password', true],
      ['payload.email', false],
      ['payload.name', false],
      ['payload.key', false],
      ['payload.author', false],
      ['payload.phone', false],
    ] as const)
      it(`the value under "${path}" is ${isSecret ? '--redact--' : 'kept'} in the revision`, async () => {
        const value = 'the value at hand';
        const body = path.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
        const id = await createWebhook(admin, [
          {
            key: 'copy',
            type: 'transform',
            options: { json: { as: '{{ $trigger.body }}', text: 'x {{ $trigger.body }}' } },
          },
        ]);
        await admin('POST', `/flows/trigger/${id}`, body as object);
        const text = JSON.stringify((await keptOf(id)).revisions[0].data);
        expect(text.includes(value)).to.equal(!isSecret);
        expect(text.includes('--redact--')).to.equal(true);
        const operation = (await admin('GET', `/operations?filter[flow][_eq]=${id}`)).body.data[0];
        expect(operation.options.json.text).to.equal('x {{ $trigger.body }}');
      });
  });
});
