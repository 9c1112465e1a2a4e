import { expect } from 'chai';
import { type HostileProgram, hostilePrograms } from './hostile-programs.ts';
import {
  expectServiceUnharmed,
  groupHostileProgramsByTimeout,
  type HostileService,
  SANDBOX_TIMEOUT_MS,
  startHostileService,
} from './hostile-service.ts';
import { runHostileProgram } from './run-hostile-program.ts';

/** Milliseconds that a hostile script may take, many more than it should, so that a busy machine does not fail the test. */
const SLOW = 10 * SANDBOX_TIMEOUT_MS;

/** A run of a flow answers also where its script failed. */
const asScript = (program: HostileProgram): HostileProgram => ({ ...program, expectation: { kind: 'answered' } });

for (const { title, timeoutMs, programs } of groupHostileProgramsByTimeout(hostilePrograms().map(asScript)))
  describe(`operation exec: hostile scripts ${title}`, function () {
    this.timeout(300_000);
    let hostile: HostileService;
    before(async () => {
      hostile = await startHostileService(programs, 'flows', timeoutMs);
    });
    after(() => hostile?.stop());

    for (const program of programs) {
      it(`the sandbox contains the script ${program.id}: ${program.about}`, async () => {
        const { problem, durationMs, status } = await runHostileProgram(hostile, program);
        expect(problem).to.equal(undefined);
        expect(status).to.be.oneOf([200, 204]);
        expect(durationMs).to.be.below(SLOW);
      });
    }

    it('the service serves and leaks no secret after all hostile scripts', async () => {
      await expectServiceUnharmed(hostile);
      const runs = await hostile.service.database.query<{ text: string }>(
        'select coalesce(string_agg(error::text, chr(10)), $1) as text from platform_flow_runs',
        [''],
      );
      expect(runs[0]?.text).not.to.match(/a secret of the database|root:x:/);
    });
  });
