import { type IncomingMessage, request as sendRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { type InProcessService, type SpawnedService, spawnService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createTestFlow } from './flow-fixture.ts';

const STATUS = 'x-cache-status';
const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };

/** Sends GET from one of the addresses of this machine, with equal headers. */
async function getFrom(localAddress: string, url: URL) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  sendRequest(url, { localAddress, agent: false }, resolve).on('error', reject).end();
  const reply = await promise;
  return { headers: reply.headers, body: await json(reply) };
}

describe('webhook flows and the response cache', function () {
  this.timeout(120_000);
  for (const purges of [true, false]) {
    describe(`CACHE_AUTO_PURGE=${purges}`, () => {
      let service: InProcessService;
      let other: SpawnedService;
      let admin: SendAsUser;
      before(async () => {
        const env = { CACHE_ENABLED: 'true', CACHE_STATUS_HEADER: STATUS, CACHE_AUTO_PURGE: String(purges) };
        service = await startService({ env });
        other = await spawnService({ database: service.database, env });
        admin = createUserSender(service, service.admin.token);
        await admin('POST', '/collections', { collection: 'visits', schema: {}, fields: [key] });
      });
      after(async () => {
        await other?.stop();
        await service?.stop();
      });

      const counting = (options: object = {}) =>
        createTestFlow(admin, {
          trigger: 'webhook',
          options: { method: 'GET', ...options },
          steps: [
            { key: 'count', type: 'item-create', options: { collection: 'visits', payload: {}, permissions: '$full' } },
          ],
        });
      const call = (id: string, at: Pick<InProcessService, 'request'> = service) =>
        at.request('GET', `/flows/trigger/${id}`, { token: null, headers: { 'cache-control': 'max-age=60' } });
      /** Calls until the answer comes from the cache, and returns it. */
      const untilKept = (id: string, at?: Pick<InProcessService, 'request'>) =>
        until(async () => {
          const reply = await call(id, at);
          return reply.headers.get(STATUS) === 'HIT' && reply;
        });

      it('an answer is kept in each process, although the flow writes', async () => {
        const id = await counting();
        const first = await untilKept(id);
        expect((await call(id)).body).to.deep.equal(first.body);
        const remote = await untilKept(id, other);
        expect((await call(id, other)).body).to.deep.equal(remote.body);
      });

      it('an answer is for requests with equal headers only', async () => {
        const id = await createTestFlow(admin, {
          trigger: 'webhook',
          options: { method: 'GET' },
          steps: [{ key: 'own', type: 'transform', options: { json: { got: '{{ $trigger.headers.x-own }}' } } }],
        });
        const ask = (own: string) =>
          service.request('GET', `/flows/trigger/${id}`, { token: null, headers: { 'x-own': own } });
        for (const own of ['a', 'b', 'a', 'b', 'a', 'b']) expect((await ask(own)).body).to.deep.equal({ got: own });
        await until(async () => (await ask('a')).headers.get(STATUS) === 'HIT');
        expect((await ask('c')).body).to.deep.equal({ got: 'c' });
      });

      it('an answer is for requests of the same address only', async () => {
        const id = await createTestFlow(admin, {
          trigger: 'webhook',
          options: { method: 'GET' },
          steps: [{ key: 'own', type: 'transform', options: { json: { ip: '{{ $accountability.ip }}' } } }],
        });
        const ask = (address: string) => getFrom(address, new URL(`/flows/trigger/${id}`, service.url));
        await until(async () => (await ask('127.0.0.1')).headers[STATUS] === 'HIT');
        expect((await ask('127.0.0.1')).body).to.deep.equal({ ip: '127.0.0.1' });
        expect((await ask('127.0.0.2')).body).to.deep.equal({ ip: '127.0.0.2' });
      });

      it('an answer is for no cache outside of the service', async () => {
        const id = await counting();
        const replies = [await call(id), await untilKept(id), await untilKept(id, other)];
        for (const { headers } of replies) expect(headers.get('cache-control')).to.equal('no-store');
      });

      it('with "cacheEnabled" off no answer is kept', async () => {
        const id = await counting({ cacheEnabled: false });
        const answers = [];
        for (let round = 0; round < 4; round++) answers.push((await call(id)).body[0]);
        expect(new Set(answers).size).to.equal(4);
      });

      it(`a change of the flow ${purges ? 'forgets' : 'keeps'} the answer, in both processes`, async () => {
        const id = await counting();
        const kept = [await untilKept(id), await untilKept(id, other)];
        await admin('PATCH', `/flows/${id}`, { options: { method: 'GET', cacheEnabled: false } });
        const after = [await call(id), await call(id, other)];
        for (const [at, reply] of after.entries())
          expect(JSON.stringify(reply.body) === JSON.stringify(kept[at]?.body), `process ${at}`).to.equal(!purges);
      });

      it('POST /utils/cache/clear forgets the answer, in both processes', async () => {
        const id = await counting();
        const kept = [await untilKept(id), await untilKept(id, other)];
        expect((await admin('POST', '/utils/cache/clear')).status).to.equal(200);
        expect((await call(id)).body).to.not.deep.equal(kept[0]?.body);
        await until(async () => JSON.stringify((await call(id, other)).body) !== JSON.stringify(kept[1]?.body));
      });
    });
  }
});
