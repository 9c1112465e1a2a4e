import { findRequestTables } from './permission-test-collections.ts';
import { type PermissionTestService, startPermissionTestService, type TestPerson } from './permission-test-service.ts';
import { type CaseOutcome, type DrawnCase, drawCase, isValidCase, isWriteCase } from './random-requests.ts';
import { shrinkFailingCase } from './shrink.ts';

/** The number of cases with the data and the people of one `startPermissionTestService`. */
export const CASES_PER_PERMISSION_SERVICE = 5_200;
export const PERMISSION_CASES_SEED = Number(process.env.PERMISSION_SEED ?? 20261121);
/** The number of the only case to run, as a reported difference names it in PERMISSION_CASE; undefined runs all. */
export const SINGLE_PERMISSION_CASE_NUMBER =
  process.env.PERMISSION_CASE === undefined ? undefined : Number(process.env.PERMISSION_CASE);
export const PERMISSION_CASE_COUNT =
  SINGLE_PERMISSION_CASE_NUMBER === undefined
    ? Number(process.env.PERMISSION_CASES ?? CASES_PER_PERMISSION_SERVICE)
    : CASES_PER_PERMISSION_SERVICE;
const MAX_DIFFERENCES = 10;
const CONCURRENT_READS = 8;

export interface PermissionCaseTally {
  cases: number;
  /** The number of answered and of refused cases, by verb and kind of parameter. */
  readonly kinds: Map<string, { done: number; refused: number }>;
  /** The number of skipped cases, by reason. */
  readonly skippedBecause: Map<string, number>;
  readonly differences: string[];
}

/** Sends one drawn case as one person, by REST or by GraphQL, and compares the answer with the expected one. */
export type RunPermissionCase = (
  world: PermissionTestService,
  person: TestPerson,
  testCase: DrawnCase,
  at: number,
) => Promise<CaseOutcome>;

/** Whether the test runs the case of this number. */
export type IsCaseSelected = (at: number) => boolean;

/** Whether case `at` is in a sample of one in `count` groups of five. The offset moves, since the number decides the kind. */
const oneOf = (count: number, at: number) => Math.floor(at / 5) % count === Math.floor(at / 5 / count) % count;

/** A sample with cases of every person and kind: a quarter of the reads and half of the writes, whose kinds are rarer. */
export const isSampledCase: IsCaseSelected = (at) => oneOf(isWriteCase(at) ? 2 : 4, at);

/** Draws the cases, sends the selected ones by `ask`, and counts the outcomes and the differences from the reference. */
export async function runDrawnCases(
  ask: RunPermissionCase,
  part: IsCaseSelected = () => true,
  start: (seed: number) => Promise<PermissionTestService> = startPermissionTestService,
): Promise<PermissionCaseTally> {
  const tally: PermissionCaseTally = { cases: 0, kinds: new Map(), skippedBecause: new Map(), differences: [] };
  const isSelected: IsCaseSelected =
    SINGLE_PERMISSION_CASE_NUMBER === undefined ? part : (at) => at === SINGLE_PERMISSION_CASE_NUMBER;
  for (
    let from = 0;
    from < PERMISSION_CASE_COUNT && tally.differences.length < MAX_DIFFERENCES;
    from += CASES_PER_PERMISSION_SERVICE
  ) {
    await inWorld(
      ask,
      start,
      isSelected,
      PERMISSION_CASES_SEED + from / CASES_PER_PERMISSION_SERVICE,
      Math.min(CASES_PER_PERMISSION_SERVICE, PERMISSION_CASE_COUNT - from),
      tally,
    );
  }
  if (process.env.PERMISSION_TELL) console.log(tally.kinds, tally.skippedBecause);
  return tally;
}

async function inWorld(
  ask: RunPermissionCase,
  start: (seed: number) => Promise<PermissionTestService>,
  isSelected: IsCaseSelected,
  seed: number,
  cases: number,
  tally: PermissionCaseTally,
): Promise<void> {
  const world = await start(seed);
  try {
    for (const [number, person] of world.people.entries()) {
      const mine = Array.from({ length: cases }, (_, at) => at).filter(
        (at) => Math.floor(at / 5) % world.people.length === number && isSelected(at),
      );
      if (mine.length === 0) continue;
      await person.enter?.();
      const reads = mine.filter((at) => !isWriteCase(at));
      for (let from = 0; from < reads.length; from += CONCURRENT_READS)
        await Promise.all(
          reads.slice(from, from + CONCURRENT_READS).map((at) => run(ask, world, person, seed, at, tally)),
        );
      for (const at of mine.filter(isWriteCase)) await run(ask, world, person, seed, at, tally);
      if (tally.differences.length >= MAX_DIFFERENCES) return;
    }
  } finally {
    await world.stop();
  }
}

async function run(
  ask: RunPermissionCase,
  world: PermissionTestService,
  person: TestPerson,
  seed: number,
  at: number,
  tally: PermissionCaseTally,
): Promise<void> {
  const testCase = drawCase(seed, at, world, person);
  const first = await ask(world, person, testCase, at).catch((error: unknown) => {
    throw new Error(`PERMISSION_SEED=${seed} PERMISSION_CASE=${at}: ${JSON.stringify(testCase)}`, { cause: error });
  });
  const { differs, refused, about, skippedBecause } = first;
  tally.cases++;
  if (skippedBecause !== undefined)
    return void tally.skippedBecause.set(skippedBecause, (tally.skippedBecause.get(skippedBecause) ?? 0) + 1);
  for (const kind of about) {
    const count = tally.kinds.get(kind) ?? { done: 0, refused: 0 };
    tally.kinds.set(kind, count);
    count[refused ? 'refused' : 'done']++;
  }
  if (differs && tally.differences.length < MAX_DIFFERENCES)
    tally.differences.push(await describeDifference(ask, world, person, testCase, first, seed, at));
}

/** Describes a difference: the smallest request that shows it, the permissions, both answers, and how to run the case again. */
async function describeDifference(
  ask: RunPermissionCase,
  world: PermissionTestService,
  person: TestPerson,
  testCase: DrawnCase,
  first: CaseOutcome,
  seed: number,
  at: number,
): Promise<string> {
  const small = await shrinkFailingCase(
    testCase,
    async (one) => isValidCase(one) && (await ask(world, person, one, at)).differs,
  );
  const again = await ask(world, person, small, at);
  const names = findRequestTables(small);
  const { actual, expected } = again.differs ? again : first;
  return [
    `PERMISSION_SEED=${seed} PERMISSION_CASE=${at}: ${person.about}`,
    ...person.stored
      .filter(({ action, collection }) => (action === 'read' || testCase.kind === 'write') && names.has(collection))
      .map((grant) => `  ${JSON.stringify(grant)}`),
    `${again.differs ? '' : '(but not a second time) '}asked    ${JSON.stringify(small)}`,
    `answered ${JSON.stringify(actual)}`,
    `expected ${JSON.stringify(expected)}`,
  ].join('\n');
}
