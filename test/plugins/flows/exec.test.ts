import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import { createUserSender, type SendAsUser } from '../users/test-users.ts';
import { createWebhook } from './flow-fixture.ts';

describe('the operation exec', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService({
      env: {
        FLOW_TEST_ALLOWED: 'visible',
        FLOW_TEST_HIDDEN: 'hidden',
        FLOWS_ENV_ALLOW_LIST: 'FLOW_TEST_ALLOWED',
        FLOWS_RUN_SCRIPT_TIMEOUT: '3s',
      },
    });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await service?.stop();
  });

  /** What the code gives and whether it resolved. */
  async function exec(code: unknown, body: unknown = {}) {
    const id = await createWebhook(
      admin,
      [
        { key: 'run', type: 'exec', options: { code } },
        { key: 'ok', type: 'transform', options: { json: 'true' } },
      ],
      { return: '$all' },
    );
    const { body: all } = await admin('POST', `/flows/trigger/${id}`, body);
    return [all.run, all.ok === true];
  }

  it('makes the confined runtime needed, which GET /extensions says', async () => {
    const stateOf = async () => (await admin('GET', '/extensions')).body.meta.confinedRuntime;
    expect((await stateOf()).state).to.equal('not-required');
    await exec('module.exports = () => 1');
    const { state, posture } = await stateOf();
    expect([state, posture.decision]).to.deep.equal(['available', 'run']);
  });

  it('gives what the function returns, which sees the data of the run', async () => {
    const code =
      'module.exports = async function (data) { return { got: data.$trigger.body.a + 1, last: typeof data.$last }; }';
    expect(await exec(code, { a: 1 })).to.deep.equal([{ got: 2, last: 'object' }, true]);
    expect(await exec('module.exports = () => {}')).to.deep.equal([null, true]);
    expect(await exec('module.exports = () => [1, "x"]')).to.deep.equal([[1, 'x'], true]);
  });

  it('a thrown error rejects with its message, and a thrown value with the value', async () => {
    const [error, isResolved] = await exec('module.exports = () => { throw new TypeError("no"); }');
    expect([error.name, error.message, isResolved]).to.deep.equal(['TypeError', 'no', false]);
    expect(await exec('module.exports = async () => { throw { code: 7 }; }')).to.deep.equal([{ code: 7 }, false]);
  });

  it('sees only the allowed variables of the environment', async () => {
    const [env] = await exec('module.exports = (data) => ({ process: process.env, data: data.$env })');
    expect(env).to.deep.equal({ process: { FLOW_TEST_ALLOWED: 'visible' }, data: { FLOW_TEST_ALLOWED: 'visible' } });
  });

  for (const [title, code] of [
    ['code without a function', 'module.exports = 5'],
    ['code that cannot be parsed', 'module.exports = ('],
    ['code that throws while it loads', 'throw new Error("x")'],
    ['require', 'module.exports = () => require("fs")'],
    ['import', 'module.exports = () => import("node:fs")'],
    ['fetch', 'module.exports = () => fetch("http://example.com")'],
    ['process.exit', 'module.exports = () => process.exit()'],
    ['a loop without an end', 'module.exports = () => { for (;;); }'],
    ['a promise that never settles', 'module.exports = () => new Promise(() => {})'],
    [
      'memory without an end',
      'module.exports = () => { const a = []; for (;;) a.push(new Array(1e6).fill(a.length)); }',
    ],
    ['code that closes the function around it', '}); module.exports = {}; (function () {'],
    ['a result that contains itself', 'module.exports = () => { const a = {}; a.a = a; return a; }'],
    ['code that is no text', 5],
  ] as const)
    it(`${title} rejects with a message, and the service goes on`, async () => {
      const [error, isResolved] = await exec(code);
      expect(isResolved, JSON.stringify(error)).to.equal(false);
      expect(error.message).to.be.a('string').and.not.equal('');
      expect((await admin('GET', '/server/ping')).status).to.equal(200);
    });
});
