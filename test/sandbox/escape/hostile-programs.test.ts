import { expect } from 'chai';
import { hostilePrograms } from './hostile-programs.ts';
import {
  expectServiceUnharmed,
  groupHostileProgramsByTimeout,
  type HostileService,
  SANDBOX_TIMEOUT_MS,
  startHostileService,
} from './hostile-service.ts';
import { runHostileProgram } from './run-hostile-program.ts';

interface Row {
  readonly name: string;
  readonly status: string;
  readonly reason?: { readonly code: string; readonly detail: string };
}

/** Milliseconds that a hostile program may take, many more than it should, so that a busy machine does not fail the test. */
const SLOW = 10 * SANDBOX_TIMEOUT_MS;

it('the folder holds at least sixty hostile programs', () => {
  expect(hostilePrograms().length).to.be.at.least(60);
});

for (const { title, timeoutMs, programs } of groupHostileProgramsByTimeout(hostilePrograms()))
  describe(`sandbox: hostile programs ${title}`, function () {
    this.timeout(180_000);
    let hostile: HostileService;
    let rows: readonly Row[];
    before(async () => {
      hostile = await startHostileService(programs, 'packages', timeoutMs);
      const { admin, request } = hostile.service;
      rows = (await request('GET', '/extensions', { token: admin.token })).body.data;
    });
    after(() => hostile?.stop());

    for (const program of programs) {
      it(`the sandbox contains ${program.id}: ${program.about}`, async () => {
        const row = rows.find(({ name }) => name === `service-extension-${program.id}`);
        if (program.expectation.kind === 'refused') {
          expect(row?.status).to.equal('failed');
          if (program.expectation.code) expect(row?.reason?.code).to.equal(program.expectation.code);
        } else expect(row?.reason, JSON.stringify(row?.reason)).to.equal(undefined);
        const { problem, durationMs } = await runHostileProgram(hostile, program);
        expect(problem).to.equal(undefined);
        expect(durationMs).to.be.below(SLOW);
      });
    }

    it('the service serves and leaks no secret after all hostile programs', async () => {
      await expectServiceUnharmed(hostile);
    });
  });
