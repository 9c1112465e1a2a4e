import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { CountedRequest, CountingServer } from '../../support/counting-server.ts';
import type { InProcessService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import type { SendAsUser } from '../users/test-users.ts';
import { createWebhook, type TestStep } from './flow-fixture.ts';
import { setUpRequestFlows } from './request-flow-service.ts';

const SECRET = `whsec_${Buffer.from('a key of twenty-four bytes or more').toString('base64')}`;

for (const [title, env] of [
  ['without SECRETS_ENCRYPTION_KEY', {}],
  ['with SECRETS_ENCRYPTION_KEY', { SECRETS_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }],
] as const)
  describe(`requests of flows after the commit, ${title}`, () => {
    let service: InProcessService;
    let admin: SendAsUser;
    let server: CountingServer;
    let onCreate: (step: TestStep) => Promise<string>;
    setUpRequestFlows(env, (started) => {
      ({ service, admin, server, filterFlow: onCreate } = started);
    });

    const call = (more: object = {}): TestStep => ({
      key: 'call',
      type: 'request',
      options: {
        method: 'POST',
        url: `${server.url}/in`,
        headers: [{ header: 'Authorization', value: 'Bearer very-secret-token' }],
        body: { name: '{{ $trigger.payload.name }}' },
        delivery: 'after-commit',
        ...more,
      },
    });
    const jobs = async (state: string) => (await admin('GET', `/queues/flow-deliveries/jobs?state=${state}`)).body.data;
    const verify = ({ headers, body }: CountedRequest) =>
      new Webhook(SECRET).verify(body, headers as Record<string, string>);

    it('a filter flow sends nothing before the commit, and nothing for a write that fails', async () => {
      await onCreate(call());
      expect((await admin('POST', '/items/tags', [{ name: 'a' }, { name: null }])).status).to.equal(400);
      expect((await admin('POST', '/items/tags', { name: 'b' })).status).to.equal(200);
      const [only] = await until(() => server.requests.length > 0 && server.requests);
      expect(JSON.parse(only?.body ?? '')).to.deep.equal({ name: 'b' });
      await until(async () => (await jobs('completed')).length === 1);
      expect([server.requests.length, (await jobs('waiting')).length]).to.deep.equal([1, 0]);
    });

    it('a receiver verifies the signature, and recognizes a repeated message by its id', async () => {
      server.answer = () => (server.requests.length < 2 ? 500 : 204);
      await onCreate(call({ secret: SECRET, $execution: { backoff: 1000 } }));
      await admin('POST', '/items/tags', { name: 'signed' });
      const [first, second] = await until(() => server.requests.length === 2 && server.requests, 60_000);
      for (const one of [first, second]) expect(verify(one as CountedRequest)).to.deep.equal({ name: 'signed' });
      for (const header of ['webhook-id', 'idempotency-key'])
        expect(first?.headers[header]).to.be.a('string').and.equal(second?.headers[header]);
      const forged = { ...(first as CountedRequest), body: '{"name":"other"}' };
      expect(() => verify(forged)).to.throw();
    });

    it('a request that is sent at once is signed, too', async () => {
      const id = await createWebhook(admin, [call({ delivery: undefined, secret: SECRET, body: { a: 1 } })]);
      expect((await admin('POST', `/flows/trigger/${id}`, {})).body.status).to.equal(200);
      expect(verify(server.requests[0] as CountedRequest)).to.deep.equal({ a: 1 });
    });

    it('the operation gives the id of the job, and a secret or a delivery that is not possible rejects', async () => {
      const id = await createWebhook(admin, [call()]);
      const { delivery } = (await admin('POST', `/flows/trigger/${id}`, {})).body;
      await until(async () => (await jobs('completed')).some((one: { id: string }) => one.id === delivery));
      for (const wrong of [{ secret: 'short' }, { delivery: 'tomorrow' }]) {
        const other = await createWebhook(admin, [call(wrong)]);
        expect((await admin('POST', `/flows/trigger/${other}`, {})).body.code).to.equal('INVALID_PAYLOAD');
      }
    });

    it('a request that no attempt delivers is a dead letter without its secrets, which an admin sends again', async () => {
      server.answer = () => 500;
      const flow = await onCreate(call({ secret: SECRET, $execution: { retries: 0 } }));
      await admin('POST', '/items/tags', { name: 'dead' });
      const [dead] = await until(async () => {
        const found = await jobs('failed');
        return found.length > 0 && found;
      });
      expect(dead.error).to.equal(`POST ${server.url} for the operation call of the flow ${flow}: answered 500`);
      expect(JSON.stringify(dead)).to.not.include('very-secret').and.not.include(SECRET);
      const [stored] = await service.database.query<{ data: string }>(
        'select data::text from platform_queue.job where id = $1',
        [dead.id],
      );
      if ('SECRETS_ENCRYPTION_KEY' in env) expect(stored?.data).to.not.include('very-secret');
      server.answer = () => 200;
      expect((await admin('POST', `/queues/flow-deliveries/jobs/${dead.id}/retry`)).status).to.equal(204);
      await until(() => server.requests.length === 2);
      expect(server.requests[1]?.headers['webhook-id']).to.equal(server.requests[0]?.headers['webhook-id']);
      await until(async () => (await jobs('failed')).length === 0);
    });

    it('a receiver that answers 410 is not asked again', async () => {
      server.answer = () => 410;
      await onCreate(call());
      await admin('POST', '/items/tags', { name: 'gone' });
      const [dead] = await until(async () => {
        const found = await jobs('failed');
        return found.length > 0 && found;
      });
      expect(dead.attempts).to.equal(1);
    });

    it('a mail and a notification of a filter flow do not exist where the write fails', async () => {
      const { id: user } = (await admin('GET', '/users/me?fields=id')).body.data;
      await onCreate({
        key: 'notify',
        type: 'notification',
        options: { recipient: [user], subject: 'new', permissions: '$full' },
      });
      await onCreate({ key: 'mail', type: 'mail', options: { to: 'a@example.com', subject: 'new', body: 'x' } });
      const counts = async () =>
        service.database.query(`select (select count(*)::int from platform_notifications) as notifications,
          (select count(*)::int from platform_queue.job where name = 'mail') as mails`);
      const before = await counts();
      expect((await admin('POST', '/items/tags', [{ name: 'a' }, { name: null }])).status).to.equal(400);
      expect(await counts()).to.deep.equal(before);
      await admin('POST', '/items/tags', { name: 'a' });
      const [{ notifications, mails }] = before as [{ notifications: number; mails: number }];
      const [after] = (await counts()) as [{ notifications: number; mails: number }];
      expect(after.notifications).to.equal(notifications + 1);
      expect(after.mails).to.be.above(mails);
    });
  });
