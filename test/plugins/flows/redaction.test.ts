import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow, type TestStep } from './flow-fixture.ts';

/** Places where a client may send a secret, each with the path of the value in the data of the run. */
const PLACES = [
  (secret: string) => ({ headers: { authorization: `Token ${secret}` }, path: '$trigger.headers.authorization' }),
  (secret: string) => ({
    headers: { authorization: `Basic ${Buffer.from(`user:${secret}`).toString('base64')}` },
    path: '$trigger.headers.authorization',
  }),
  (secret: string) => ({ headers: { cookie: `a=b; session=${secret}` }, path: '$trigger.headers.cookie' }),
  (secret: string) => ({ headers: { 'x-api-key': secret }, path: '$trigger.headers.x-api-key' }),
  (secret: string) => ({ body: { user: { password: secret } }, path: '$trigger.body.user.password' }),
  (secret: string) => ({ body: { list: [{ access_token: secret }] }, path: '$trigger.body.list[0].access_token' }),
  (secret: string) => ({ body: { credentials: { inner: [secret] } }, path: '$trigger.body.credentials.inner[0]' }),
  (secret: string) => ({ body: { clientSecret: secret }, path: '$trigger.body.clientSecret' }),
];

/** What is made of a value on its way through a chain. */
const ENCODINGS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => Buffer.from(secret).toString('base64'),
  (secret) => Buffer.from(`user:${secret}`).toString('base64'),
  (secret) => Buffer.from(secret).toString('base64url'),
  (secret) => Buffer.from(secret).toString('hex'),
  (secret) => encodeURIComponent(secret),
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => JSON.stringify(JSON.stringify({ secret })),
];

describe('redaction of runs', function () {
  this.timeout(300_000);
  let service: InProcessService;
  let admin: SendAsUser;
  const lines: string[] = [];
  before(async () => {
    service = await startService({ env: { LOG_LEVEL: 'debug', RATE_LIMITER_ENABLED: 'false' } });
    admin = createUserSender(service, service.admin.token);
  });
  after(() => service?.stop());

  /** Everything that the service keeps of runs. */
  const kept = async (): Promise<string> =>
    JSON.stringify([
      await service.database.query('select * from platform_activity'),
      await service.database.query('select data::text, delta::text from platform_revisions where collection = $1', [
        'platform_flows',
      ]),
      await service.database.query('select * from platform_flow_runs'),
      lines,
    ]);

  it('no encoding of a secret of the trigger is in activity, revisions, runs or logs', async () => {
    const echo = (path: string): readonly TestStep[] => [
      { key: 'own', type: 'transform', options: { json: { got: `{{ ${path} }}`, text: `a ${'{{'} ${path} }} b` } } },
      { key: 'more', type: 'transform', options: { json: { nested: ['{{ own }}', 'as text {{ own }}'] } } },
      { key: 'log', type: 'log', options: { message: '{{ more }}' } },
      { key: 'encoded', type: 'transform', options: { json: { texts: '{{ $trigger.body.encoded }}' } } },
      {
        key: 'fails',
        type: 'throw-error',
        options: { message: 'got {{ encoded }} {{ own.got }}', code: '{{ own.got }}' },
      },
    ];
    const secrets: string[] = [];
    for (const [index, place] of PLACES.entries()) {
      const path = place('').path;
      const id = await createTestFlow(admin, { trigger: 'webhook', options: { method: 'POST' }, steps: echo(path) });
      for (let round = 0; round < 3; round++) {
        const secret = `${randomBytes(9).toString('base64')}"ä &${index}${round}`;
        const own = index < 4 ? secret.replace(/["ä;&\s]/g, '') : secret;
        secrets.push(own);
        const { headers = {}, body = {} } = place(own) as { headers?: Record<string, string>; body?: object };
        const encoded = ENCODINGS.map((encode) => `x${encode(own)}y`);
        const reply = await service.request('POST', `/flows/trigger/${id}`, { headers, body: { ...body, encoded } });
        expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
      }
    }
    const text = await kept();
    expect(text).to.include('--redact--');
    const found = secrets.flatMap((secret) =>
      ENCODINGS.flatMap((encode, at) => {
        const form = encode(secret);
        return text.includes(form) || text.includes(JSON.stringify(form).slice(1, -1))
          ? [`${secret} in form ${at}`]
          : [];
      }),
    );
    expect(found).to.deep.equal([]);
  });

  it('a run with more than a hundred secrets keeps no texts', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'webhook',
      options: { method: 'POST' },
      steps: [{ key: 'a', type: 'transform', options: { json: '{{ $trigger.body.text }}' } }],
    });
    const list = Array.from({ length: 200 }, (_, at) => ({ token: `secret number ${at}` }));
    await service.request('POST', `/flows/trigger/${id}`, { body: { list, text: '"with secret number 150"' } });
    const { body } = await admin(
      'GET',
      `/revisions?filter[item][_eq]=${id}&filter[activity][action][_eq]=run&fields=data`,
    );
    expect(body.data[0].data.data.a).to.equal('--redact--');
    expect(JSON.stringify(body)).to.not.include('number 150');
  });

  it('other personal data stays', async () => {
    const id = await createTestFlow(admin, {
      trigger: 'webhook',
      options: { method: 'POST' },
      steps: [{ key: 'a', type: 'transform', options: { json: '{{ $trigger.body }}' } }],
    });
    await service.request('POST', `/flows/trigger/${id}`, {
      body: { name: 'Ann Example', email: 'ann@example.com', password: 'xy' },
    });
    const { body } = await admin(
      'GET',
      `/revisions?filter[item][_eq]=${id}&filter[activity][action][_eq]=run&fields=data`,
    );
    expect(body.data[0].data.data.a).to.deep.equal({
      name: 'Ann Example',
      email: 'ann@example.com',
      password: '--redact--',
    });
  });
});
