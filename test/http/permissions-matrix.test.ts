import { expect } from 'chai';
import { type Case, drawCase, isSound, isWrite, type Outcome, PARTS, runCase } from './permissions/cases.ts';
import { mentioned } from './permissions/model.ts';
import { shrink } from './permissions/shrink.ts';
import { createWorld, type Someone, type World } from './permissions/world.ts';

/** Cases of one world: some forty people of as many roles. */
const A_WORLD = 5_200;
const SEED = Number(process.env.PERMISSION_SEED ?? 20261121);
/** One case alone, as a difference names it. */
const ONLY = process.env.PERMISSION_CASE === undefined ? undefined : Number(process.env.PERMISSION_CASE);
const CASES = ONLY === undefined ? Number(process.env.PERMISSION_CASES ?? A_WORLD) : A_WORLD;
const MAX_TOLD = 10;
const AT_ONCE = 8;

const VERBS = ['list', 'one', 'create', 'update', 'update each', 'update found', 'delete', 'delete found'];
const KINDS = [
  ...VERBS,
  ...PARTS,
  ...['to-one create', 'to-one update', 'to-one link', 'to-many create', 'to-many update', 'to-many link'],
  ...['deselect by nullify', 'deselect by delete'],
];

interface Tally {
  cases: number;
  /** By verb and by what the question is made of: how many were done and how many refused. */
  readonly kinds: Map<string, { done: number; refused: number }>;
  readonly differences: string[];
}

describe('every answer agrees with a plain evaluation of the permissions', () => {
  it(`in ${ONLY === undefined ? `${CASES} generated cases` : `case ${ONLY}`}, seed ${SEED}`, async function () {
    this.timeout(Math.max(180_000, CASES * 100));
    const tally: Tally = { cases: 0, kinds: new Map(), differences: [] };
    for (let from = 0; from < CASES && tally.differences.length < MAX_TOLD; from += A_WORLD) {
      await inWorld(SEED + from / A_WORLD, Math.min(A_WORLD, CASES - from), tally);
    }
    if (process.env.PERMISSION_TELL) console.log(tally.kinds);
    console.log(`      ${tally.cases} permission cases, ${tally.differences.length} differences`);
    expect(tally.differences, `\n${tally.differences.join('\n\n')}\n`).to.have.length(0);
    // A matrix in which everything is refused, or nothing, would show nothing.
    expect(tally.cases).to.equal(ONLY === undefined ? CASES : 1);
    if (ONLY !== undefined || CASES < A_WORLD) return;
    for (const kind of KINDS) expect(tally.kinds.get(kind)?.done, `${kind}: done`).to.be.greaterThan(2);
    for (const verb of VERBS) expect(tally.kinds.get(verb)?.refused, `${verb}: refused`).to.be.greaterThan(20);
  });
});

async function inWorld(seed: number, cases: number, tally: Tally): Promise<void> {
  const world = await createWorld(seed);
  try {
    for (const [number, someone] of world.people.entries()) {
      const mine = Array.from({ length: cases }, (_, at) => at).filter(
        (at) => Math.floor(at / 5) % world.people.length === number && (ONLY === undefined || at === ONLY),
      );
      if (mine.length === 0) continue;
      await someone.enter?.();
      const reads = mine.filter((at) => !isWrite(at));
      for (let from = 0; from < reads.length; from += AT_ONCE)
        await Promise.all(reads.slice(from, from + AT_ONCE).map((at) => run(world, someone, seed, at, tally)));
      for (const at of mine.filter(isWrite)) await run(world, someone, seed, at, tally);
      if (tally.differences.length >= MAX_TOLD) return;
    }
  } finally {
    await world.stop();
  }
}

async function run(world: World, someone: Someone, seed: number, at: number, tally: Tally): Promise<void> {
  const asked = drawCase(seed, at, world, someone);
  const first = await runCase(world, someone, asked).catch((error: unknown) => {
    throw new Error(`PERMISSION_SEED=${seed} PERMISSION_CASE=${at}: ${JSON.stringify(asked)}`, { cause: error });
  });
  const { differs, refused, about } = first;
  for (const kind of about) {
    const count = tally.kinds.get(kind) ?? { done: 0, refused: 0 };
    tally.kinds.set(kind, count);
    count[refused ? 'refused' : 'done']++;
  }
  tally.cases++;
  if (differs && tally.differences.length < MAX_TOLD)
    tally.differences.push(await told(world, someone, asked, first, seed, at));
}

/** Who, by what rules, asked what, and both answers: small, and with what it takes to ask again. */
async function told(
  world: World,
  someone: Someone,
  asked: Case,
  first: Outcome,
  seed: number,
  at: number,
): Promise<string> {
  const small = await shrink(asked, async (one) => isSound(one) && (await runCase(world, someone, one)).differs);
  const again = await runCase(world, someone, small);
  const names = mentioned(small);
  const { answer, expected } = again.differs ? again : first;
  return [
    `PERMISSION_SEED=${seed} PERMISSION_CASE=${at}: ${someone.about}`,
    ...someone.stored
      .filter(({ action, collection }) => (action === 'read' || asked.kind === 'write') && names.has(collection))
      .map((grant) => `  ${JSON.stringify(grant)}`),
    `${again.differs ? '' : '(but not a second time) '}asked    ${JSON.stringify(small)}`,
    `answered ${JSON.stringify(answer)}`,
    `expected ${JSON.stringify(expected)}`,
  ].join('\n');
}
