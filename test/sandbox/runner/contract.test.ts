import { expect } from 'chai';
import { killStartedRunnerProcesses, UnconfinedRunnerProcess } from './runner-process.ts';

async function contractOf(script: string): Promise<unknown> {
  const runner = await UnconfinedRunnerProcess.start();
  runner.load(script, { limits: { cpu: 1000 } });
  const answer = await runner.next('loaded', 'refused');
  runner.process.kill('SIGKILL');
  return answer.type === 'loaded' ? answer.contract : answer.code;
}

const contract = (body: string): Promise<unknown> => contractOf(`(function (module, exports) { ${body} })`);
const entry = { key: '', id: null, handler: false, filters: [], actions: [] };

describe('runner: the contract of an artifact', () => {
  after(killStartedRunnerProcesses);

  it('the contract is one object, exported directly or as the default', async () => {
    const expected = [{ ...entry, id: 'orders', handler: true }];
    expect(await contract(`module.exports = { id: 'orders', handler() {} };`)).to.eql(expected);
    expect(await contract(`exports.__esModule = true; exports.default = { id: 'orders', handler() {} };`)).to.eql(
      expected,
    );
  });

  it('the contract names the events that have a function', async () => {
    const body = `exports.default = { id: 'h', filters: { 'items.create': (p) => p, no: 1 }, actions: { 'a.b': () => {} } };`;
    expect(await contract(body)).to.eql([{ ...entry, id: 'h', filters: ['items.create'], actions: ['a.b'] }]);
  });

  it('the contract may be an anonymous function', async () => {
    expect(await contract('module.exports = async (data) => data;')).to.eql([entry]);
  });

  it('a bundle exports its contracts as one object with keys type:name, or as one list for each type', async () => {
    const expected = [
      { ...entry, key: 'endpoint:orders', id: 'orders', handler: true },
      { ...entry, key: 'hook:log', id: 'log', actions: ['items.create'] },
    ];
    const orders = `{ id: 'orders', handler() {} }`;
    const log = `{ id: 'log', actions: { 'items.create'() {} } }`;
    expect(await contract(`exports.default = { 'endpoint:orders': ${orders}, 'hook:log': ${log} };`)).to.eql(expected);
    expect(
      await contract(
        `exports.endpoints = [{ name: 'orders', config: ${orders} }]; exports.hooks = [{ name: 'log', config: ${log} }];`,
      ),
    ).to.eql(expected);
  });

  it('an artifact without a valid contract is refused with invalid-entry', async () => {
    const bodies = [
      '',
      'module.exports = null;',
      'module.exports = 5;',
      'module.exports = { id: 1 };',
      'throw new Error("private");',
      'module.exports = { get default() { throw 1 } };',
      `module.exports = { 'endpoint:a': { handler() {} }, other: {} };`,
      `module.exports = { 'endpoint:a': {} };`,
      `module.exports = { endpoints: [{ config: { handler() {} } }] };`,
      `module.exports = { filters: Object.fromEntries(Array.from({ length: 17 }, (_, n) => ['e' + n, () => {}])) };`,
      `module.exports = { filters: { ['e'.repeat(129)]() {} } };`,
      `for (let n = 0; n < 65; n++) exports['endpoint:' + n] = { handler() {} };`,
      `for (let n = 0; n < 60; n++) exports['hook:' + n] = { filters: Object.fromEntries(Array.from({ length: 16 },
        (_, m) => ['e'.repeat(120) + m, () => {}])) };`,
    ];
    for (const body of bodies) expect(await contract(body), body).to.equal('invalid-entry');
    for (const script of ['function (', '5', '"text"', '({})', 'undefined']) {
      expect(await contractOf(script), script).to.equal('invalid-entry');
    }
  });

  it('an artifact whose evaluation takes too long is refused with timeout', async () => {
    for (const script of [
      'for (;;);',
      '(function () { for (;;); })',
      '(function (module) { module.exports = { get handler() { for (;;); } }; })',
      '(function (module) { const again = () => Promise.resolve().then(again); again(); })',
    ]) {
      expect(await contractOf(script), script).to.equal('timeout');
    }
  });

  it('the contract is read from module.exports, not from the return value', async () => {
    // isolated-vm would read the length of a function by itself.
    const script = `(() => { const f = function (module) { module.exports = () => 1; };
      Object.defineProperty(f, 'length', { get() { for (;;); } }); return f; })()`;
    expect(await contractOf(script)).to.eql([entry]);
  });
});
