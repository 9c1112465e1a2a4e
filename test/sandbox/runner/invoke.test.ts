import { expect } from 'chai';
import { killStartedRunnerProcesses, UnconfinedRunnerProcess } from './runner-process.ts';

const operation = { type: 'flow-operation' } as const;
const filter = { type: 'event-filter', event: 'items.create' } as const;
const action = { type: 'event-action', event: 'items.create' } as const;

describe('runner: invocations', () => {
  after(killStartedRunnerProcesses);

  it('an endpoint handler receives the request and the accountability', async () => {
    const runner = await UnconfinedRunnerProcess.load(`exports.default = { id: 'x', greeting: 'hello',
      async handler(request, context) {
        const { host, ...rest } = context;
        return { status: 201, body: { greeting: this.greeting, request, rest, host: Object.keys(host) } };
      } };`);
    const request = { method: 'GET', path: '/', query: { a: '1' }, body: { ü: ['😀', null] } };
    expect(await runner.run(1, request)).to.eql({
      status: 201,
      body: {
        greeting: 'hello',
        request,
        rest: {
          extensionId: 'orders',
          contributionId: 'orders',
          activation: { type: 'json-endpoint' },
          accountability: null,
        },
        host: ['log', 'request', 'items', 'settings', 'template', 'mail'],
      },
    });
  });

  it('operations, filters, actions and entries of a bundle are invoked', async () => {
    const runner = await UnconfinedRunnerProcess.load(`module.exports = {
      'operation:add': { handler: ({ options, input }) => options.by + input },
      'hook:change': {
        filters: { 'items.create': (payload, meta, { activation }) => payload && { ...payload, meta, activation } },
        actions: { 'items.create': (meta, { activation }) => () => 'no JSON' },
      } };`);
    expect(await runner.run(1, { options: { by: 2 }, input: 3 }, operation, 'operation:add')).to.equal(5);
    expect(await runner.run(2, { payload: { a: 1 }, meta: { b: 2 } }, filter, 'hook:change')).to.eql({
      a: 1,
      meta: { b: 2 },
      activation: filter,
    });
    expect(await runner.run(3, { meta: {} }, action, 'hook:change')).to.equal(null);
    expect(await runner.run(4, { payload: null, meta: {} }, filter, 'hook:change')).to.equal(null);
    expect(await runner.run(5, {}, { type: 'json-endpoint' }, 'endpoint:unknown')).to.equal('guest-error');
    expect(await runner.run(6, {}, { type: 'event-filter', event: 'constructor' }, 'hook:change')).to.equal(
      'guest-error',
    );
    expect(await runner.run(7, {}, operation, '__proto__')).to.equal('guest-error');
  });

  it('an exec function receives its data and no host', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      'module.exports = function (data) { return { data, received: arguments.length }; };',
    );
    expect(await runner.run(1, [1], { type: 'exec' })).to.eql({ data: [1], received: 1 });
    expect(await runner.run(2, [1])).to.equal('guest-error');
  });

  it('undefined differs from null for filters only', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      'module.exports = { handler() {}, filters: { "items.create"() {} } };',
    );
    expect(await runner.run(1, { payload: 1, meta: {} }, filter)).to.equal('none');
    expect(await runner.run(2)).to.equal(null);
  });

  it('failed invocations have a code', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `module.exports = { async handler({ query }) {
      switch (query) {
        case 'throw': throw new Error('private');
        case 'throw late': await null; throw { then: 1 };
        case 'loop': { const a = {}; a.a = a; return a; }
        case 'bigint': return { body: 1n };
        case 'function': return () => 1;
        case 'symbol': return Symbol('x');
        case 'toJSON': return { toJSON() { throw new Error('private'); } };
        case 'nothing': return { toJSON() {} };
        case 'long': return 'x'.repeat(9999);
        case 'long in bytes': return 'ü'.repeat(9000);
        case 'deep': { let a = []; for (let n = 0; n < 1e6; n++) a = [a]; return a; }
        case 'recursion': { const f = () => f() + 1; return f(); }
        case 'thenable': return { get then() { throw 1; } };
      }
      return 'x'.repeat(9998);
    } };`,
    );
    const codes: Record<string, string> = {
      throw: 'guest-error',
      'throw late': 'guest-error',
      loop: 'invalid-result',
      bigint: 'invalid-result',
      function: 'invalid-result',
      symbol: 'invalid-result',
      toJSON: 'invalid-result',
      nothing: 'invalid-result',
      long: 'result-too-large',
      'long in bytes': 'result-too-large',
      deep: 'invalid-result',
      recursion: 'guest-error',
      thenable: 'guest-error',
    };
    let id = 0;
    for (const [query, code] of Object.entries(codes)) expect(await runner.run(++id, { query }), query).to.equal(code);
    expect(await runner.run(++id, {})).to.have.length(9998);
    expect(runner.received).to.eql([]);
  });

  it('a failure carries the thrown message and stack, or the rejection of the author, within bounds', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `module.exports = { async handler({ query }, { reject }) {
      switch (query) {
        case 'throw': throw new Error('the text');
        case 'text': throw 'a text';
        case 'long': throw new Error('x'.repeat(1e6));
        case 'getter': throw { get message() { throw 1; } };
        case 'symbol': throw Symbol('x');
        case 'reject': return reject(409, 'TAKEN', 'It is taken.');
        case 'caught': try { reject(409, 'TAKEN', 'x'); } catch { return 'went on'; }
        case 'other': try { reject(409, 'TAKEN', 'x'); } catch { throw new Error('another'); }
        case 'poisoned': String.prototype.slice = () => 'poison'; JSON.stringify = () => 'poison'; Object.prototype.toJSON = () => 'poison';
          return reject(409, 'TAKEN', 'It is taken.');
        case 'odd': return reject({ valueOf: () => 409 }, ['TAKEN'], { toString: () => 'x' });
      } } };`,
    );
    let id = 0;
    const failure = async (query: string) => {
      runner.invoke(++id, { query });
      const { code, body } = await runner.next('failure');
      return { code, ...JSON.parse(body) };
    };
    const thrown = await failure('throw');
    expect([thrown.code, thrown.message]).to.deep.equal(['guest-error', 'the text']);
    expect(thrown.stack).to.match(/artifact:3:\d+/);
    expect(await failure('text')).to.deep.equal({ code: 'guest-error', message: 'a text' });
    expect((await failure('long')).message).to.have.length(1000);
    expect(await failure('getter')).to.deep.equal({ code: 'guest-error' });
    expect(await failure('symbol')).to.deep.equal({ code: 'guest-error' });
    const stated = { status: 409, message: 'It is taken.' };
    runner.invoke(++id, { query: 'reject' });
    const { code, body } = await runner.next('failure');
    expect([code, JSON.parse(body)]).to.deep.equal(['rejected', { ...stated, code: 'TAKEN' }]);
    expect(await runner.run(++id, { query: 'caught' })).to.equal('went on');
    expect((await failure('other')).message).to.equal('another');
    runner.invoke(++id, { query: 'poisoned' });
    expect(JSON.parse((await runner.next('failure')).body)).to.deep.equal({ ...stated, code: 'TAKEN' });
    runner.invoke(++id, { query: 'odd' });
    expect(JSON.parse((await runner.next('failure')).body)).to.deep.equal({ status: null, code: null, message: null });
  });

  it('each invocation has a fresh realm', async () => {
    const runner = await UnconfinedRunnerProcess.load(`let count = 0; module.exports = { handler() {
      globalThis.left = (globalThis.left ?? 0) + 1; Object.prototype.tampered ??= 0; Object.prototype.tampered++;
      return [++count, left, ({}).tampered];
    } };`);
    for (let id = 1; id <= 8; id++) expect(await runner.run(id)).to.eql([1, 1, 1]);
    for (let id = 11; id <= 30; id++) runner.invoke(id);
    for (let id = 11; id <= 30; id++) expect(await runner.outcome(id)).to.eql([1, 1, 1]);
  });

  it('invocations of a stateful extension share one realm', async () => {
    const runner = await UnconfinedRunnerProcess.load('let count = 0; module.exports = { handler: () => ++count };', {
      reuse: true,
    });
    for (let id = 1; id <= 3; id++) expect(await runner.run(id)).to.equal(id);
  });

  it('an unhandled rejection does not disturb other invocations', async () => {
    const runner = await UnconfinedRunnerProcess.load(`module.exports = { async handler() {
      Promise.reject(new Error('Script execution timed out.')); await null; Promise.reject(5); return 1;
    } };`);
    expect(await runner.run(1)).to.equal(1);
    expect(await runner.run(2)).to.equal(1);
  });

  it('an invocation fails with guest-error where its realm cannot evaluate the artifact', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `if (Date.now() > ${Date.now() + 10_000}) throw 1; module.exports = { handler: () => 1 };`,
    );
    let id = 0;
    let last: unknown;
    for (const deadline = Date.now() + 60_000; last !== 'guest-error' && Date.now() < deadline; ) {
      last = await runner.run(++id);
    }
    expect(last).to.equal('guest-error');
  });
});
