import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createTestUserAccount, createUserSender, makeRole, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, type TestFlow, type TestStep } from './flow-fixture.ts';

const give = (json: unknown): readonly TestStep[] => [{ key: 'give', type: 'transform', options: { json } }];
const failWith = (options: TestStep['options']): readonly TestStep[] => [{ key: 'no', type: 'throw-error', options }];
const code = (text: string): readonly TestStep[] => [{ key: 'no', type: 'exec', options: { code: text } }];

const OK = give({ a: 1 });
const FAILS = failWith({ code: 'MINE', status: 418, message: 'no' });
const FORBIDDEN = [403, 'FORBIDDEN'] as const;
const NO_CONTENT = [204, ''] as const;
const OBJECT = [200, '{"a":1}'] as const;

type Answer = readonly [status: number, textOrCode: string];
/** A flow, and what GET and POST answer: the status with the whole text, or with the code of an error. */
type Row = readonly [title: string, flow: Omit<TestFlow, 'trigger'>, byGet: Answer, byPost: Answer];

const webhookRows = (method: 'GET' | 'POST', options: object): readonly Row[] => {
  const one = (title: string, flow: Omit<TestFlow, 'trigger'>, answer: Answer): Row => {
    const whole = { ...flow, options: { ...options, ...flow.options } };
    return method === 'GET' ? [title, whole, answer, FORBIDDEN] : [title, whole, FORBIDDEN, answer];
  };
  return [
    one('gives an object', { steps: OK }, OBJECT),
    one('gives a list', { steps: give([1, 'x']) }, [200, '[1,"x"]']),
    one('gives a number', { steps: give('7') }, [200, '7']),
    one('gives zero', { steps: give('0') }, [200, '0']),
    one('gives false', { steps: give('false') }, [200, 'false']),
    one('gives a text', { steps: give('"x"') }, [200, '"x"']),
    one('gives an empty object', { steps: give({}) }, [200, '{}']),
    one('gives an empty list', { steps: give([]) }, [200, '[]']),
    one('gives an object with "data"', { steps: give({ data: [1] }) }, [200, '{"data":[1]}']),
    one('gives null', { steps: give('null') }, NO_CONTENT),
    one('gives an empty text', { steps: give('""') }, NO_CONTENT),
    one('ends with an operation that gives nothing', { steps: [...OK, { key: 'log', type: 'log' }] }, NO_CONTENT),
    one('ends with an unknown operation', { steps: [...OK, { key: 'odd', type: 'odd' }] }, NO_CONTENT),
    one('returns a key that no operation has', { steps: OK, options: { return: 'nothing' } }, NO_CONTENT),
    one('returns an empty name, which is the last value', { steps: OK, options: { return: '' } }, OBJECT),
    one('returns a path', { steps: give({ a: { b: [5, 6] } }), options: { return: 'give.a.b[1]' } }, [200, '6']),
    one('is asynchronous', { steps: OK, options: { async: true } }, NO_CONTENT),
    one('is asynchronous and fails', { steps: FAILS, options: { async: true, error_on_reject: true } }, NO_CONTENT),
    one('is inactive', { steps: OK, status: 'inactive' }, FORBIDDEN),
    one('has a status of its own', { steps: OK, status: 'draft' }, FORBIDDEN),
    one('fails', { steps: FAILS }, [
      200,
      '{"name":"Failure","message":"no","code":"MINE","status":418,"extensions":{"code":"MINE"}}',
    ]),
    one('throws a value', { steps: code('module.exports = () => { throw { why: 1 } }') }, [200, '{"why":1}']),
    one('fails and has gone on', { steps: [...FAILS, { ...OK[0], key: 'then', after: 'reject' } as TestStep] }, OBJECT),
    one('fails with "error_on_reject"', { steps: FAILS, options: { error_on_reject: true } }, [418, 'MINE']),
    one(
      'fails without a status and with "error_on_reject"',
      { steps: code('module.exports = () => { throw { why: 1 } }'), options: { error_on_reject: true } },
      [500, 'INTERNAL_SERVER_ERROR'],
    ),
    one(
      'has failed and gone on, with "error_on_reject"',
      { steps: [...FAILS, { ...OK[0], key: 'then', after: 'reject' } as TestStep], options: { error_on_reject: true } },
      OBJECT,
    ),
    one(
      'ends with a condition that does not hold, and "error_on_reject"',
      {
        steps: [{ key: 'if', type: 'condition', options: { filter: { $trigger: { method: { _eq: 'PUT' } } } } }],
        options: { error_on_reject: true },
      },
      [400, 'FAILED_VALIDATION'],
    ),
  ];
};

const ROWS: readonly (readonly [trigger: string, rows: readonly Row[]])[] = [
  ['webhook', webhookRows('GET', { method: 'GET' })],
  ['webhook', webhookRows('GET', {}).slice(0, 1)],
  ['webhook', webhookRows('GET', { method: 'PUT' }).slice(0, 1)],
  ['webhook', webhookRows('POST', { method: 'POST' })],
  [
    'manual',
    [
      ['gives an object', { steps: OK }, FORBIDDEN, OBJECT],
      ['gives null', { steps: give('null') }, FORBIDDEN, NO_CONTENT],
      ['is asynchronous', { steps: OK, options: { async: true } }, FORBIDDEN, NO_CONTENT],
      ['is inactive', { steps: OK, status: 'inactive' }, FORBIDDEN, FORBIDDEN],
      ['is for no collection', { steps: OK, options: { collections: [] } }, FORBIDDEN, FORBIDDEN],
      ['is for other collections', { steps: OK, options: { collections: ['notes'] } }, FORBIDDEN, FORBIDDEN],
      [
        'has a "return", which is for other triggers',
        { steps: OK, options: { return: '$trigger' } },
        FORBIDDEN,
        OBJECT,
      ],
      ['fails with "error_on_reject"', { steps: FAILS, options: { error_on_reject: true } }, FORBIDDEN, [418, 'MINE']],
    ],
  ],
  ...(['event', 'schedule', 'operation'] as const).map(
    (trigger) => [trigger, [['is of a trigger without a route', { steps: OK }, FORBIDDEN, FORBIDDEN]]] as const,
  ),
];

