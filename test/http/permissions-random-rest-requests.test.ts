import { expect } from 'chai';
import { QUERY_PARAMETER_KINDS, runDrawnCaseByRest } from './permissions/random-requests.ts';
import {
  CASES_PER_PERMISSION_SERVICE,
  PERMISSION_CASE_COUNT,
  PERMISSION_CASES_SEED,
  runDrawnCases,
  SINGLE_PERMISSION_CASE_NUMBER,
} from './permissions/run-random-requests.ts';

const VERBS = ['list', 'one', 'create', 'update', 'update each', 'update found', 'delete', 'delete found'];
const KINDS = [
  ...VERBS,
  ...QUERY_PARAMETER_KINDS,
  ...['to-one create', 'to-one update', 'to-one link', 'to-many create', 'to-many update', 'to-many link'],
  ...[
    'deselect by nullify',
    'deselect by delete',
    'key changed',
    'to-many composite create',
    'to-many composite update',
  ],
  ...VERBS.map((verb) => `composite ${verb}`),
];

describe('REST answers under random permissions', () => {
  it(`${SINGLE_PERMISSION_CASE_NUMBER === undefined ? `${PERMISSION_CASE_COUNT} generated cases agree` : `case ${SINGLE_PERMISSION_CASE_NUMBER} agrees`} with the in-memory reference, seed ${PERMISSION_CASES_SEED}`, async function () {
    this.timeout(Math.max(180_000, PERMISSION_CASE_COUNT * 100));
    const tally = await runDrawnCases(runDrawnCaseByRest);
    console.log(`      ${tally.cases} permission cases, ${tally.differences.length} differences`);
    expect(tally.differences, `\n${tally.differences.join('\n\n')}\n`).to.have.length(0);
    // Every kind of case must be both answered and refused often enough, or the test would prove nothing.
    expect(tally.cases).to.equal(SINGLE_PERMISSION_CASE_NUMBER === undefined ? PERMISSION_CASE_COUNT : 1);
    if (SINGLE_PERMISSION_CASE_NUMBER !== undefined || PERMISSION_CASE_COUNT < CASES_PER_PERMISSION_SERVICE) return;
    for (const kind of KINDS) expect(tally.kinds.get(kind)?.done, `${kind}: done`).to.be.greaterThan(2);
    for (const verb of VERBS) expect(tally.kinds.get(verb)?.refused, `${verb}: refused`).to.be.greaterThan(20);
  });
});
