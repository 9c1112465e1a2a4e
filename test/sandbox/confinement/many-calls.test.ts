import { expect } from 'chai';
import type { ConfinedLauncher } from '../../../sandbox/host/launch/launcher.ts';
import type { RunFailure } from '../../../sandbox/host/supervisor/run-failure.ts';
import { createSupervisor, type Supervisor } from '../../../sandbox/host/supervisor/supervisor.ts';
import { createTestLauncher, isLinux, MEMORY } from './launcher-fixture.ts';

const AT_A_TIME = 32;
const INVOCATIONS = 2000;
const LIMITS = { memory: MEMORY, cpu: 2000, wall: 10_000, result: 1 << 20, hostCall: 1 << 18 };
const REFUSED = JSON.stringify({ code: 'denied', message: 'Not granted.' });
/** Ten sequential host calls: the guest is entered eleven times, each time with other remaining time. */
const SCRIPT = `(function (module) { module.exports = { id: 'x', async handler(input, { host }) {
  for (let at = 0; at < 10; at++) await host.settings.get('nothing');
  return { body: 1 };
} } })`;

(isLinux ? describe : describe.skip)('confinement: a child with many host calls', function () {
  this.timeout(120_000);
  let launcher: ConfinedLauncher;
  let supervisor: Supervisor;
  const lost: object[] = [];
  before(async () => {
    launcher = await createTestLauncher();
    const log = { warn: (data: object) => void lost.push(data) };
    supervisor = createSupervisor({ launcher, limits: LIMITS, processes: 2, log });
  });
  after(async () => {
    await supervisor?.close();
    await launcher?.close();
  });

  it('the limits of a child leave room for the threads of the engine', async () => {
    const guest = supervisor.open({ name: 'x', script: SCRIPT, reuse: false, onParked: () => {} });
    const context = { extensionId: 'x', contributionId: 'x', activation: { type: 'json-endpoint' } } as const;
    const codes: string[] = [];
    let left = INVOCATIONS;
    const work = async () => {
      while (left-- > 0) {
        const call = ({ reply }: { reply: ((ok: boolean, json: string) => void) | undefined }) => {
          // Replies later, as after a database query.
          setImmediate(() => reply?.(false, REFUSED));
          return true;
        };
        const run = { entry: '', context: { ...context, accountability: null }, input: '{}', call };
        await guest.invoke(run).catch((error: RunFailure) => void codes.push(error.code));
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, work));
    expect({ codes, lost }).to.deep.equal({ codes: [], lost: [] });
  });
});
