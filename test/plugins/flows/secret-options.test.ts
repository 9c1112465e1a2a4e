import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type InProcessService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser, statusAndCodeOf } from '../users/test-users.ts';
import { createWebhook } from './flow-fixture.ts';

const MASK = '**********';
const KEY = randomBytes(32).toString('base64');
const SIGN = { operation: 'sign', payload: { a: 1 } };

describe('secret options of operations', function () {
  this.timeout(120_000);
  for (const isEncrypted of [true, false]) {
    describe(isEncrypted ? 'with SECRETS_ENCRYPTION_KEY' : 'without SECRETS_ENCRYPTION_KEY', () => {
      let service: InProcessService;
      let admin: SendAsUser;
      before(async () => {
        service = await startService({ env: isEncrypted ? { SECRETS_ENCRYPTION_KEY: KEY } : {} });
        admin = createUserSender(service, service.admin.token);
      });
      after(() => service?.stop());
      afterEach(() => admin('DELETE', '/flows', { query: { limit: -1 } }));

      const makeFlow = (secret: unknown, more: object = {}) =>
        createWebhook(admin, [{ key: 'sign', type: 'json-web-token', options: { ...SIGN, secret, ...more } }]);
      /** The operation of a flow with one operation, as REST shows it. */
      const operationOf = async (flow: string) =>
        (await admin('GET', `/operations?filter[flow][_eq]=${flow}`)).body.data[0];
      /** The secret by which the flow signs its token. */
      const signsWith = async (flow: string, secret: string) => {
        const { status, body } = await admin('POST', `/flows/trigger/${flow}`, {});
        expect(status, JSON.stringify(body)).to.equal(200);
        expect(body, JSON.stringify(body)).to.be.a('string');
        expect(jwt.verify(body, secret)).to.include({ a: 1 });
      };
      const patch = async (id: string, body: object) =>
        expect((await admin('PATCH', `/operations/${id}`, body)).status).to.equal(200);

      it('a secret is masked in REST, GraphQL, revisions, exports and the answer of the write, and the flow has it', async () => {
        const secret = 'the secret of a flow';
        const flow = await makeFlow(secret);
        const { id, options } = await operationOf(flow);
        expect(options).to.deep.equal({ ...SIGN, secret: MASK });
        const written = await admin('PATCH', `/operations/${id}`, { options: { ...SIGN, secret } });
        expect(written.body.data.options.secret).to.equal(MASK);
        const shown = [
          await admin('POST', '/graphql/system', {
            query: '{ operations { options } flows { operations { options } } }',
          }),
          await admin('GET', `/flows/${flow}?fields=*,operations.*`),
          await admin('GET', '/revisions?filter[collection][_in]=platform_operations,platform_flows'),
          await admin('GET', '/operations?export=json'),
          await admin('GET', '/operations?export=csv'),
        ].map(({ status, body }) => [status, JSON.stringify(body)] as const);
        for (const [at, [status, text]] of shown.entries()) {
          expect(status, text).to.equal(200);
          expect(text, String(at)).to.include('sign').and.not.include(secret);
        }
        await signsWith(flow, secret);
        const tables = await service.database.query<{ text: string }>(
          `select jsonb_agg(o)::text || (select coalesce(jsonb_agg(r)::text, '') from platform_revisions r) as text from platform_operations o`,
        );
        expect(tables[0]?.text).to.not.include(secret);
        const [stored] = await service.database.query<{ value: string }>(
          'select value from platform_operation_secrets',
        );
        expect(stored?.value.includes(secret)).to.equal(!isEncrypted);
      });

      it('the mask keeps the secret, by PATCH, through the flow, by batch and by GraphQL', async () => {
        const flow = await makeFlow('secret one');
        const { id } = await operationOf(flow);
        const options = { ...SIGN, payload: { a: 1, b: 2 }, secret: MASK };
        await patch(id, { options });
        await signsWith(flow, 'secret one');
        await admin('PATCH', `/flows/${flow}`, { operations: [{ id, options }] });
        await signsWith(flow, 'secret one');
        await admin('PATCH', `/flows/${flow}`, { operations: { create: [], update: [{ id, options }], delete: [] } });
        await signsWith(flow, 'secret one');
        await admin('PATCH', '/operations', [{ id, options }]);
        await signsWith(flow, 'secret one');
        await admin('PATCH', '/operations', { keys: [id], data: { options } });
        await signsWith(flow, 'secret one');
        const query = `mutation ($data: update_platform_operations_input!) { update_operations_item(id: "${id}", data: $data) { options } }`;
        const reply = await admin('POST', '/graphql/system', { query, variables: { data: { options } } });
        expect(reply.body.data?.update_operations_item.options.secret, JSON.stringify(reply.body)).to.equal(MASK);
        await signsWith(flow, 'secret one');
        await patch(id, { position_x: 5 });
        await signsWith(flow, 'secret one');
      });

      it('a new value replaces the secret, and options without it remove it', async () => {
        const flow = await makeFlow('secret one');
        const { id } = await operationOf(flow);
        await patch(id, { options: { ...SIGN, secret: 'secret two' } });
        await signsWith(flow, 'secret two');
        await patch(id, { options: SIGN });
        expect(await service.database.query('select path from platform_operation_secrets')).to.deep.equal([]);
        await patch(id, { options: { ...SIGN, secret: MASK } });
        const { body } = await admin('POST', `/flows/trigger/${flow}`, {});
        expect(body).to.include({ code: 'INVALID_PAYLOAD' });
        expect(body.message).to.include('the secret option "secret" has no stored value');
      });

      it('an operation that is created through its flow has its secret, and loses it when it is deleted', async () => {
        const created = await admin('POST', '/flows?fields=id,operations.id', {
          name: 'nested',
          trigger: 'webhook',
          options: { method: 'POST' },
          operations: [{ key: 'sign', type: 'json-web-token', options: { ...SIGN, secret: 'nested secret' } }],
        });
        const { id, operations } = created.body.data;
        await admin('PATCH', `/flows/${id}`, { operation: operations[0].id });
        await signsWith(id, 'nested secret');
        await admin('DELETE', `/operations/${operations[0].id}`);
        expect(await service.database.query('select 1 from platform_operation_secrets')).to.deep.equal([]);
      });

      it('a write that fails stores no secret', async () => {
        const flow = await makeFlow('secret one');
        const { id } = await operationOf(flow);
        const missing = '11111111-2222-4333-8444-555555555555';
        const body = { options: { ...SIGN, secret: 'secret two' }, resolve: missing };
        expect(statusAndCodeOf(await admin('PATCH', `/operations/${id}`, body))).to.deep.equal([
          400,
          'INVALID_FOREIGN_KEY',
        ]);
        await signsWith(flow, 'secret one');
        expect((await admin('POST', '/operations', { ...body, key: 'x', type: 'json-web-token' })).status).to.equal(
          400,
        );
        expect(
          (await admin('POST', '/operations', { ...body, id: 'x', key: 'x', type: 'json-web-token' })).status,
        ).to.equal(400);
        expect(await service.database.query('select 1 from platform_operation_secrets')).to.have.length(1);
        for (const unknown of [missing, 'x'])
          expect((await admin('PATCH', `/operations/${unknown}`, { options: {} })).status).to.be.oneOf([400, 403]);
      });

      it('values that SQL has written work, and references to data of the run stay readable', async () => {
        const flow = await makeFlow('secret one');
        const { id } = await operationOf(flow);
        const plain = JSON.stringify({ ...SIGN, secret: 'by sql' });
        await service.database.query('update platform_operations set options = $1 where id = $2', [plain, id]);
        await until(async () => {
          const { body } = await admin('POST', `/flows/trigger/${flow}`, {});
          return typeof body === 'string' && isSignedWith(body, 'by sql');
        });
        const secret = '{{ $trigger.body.key }}';
        await patch(id, { options: { ...SIGN, secret } });
        expect((await operationOf(flow)).options.secret).to.equal(secret);
        const { body } = await admin('POST', `/flows/trigger/${flow}`, { key: 'from the trigger' });
        expect(jwt.verify(body, 'from the trigger')).to.include({ a: 1 });
      });

      it('headers of "request" that hold secrets are masked one by one', async () => {
        const headers = [
          { header: 'Authorization', value: 'Bearer abcdef' },
          { header: 'X-Plain', value: 'shown' },
          { header: 'X-Api-Key', value: 'Bearer {{ $env.KEY }}' },
          { header: 'Cookie', value: 'a=first' },
          { header: 'Cookie', value: 'a=second' },
        ];
        const options = { url: 'http://127.0.0.1:1/', headers };
        const flow = await createWebhook(admin, [{ key: 'call', type: 'request', options }]);
        const { id, options: shown } = await operationOf(flow);
        const values = (list: { value: string }[]) => list.map(({ value }) => value);
        expect(values(shown.headers)).to.deep.equal([MASK, 'shown', 'Bearer {{ $env.KEY }}', MASK, MASK]);
        await patch(id, { options: shown });
        const stored = await service.database.query<{ path: string }>(
          'select path from platform_operation_secrets order by 1',
        );
        expect(stored.map(({ path }) => path)).to.deep.equal([
          'headers/authorization',
          'headers/cookie',
          'headers/cookie/1',
        ]);
        await patch(id, { options: { ...options, headers: { authorization: MASK, 'x-other': 'x' } } });
        expect((await operationOf(flow)).options.headers).to.deep.equal({ authorization: MASK, 'x-other': 'x' });
        expect(await service.database.query('select path from platform_operation_secrets')).to.have.length(1);
      });
    });
  }

  it('a secret that was encrypted with another key has to be entered again, and the rest of the flow works', async () => {
    const first = await startService({ env: { SECRETS_ENCRYPTION_KEY: KEY } });
    const flow = await createWebhook(
      createUserSender(first, first.admin.token),
      [
        { key: 'ok', type: 'transform', options: { json: '"ok"' } },
        { key: 'sign', type: 'json-web-token', options: { ...SIGN, secret: 'a secret' } },
      ],
      { return: '$all' },
    );
    // Processes with different keys do not run side by side.
    await first.kernel.stop();
    const other = await startService({
      database: first.database,
      env: { SECRETS_ENCRYPTION_KEY: randomBytes(32).toString('base64') },
    });
    try {
      const { body } = await other.request('POST', `/flows/trigger/${flow}`, { body: {}, token: null });
      expect(body.ok).to.equal('ok');
      expect(body.sign.message).to.include('enter it again');
    } finally {
      await other.stop();
      await first.stop();
    }
  });
});

function isSignedWith(token: string, secret: string): boolean {
  try {
    jwt.verify(token, secret);
    return true;
  } catch {
    return false;
  }
}
