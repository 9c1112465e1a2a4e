import { expect } from 'chai';
import { isWriteCase, runDrawnCaseByRest } from './permissions/random-requests.ts';
import { type IsCaseSelected, PERMISSION_CASES_SEED, runDrawnCases } from './permissions/run-random-requests.ts';
import { runDrawnCaseByGraphql } from './permissions/run-request-by-graphql.ts';
import { startShareTestService } from './permissions/share-visitors.ts';

const isRead: IsCaseSelected = (at) => !isWriteCase(at);
/** Reads that the reference has to answer with rows or groups, not refuse: otherwise the test would compare refusals alone. */
const MIN_ANSWERED = 1_200;

describe('answers to visitors of shares under random permissions', () => {
  for (const [name, ask] of [
    ['REST', runDrawnCaseByRest],
    ['GraphQL', runDrawnCaseByGraphql],
  ] as const) {
    it(`${name} answers exactly the rows that are reachable from the shared item and readable by the role, seed ${PERMISSION_CASES_SEED}`, async function () {
      this.timeout(600_000);
      const tally = await runDrawnCases(ask, isRead, startShareTestService);
      const skipped = [...tally.skippedBecause.values()].reduce((sum, one) => sum + one, 0);
      console.log(`      ${tally.cases - skipped} reads by ${name}, ${tally.differences.length} differences`);
      expect(tally.differences, `\n${tally.differences.join('\n\n')}\n`).to.have.length(0);
      expect(tally.cases - skipped).to.be.greaterThan(2_000);
      const answered = (tally.kinds.get('list')?.done ?? 0) + (tally.kinds.get('one')?.done ?? 0);
      expect(answered, 'answered reads').to.be.greaterThan(MIN_ANSWERED);
      for (const kind of ['one', 'filter', 'search', 'sort', 'deep', 'aggregate', 'item:', 'count(', 'composite list'])
        expect(tally.kinds.get(kind)?.done ?? 0, `${kind}: done`).to.be.greaterThan(5);
    });
  }
});
