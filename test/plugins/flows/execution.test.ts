import { expect } from 'chai';
import type { CountingServer } from '../../support/counting-server.ts';
import type { InProcessService } from '../../support/service.ts';
import { type SendAsUser, statusAndCodeOf } from '../users/test-users.ts';
import { createWebhook, type TestStep } from './flow-fixture.ts';
import { type RequestFlowService, setUpRequestFlows } from './request-flow-service.ts';

describe('"$execution" of an operation', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let server: CountingServer;
  let filterFlow: RequestFlowService['filterFlow'];
  setUpRequestFlows({ FLOWS_ANSWER_MAX_WAIT: '2s', FLOWS_WRITE_MAX_WAIT: '500ms' }, (started) => {
    ({ service, admin, server, filterFlow } = started);
  });

  const call = (execution?: object): TestStep => ({
    key: 'call',
    type: 'request',
    options: { method: 'POST', url: server.url, ...(execution ? { $execution: execution } : {}) },
  });
  const run = async (...steps: TestStep[]) => {
    const id = await createWebhook(admin, steps);
    return admin('POST', `/flows/trigger/${id}`, {});
  };

  it('retries a failed operation until it resolves, and the run tells how often it ran', async () => {
    server.answer = () => (server.requests.length < 3 ? 503 : 200);
    const reply = await run(call({ retries: 2, backoff: 10 }));
    expect(reply.body.status).to.equal(200);
    const keys = new Set(server.requests.map(({ headers }) => headers['idempotency-key']));
    expect([server.requests.length, keys.size]).to.deep.equal([3, 1]);
    const { body } = await admin('GET', '/revisions?sort=-id&limit=1&filter[collection][_eq]=platform_flows');
    expect(body.data[0].data.steps[0]).to.include({ status: 'resolve', attempts: 3 });
  });

  it('rejects with the last failure after the last retry', async () => {
    server.answer = () => 503;
    const reply = await run(call({ retries: 1, backoff: 0 }));
    expect([reply.body.status, server.requests.length]).to.deep.equal([503, 2]);
  });

  it('does not retry without it', async () => {
    server.answer = () => 503;
    await run(call());
    expect(server.requests).to.have.length(1);
  });

  it('aborts an operation that takes longer than its timeout, and rejects', async () => {
    const end = Promise.withResolvers<number>();
    server.answer = () => end.promise;
    const reply = await run(call({ timeout: 50 }));
    expect(reply.body).to.include({ name: 'OperationTimeout', code: 'OPERATION_TIMEOUT' });
    end.resolve(200);
  });

  it('rolls back a write that takes longer than its timeout', async () => {
    await service.database.query(`create function wait_long() returns trigger as
      $$ begin perform pg_sleep(30); return new; end $$ language plpgsql`);
    await service.database.query(
      'create trigger wait_long before insert on tags for each row execute function wait_long()',
    );
    const options = { collection: 'tags', payload: { name: 'x' }, $execution: { timeout: 300 } };
    const reply = await run({ key: 'make', type: 'item-create', options });
    await service.database.query('drop trigger wait_long on tags');
    expect(reply.body.code).to.equal('OPERATION_TIMEOUT');
    expect(await service.database.query('select * from tags')).to.deep.equal([]);
  });

  it('is rendered like other options, and is none of those that the operation sees', async () => {
    server.answer = () => (server.requests.length < 2 ? 503 : 200);
    const set: TestStep = { key: 'set', type: 'transform', options: { json: { times: '1' } } };
    expect((await run(set, call({ retries: '{{ set.times }}', backoff: 0 }))).body.status).to.equal(200);
  });

  for (const [title, execution, named] of [
    ['too many retries', { retries: 21 }, 'retries'],
    ['retries that are no number', { retries: 'many' }, 'retries'],
    ['a negative backoff', { backoff: -1 }, 'backoff'],
    ['a timeout of zero', { timeout: 0 }, 'timeout'],
    ['an unknown member', { attempts: 3 }, 'attempts'],
    ['a list', [1], '$execution'],
  ] as const)
    it(`${title} rejects the operation, and the failure names it`, async () => {
      const { body } = await run({ ...call(), options: { ...call().options, $execution: execution } });
      expect(body.code).to.equal('INVALID_PAYLOAD');
      expect(body.message).to.include(named);
      expect(server.requests).to.deep.equal([]);
    });

  it('waits of a run whose answer a client waits for are bounded: further retries are left out, and "sleep" rejects', async () => {
    server.answer = () => 503;
    expect((await run(call({ retries: 5, backoff: 1500 }))).body.status).to.equal(503);
    expect(server.requests).to.have.length(2);
    const { body } = await run({ key: 'wait', type: 'sleep', options: { milliseconds: 2001 } });
    expect(body.message).to.include('2000 ms');
  });

  it('waits of a filter flow are bounded, so that a write does not hold its locks for long', async () => {
    server.answer = () => 400;
    const id = await filterFlow(call({ retries: 5, backoff: 300 }));
    expect((await admin('POST', '/items/tags', { name: 'x' })).status).to.equal(400);
    expect(server.requests).to.have.length(2);
    await admin('DELETE', `/flows/${id}`);
    await filterFlow({ key: 'wait', type: 'sleep', options: { milliseconds: 501 } });
    expect(statusAndCodeOf(await admin('POST', '/items/tags', { name: 'x' }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });
});
