import { type Case, drawCase, isSound, isWrite, type Outcome } from './cases.ts';
import { mentioned } from './model.ts';
import { shrink } from './shrink.ts';
import { createWorld, type Someone, type World } from './world.ts';

/** Cases of one world: some forty people of as many roles. */
export const A_WORLD = 5_200;
export const SEED = Number(process.env.PERMISSION_SEED ?? 20261121);
/** One case alone, as a difference names it. */
export const ONLY = process.env.PERMISSION_CASE === undefined ? undefined : Number(process.env.PERMISSION_CASE);
export const CASES = ONLY === undefined ? Number(process.env.PERMISSION_CASES ?? A_WORLD) : A_WORLD;
const MAX_TOLD = 10;
const AT_ONCE = 8;

export interface Tally {
  cases: number;
  /** By verb and by what the question is made of: how many were done and how many refused. */
  readonly kinds: Map<string, { done: number; refused: number }>;
  /** How many were not asked, by reason. */
  readonly unasked: Map<string, number>;
  readonly differences: string[];
}

/** Asks one question of one person, and knows what should be answered. */
export type Ask = (world: World, someone: Someone, asked: Case, at: number) => Promise<Outcome>;

/** The cases that are asked; a case alone is asked in any case. */
export type Part = (at: number) => boolean;

/** One of so many groups of five, the next one each time: a case's number also decides how it is asked. */
const oneOf = (count: number, at: number) => Math.floor(at / 5) % count === Math.floor(at / 5 / count) % count;

/** Cases of every person and of all kinds: a quarter of what is read, and half of what is written, whose kinds are rarer. */
export const FEWER: Part = (at) => oneOf(isWrite(at) ? 2 : 4, at);

/** All cases of a part, world by world, asked in one way. */
export async function runMatrix(ask: Ask, part: Part = () => true): Promise<Tally> {
  const tally: Tally = { cases: 0, kinds: new Map(), unasked: new Map(), differences: [] };
  const isAsked: Part = ONLY === undefined ? part : (at) => at === ONLY;
  for (let from = 0; from < CASES && tally.differences.length < MAX_TOLD; from += A_WORLD) {
    await inWorld(ask, isAsked, SEED + from / A_WORLD, Math.min(A_WORLD, CASES - from), tally);
  }
  if (process.env.PERMISSION_TELL) console.log(tally.kinds, tally.unasked);
  return tally;
}

async function inWorld(ask: Ask, isAsked: Part, seed: number, cases: number, tally: Tally): Promise<void> {
  const world = await createWorld(seed);
  try {
    for (const [number, someone] of world.people.entries()) {
      const mine = Array.from({ length: cases }, (_, at) => at).filter(
        (at) => Math.floor(at / 5) % world.people.length === number && isAsked(at),
      );
      if (mine.length === 0) continue;
      await someone.enter?.();
      const reads = mine.filter((at) => !isWrite(at));
      for (let from = 0; from < reads.length; from += AT_ONCE)
        await Promise.all(reads.slice(from, from + AT_ONCE).map((at) => run(ask, world, someone, seed, at, tally)));
      for (const at of mine.filter(isWrite)) await run(ask, world, someone, seed, at, tally);
      if (tally.differences.length >= MAX_TOLD) return;
    }
  } finally {
    await world.stop();
  }
}

async function run(ask: Ask, world: World, someone: Someone, seed: number, at: number, tally: Tally): Promise<void> {
  const asked = drawCase(seed, at, world, someone);
  const first = await ask(world, someone, asked, at).catch((error: unknown) => {
    throw new Error(`PERMISSION_SEED=${seed} PERMISSION_CASE=${at}: ${JSON.stringify(asked)}`, { cause: error });
  });
  const { differs, refused, about, unasked } = first;
  tally.cases++;
  if (unasked !== undefined) return void tally.unasked.set(unasked, (tally.unasked.get(unasked) ?? 0) + 1);
  for (const kind of about) {
    const count = tally.kinds.get(kind) ?? { done: 0, refused: 0 };
    tally.kinds.set(kind, count);
    count[refused ? 'refused' : 'done']++;
  }
  if (differs && tally.differences.length < MAX_TOLD)
    tally.differences.push(await told(ask, world, someone, asked, first, seed, at));
}

/** Who, by what rules, asked what, and both answers: small, and with what it takes to ask again. */
async function told(
  ask: Ask,
  world: World,
  someone: Someone,
  asked: Case,
  first: Outcome,
  seed: number,
  at: number,
): Promise<string> {
  const small = await shrink(asked, async (one) => isSound(one) && (await ask(world, someone, one, at)).differs);
  const again = await ask(world, someone, small, at);
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