describe('answers of /flows/trigger/<id>', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
    for (const collection of ['tags', 'notes'])
      await admin('POST', '/collections', { collection, schema: {}, fields: [key] });
    await admin('POST', '/items/tags', {});
  });
  after(() => service?.stop());

  /** The status with the whole text, or with the code of an error; the type is JSON where there is a text. */
  async function ask(method: string, id: string, token: string | null, body?: unknown): Promise<Answer> {
    const reply = await fetch(`${service.url}/flows/trigger/${id}`, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (text !== '') expect(reply.headers.get('content-type')).to.include('application/json');
    return [reply.status, reply.status < 400 ? text : JSON.parse(text).errors[0].extensions.code];
  }

  for (const [trigger, rows] of ROWS)
    for (const [title, flow, byGet, byPost] of rows)
      it(`a ${trigger} flow with ${JSON.stringify(flow.options ?? {})} that ${title} answers ${byGet[0]} to GET, and ${byPost[0]} to POST`, async () => {
        const options = trigger === 'manual' ? { collections: ['tags'], ...flow.options } : flow.options;
        const id = await createTestFlow(admin, { ...flow, trigger, ...(options ? { options } : {}) });
        const token = trigger === 'manual' ? service.admin.token : null;
        expect(await ask('GET', id, token)).to.deep.equal(byGet);
        expect(await ask('POST', id, token, { collection: 'tags', keys: [1] })).to.deep.equal(byPost);
      });

  for (const [title, id, expected] of [
    ['is unknown', '11111111-2222-4333-8444-555555555555', FORBIDDEN],
    ['is no UUID', 'nothing', [404, 'ROUTE_NOT_FOUND']],
    ['is almost a UUID', '11111111-2222-4333-8444-55555555555', [404, 'ROUTE_NOT_FOUND']],
    ['is an encoded path', '..%2Fflows', [404, 'ROUTE_NOT_FOUND']],
  ] as const)
    it(`an id that ${title} answers ${expected[0]} to GET and POST`, async () => {
      for (const token of [null, service.admin.token]) {
        expect(await ask('GET', id, token)).to.deep.equal(expected);
        expect(await ask('POST', id, token, {})).to.deep.equal(expected);
      }
    });

  it('an id in capital letters is unknown', async () => {
    const id = await createTestFlow(admin, { trigger: 'webhook', steps: OK });
    expect(await ask('GET', id.toUpperCase(), null)).to.deep.equal(FORBIDDEN);
    expect(await ask('GET', id, null)).to.deep.equal(OBJECT);
  });

  it('a flow that was deleted is unknown, and other methods have no route', async () => {
    const id = await createTestFlow(admin, { trigger: 'webhook', steps: OK });
    for (const method of ['PUT', 'PATCH', 'DELETE', 'SEARCH'])
      expect((await ask(method, id, null))[0], method).to.be.oneOf([404, 405]);
    await admin('DELETE', `/flows/${id}`);
    expect(await ask('GET', id, null)).to.deep.equal(FORBIDDEN);
  });

  it('a webhook flow takes bodies of every JSON type that a body may have, and refuses text that is no JSON', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'webhook',
      options: { method: 'POST' },
      steps: give({ got: '{{ $trigger.body }}' }),
    });
    for (const body of [{ a: 1 }, [1, 2], {}, []])
      expect(await ask('POST', id, null, body)).to.deep.equal([200, JSON.stringify({ got: body })]);
    expect(await ask('POST', id, null)).to.deep.equal([200, '{"got":{}}']);
    const broken = await fetch(`${service.url}/flows/trigger/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{ no',
    });
    expect([broken.status, JSON.parse(await broken.text()).errors[0].extensions.code]).to.deep.equal([
      400,
      'INVALID_PAYLOAD',
    ]);
  });

  it('a manual flow is for users with a token of any role that reads the rows, and the flow record stays unreadable', async () => {
    const reader = await makeRole(service, {}, [{ collection: 'tags', action: 'read' }]);
    const [user, other] = [
      await createTestUserAccount(service, reader),
      await createTestUserAccount(service, await makeRole(service)),
    ];
    const id = await createTestFlow(admin, { trigger: 'manual', options: { collections: ['tags'] }, steps: OK });
    const body = { collection: 'tags', keys: [1] };
    expect(await ask('POST', id, user.token, body)).to.deep.equal(OBJECT);
    expect(await ask('POST', id, other.token, body)).to.deep.equal(FORBIDDEN);
    expect(await ask('POST', id, null, body)).to.deep.equal(FORBIDDEN);
    expect((await user.ask('GET', `/flows/${id}`)).status).to.equal(403);
    expect((await user.ask('POST', '/graphql/system', { query: '{ trigger { id } }' })).body.errors).to.have.length(1);
  });
});
