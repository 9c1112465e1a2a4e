import { expect } from 'chai';
import {
  createTestScriptInvocation,
  createTestSupervisor,
  getInvocationOutcome,
  type SupervisorFixture,
} from '../supervisor/supervisor-fixture.ts';
import { createTestLauncher, isLinux, type TestLauncher } from './launcher-fixture.ts';

const AT_A_TIME = 32;
const INVOCATIONS = 2000;
const LIMITS = { cpu: 2000, wall: 10_000 };
const REFUSED = JSON.stringify({ code: 'denied', message: 'Not granted.' });
/** Guest code with ten sequential host calls: the runner enters the isolate eleven times, each with another remaining time. */
const SCRIPT = `(function (module) { module.exports = { id: 'x', async handler(input, { host }) {
  for (let at = 0; at < 10; at++) await host.settings.get('nothing');
  return { body: 1 };
} } })`;

(isLinux ? describe : describe.skip)('confinement: a child with many host calls', function () {
  this.timeout(120_000);
  let fixture: SupervisorFixture<TestLauncher>;
  before(async () => {
    fixture = createTestSupervisor(await createTestLauncher(), { limits: LIMITS, processes: 2 });
  });
  after(async () => {
    await fixture?.supervisor.close();
    await fixture?.launcher.close();
  });

  it('the limits of a child leave room for the threads of the engine', async () => {
    const { open, warnings } = fixture;
    const guest = open(SCRIPT);
    const answers: unknown[] = [];
    let left = INVOCATIONS;
    const work = async () => {
      while (left-- > 0) {
        const call = ({ reply }: { reply: ((ok: boolean, json: string) => void) | undefined }) => {
          // Replies in a later tick, as a host call with a database query does.
          setImmediate(() => reply?.(false, REFUSED));
          return true;
        };
        answers.push(await getInvocationOutcome(guest.invoke(createTestScriptInvocation({}, { call }))));
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    expect({ answers: new Set(answers), warnings }).to.deep.equal({ answers: new Set(['{"body":1}']), warnings: [] });
  });
});
