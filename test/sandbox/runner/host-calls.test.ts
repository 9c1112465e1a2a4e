import { expect } from 'chai';
import { killStartedRunnerProcesses, UnconfinedRunnerProcess } from './runner-process.ts';

const load = (body: string, reuse = false): Promise<UnconfinedRunnerProcess> =>
  UnconfinedRunnerProcess.load(`module.exports = { async handler(input, { host }) { ${body} } };`, { reuse });

describe('runner: calls of the host', () => {
  after(killStartedRunnerProcesses);

  it('a host call sends its arguments and resolves with the reply', async () => {
    const runner = await load(`const rows = await host.items.readMany('posts', { limit: 1 });
      const one = await host.items.readOne('posts', 1, undefined);
      return [rows, one, await host.settings.get('key'), await host.items.read(undefined, 2)];`);
    runner.invoke(1);
    const first = await runner.next('call');
    expect(first).to.include({ id: 1, call: 1, method: 'items.readMany', body: '["posts",{"limit":1}]' });
    runner.reply(1, 1, [{ ü: 1 }]);
    expect(await runner.next('call')).to.include({ call: 2, method: 'items.readOne', body: '["posts",1]' });
    runner.send({ type: 'reply', id: 1, call: 2, ok: false }, '{"code":"denied","message":"no","details":[1]}');
    await runner.next('call');
    runner.send({ type: 'reply', id: 1, call: 3, ok: true });
    expect(await runner.next('call')).to.include({ method: 'items.readMany', body: '[null,2]' });
    runner.reply(1, 4, null);
    expect(await runner.outcome(1)).to.eql([
      { ok: true, value: [{ ü: 1 }] },
      { ok: false, error: { code: 'denied', message: 'no', details: [1] } },
      { ok: true },
      { ok: true, value: null },
    ]);
  });

  it('host has the methods of the conventions, frozen and without prototypes', async () => {
    const runner = await load(`const found = [];
      const look = (value, path) => {
        if (!Object.isFrozen(value)) throw path;
        if (typeof value === 'function') {
          if (value.constructor !== Function || Object.getPrototypeOf(value) !== (async () => {}).constructor.prototype
            && Object.getPrototypeOf(value) !== Function.prototype) throw path;
          found.push(path);
        } else {
          if (Object.getPrototypeOf(value) !== null) throw path;
          for (const key of Reflect.ownKeys(value)) look(value[key], path ? path + '.' + key : key);
        }
      };
      look(host, '');
      return found;`);
    expect(await runner.run(1)).to.eql([
      ...['log.debug', 'log.info', 'log.warn', 'log.error', 'request.send', 'items.read', 'items.readMany'],
      ...['items.readOne', 'items.createOne', 'items.createMany', 'items.updateOne', 'items.updateMany'],
      ...['items.deleteOne', 'items.deleteMany', 'settings.get', 'template.renderLiquid', 'mail.send'],
    ]);
  });

  it('log calls need no reply', async () => {
    const runner = await load(
      `return [host.log.info('text', { a: 1 }), host.log.warn(1n), host.log.error('x'.repeat(9e3))];`,
    );
    expect(await runner.run(1)).to.eql([null, null, null]);
    expect(await runner.next('call')).to.include({ id: 1, call: 0, method: 'log.info', body: '["text",{"a":1}]' });
    expect(runner.received).to.eql([]);
  });

  it('host calls whose arguments are not JSON or too long are refused', async () => {
    const runner = await load(`const loop = {}; loop.loop = loop;
      const all = [1n, loop, () => 1, Symbol('x'), { toJSON() { throw 1; } }, 'x'.repeat(5000), 'ü'.repeat(4000)];
      const codes = [];
      for (const one of all) codes.push(await host.settings.get(one));
      return codes.map(({ ok, error }) => ok || error.code);`);
    expect(await runner.run(1)).to.eql(Array(7).fill('invalid_request'));
    expect(runner.received).to.eql([]);
  });

  it('an invocation has at most 16 host calls at a time and 1,000 in all', async () => {
    const runner = await load(`const many = Array.from({ length: 20 }, () => host.settings.get('k'));
      const first = (await Promise.all(many)).filter((answer) => !answer.ok).map(({ error }) => error.code);
      let count = 16;
      for (;;) {
        const answer = await host.settings.get('k');
        if (!answer.ok) return { first, count, code: answer.error.code };
        count++;
      }`);
    runner.invoke(1);
    for (let call = 1; call <= 1000; call++) {
      expect((await runner.next('call')).call).to.equal(call);
      runner.reply(1, call, null);
    }
    expect(await runner.outcome(1)).to.eql({ first: Array(4).fill('rate_limited'), count: 1000, code: 'rate_limited' });
  });

  it('a reply reaches the invocation that made the call', async () => {
    const runner = await load(`return [input, (await host.settings.get(input)).value];`);
    for (const reuse of [false, true]) {
      const shared = reuse ? await load(`return [input, (await host.settings.get(input)).value];`, true) : runner;
      for (let id = 1; id <= 20; id++) shared.invoke(id, id);
      const calls = [];
      for (let id = 1; id <= 20; id++) calls.push(await shared.next('call'));
      for (const { id, call, body } of calls.reverse()) {
        expect(body).to.equal(`[${id}]`);
        shared.reply(id + 100, call, 'unknown');
        shared.reply(id, call + 1, 'no such call');
        shared.reply(id, call, `for ${id}`);
        shared.reply(id, call, 'twice');
      }
      for (let id = 1; id <= 20; id++) expect(await shared.outcome(id)).to.eql([id, `for ${id}`]);
    }
  });

  it('host calls after the end of the invocation are refused', async () => {
    const runner = await UnconfinedRunnerProcess.load(
      `let kept; module.exports = { async handler(input, { host }) {
        if (!kept) { kept = host; return 'kept'; }
        kept.log.info('x');
        return (await kept.settings.get('k')).error.code;
      } };`,
      { reuse: true },
    );
    expect(await runner.run(1)).to.equal('kept');
    expect(await runner.run(2)).to.equal('denied');
    expect(runner.received).to.eql([]);
  });

  it('cancelling an invocation ends its host calls and no others', async () => {
    for (const reuse of [false, true]) {
      const runner = await load(
        `setTimeout(() => host.log.info('late'), input * 1000); await host.settings.get(input); return input;`,
        reuse,
      );
      // Sends all messages at once, so that the timer of the first invocation does not fire before its cancellation.
      runner.invoke(1, 1);
      runner.invoke(2, 2);
      runner.send({ type: 'cancel', id: 1 });
      runner.send({ type: 'cancel', id: 77 });
      await runner.next('call');
      await runner.next('call');
      runner.reply(1, 1, null);
      const late = await runner.next('call');
      expect([late.id, late.method]).to.eql([2, 'log.info']);
      runner.reply(2, 1, null);
      expect(await runner.outcome(2)).to.equal(2);
      expect(runner.received).to.eql([]);
    }
  });
});
