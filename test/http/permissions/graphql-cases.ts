import { isDeepStrictEqual } from 'node:util';
import { documentOf, Inexpressible, type Root, Variable } from '../../plugins/graphql/cases/entries.ts';
import { inForm } from '../../plugins/graphql/cases/form.ts';
import type { Reply } from '../../support/send.ts';
import { answer, type Case, isOne, less, type Outcome, outcome, type Result, told } from './cases.ts';
import { changedIn, rounded, signed } from './compare.ts';
import { groupsOf } from './graphql-groups.ts';
import { keyArgument, mutationOf } from './graphql-mutations.ts';
import { linksBare, writeInWords } from './graphql-payloads.ts';
import { Questions } from './graphql-reads.ts';
import { Sight } from './graphql-sight.ts';
import { keyColumns, keyText } from './keys.ts';
import { isSystem, MODEL, tableOf } from './model.ts';
import { Reference } from './reading.ts';
import type { Filter, Model, Row } from './shapes.ts';
import type { Someone, World } from './world.ts';
import { Writes } from './writing.ts';

/** A question of the matrix, asked by GraphQL. `bold` ones name what that person's schema has not. */
export async function askByGraphql(world: World, someone: Someone, asked: Case, at: number): Promise<Outcome> {
  const questions = new Questions(new Sight(MODEL, world.rows, someone.eyes), at % 4 === 0);
  // Half of the values stand in the document, half beside it.
  const aside = at % 2 === 0;
  try {
    const result = await (asked.kind === 'write'
      ? runWrite(world, someone, asked, questions, aside)
      : runRead(world, someone, asked, questions, aside));
    const { about, ...rest } = told(asked, result);
    return { ...rest, about: questions.hidden ? [...about, 'hidden'] : about };
  } catch (error) {
    if (!(error instanceof Inexpressible)) throw error;
    return { ...told(asked, outcome(false, {}, {})), unasked: error.reason };
  }
}

type Read = Exclude<Case, { kind: 'write' }>;
type Question = Pick<World, 'service'> & { readonly someone: Someone; readonly collection: string };

const REFUSED = 'refused';

const of = (collection: string) => MODEL[collection] as Model[string];
const keyIn = (collection: string, row: Row): unknown => keyText(of(collection), row);

/** A filter for the rows of these keys. */
function amongKeys(collection: string, keys: readonly unknown[]): Filter {
  const { key } = of(collection);
  if (key.length === 1) return { [key[0] as string]: { _in: keys } };
  const columns = keys.map((one) => Object.entries(keyColumns(of(collection), one)));
  return { _or: columns.map((one) => ({ _and: one.map(([name, value]) => ({ [name]: { _eq: value } })) })) };
}

async function runRead(
  world: World,
  someone: Someone,
  asked: Read,
  questions: Questions,
  aside: boolean,
): Promise<Result> {
  const { collection } = asked;
  const { root, expected } = saidRead(world, someone, asked, questions);
  const { args, of = [] } = root;
  const filter = args?.filter;
  const moved = aside && filter ? { ...args, filter: new Variable(`${tableOf(collection)}_filter`, filter) } : args;
  const found = { service: world.service, someone, collection };
  const reply = await send(found, 'query', { ...root, args: moved ?? {} });
  if (questions.hidden || !questions.sight.opens(collection)) return outcome(true, isUnknown(reply), REFUSED);
  if (expected === undefined)
    return outcome(true, isUnknown(reply) === REFUSED ? REFUSED : isForbidden(reply), REFUSED);
  const form = rounded(JSON.parse(inForm(JSON.stringify(expected), of)));
  return outcome(false, isAnswered(reply) ? rounded(reply.body.data[root.field]) : problem(reply), form);
}

/** The root field, and what REST would answer; undefined where it has to be refused. */
function saidRead(
  world: World,
  someone: Someone,
  asked: Read,
  questions: Questions,
): { readonly root: Root; readonly expected: object | undefined } {
  const { collection } = asked;
  const name = collection;
  const reference = new Reference(MODEL, world.rows, someone.eyes);
  if (asked.kind === 'one') {
    const { nested, deep, entries } = questions.shown(collection, asked.asked.fields, asked.asked.deep);
    const row = world.rows[collection]?.find((one) => keyIn(collection, one) === asked.key);
    const expected = answer(() => row && reference.single(collection, { fields: nested, deep }, row));
    return {
      root: { field: `${name}_by_id`, args: { id: keyArgument(collection, asked.key) }, of: entries },
      expected,
    };
  }
  if (asked.asked.aggregate || asked.asked.groupBy) {
    const groups = groupsOf(questions, collection, asked.asked);
    const expected = answer(() => reference.list(collection, { fields: {}, ...groups.asked }).data);
    return { root: { field: `${name}_aggregated`, args: groups.args, of: groups.entries }, expected };
  }
  const { nested, deep, entries } = questions.shown(collection, asked.asked.fields, asked.asked.deep);
  const { keys, sort, ...rest } = asked.asked;
  // There are no keys in place of a filter.
  const filter = keys ? { _and: [rest.filter ?? {}, amongKeys(collection, keys)] } : rest.filter;
  const list = sort === undefined ? {} : { sort: [sort].flat() };
  const terms = questions.terms(collection, { ...rest, ...list, ...(filter ? { filter } : {}) });
  const expected = answer(() => reference.list(collection, { fields: nested, deep, ...terms }).data);
  return {
    root: { field: name, args: { ...questions.argumentsOf(terms), limit: terms.limit ?? -1 }, of: entries },
    expected,
  };
}

async function runWrite(
  world: World,
  someone: Someone,
  asked: Extract<Case, { kind: 'write' }>,
  questions: Questions,
  aside: boolean,
): Promise<Result> {
  const { collection } = asked;
  const write = writeInWords(questions, collection, asked.write);
  const { entries, nested } = new Questions(questions.sight, false).shown(collection, asked.fields);
  const isShown = questions.sight.opens(collection);
  const root = mutationOf(collection, write, isShown ? entries : undefined, aside);
  const writes = new Writes(MODEL, world.rows, someone.eyes);
  const keys = answer(() => writes.run(collection, linksBare(questions, write, collection)));
  const reply = await send({ service: world.service, someone, collection }, 'mutation', root);
  const after = await world.load();
  const changed = changedIn(world.rows, after);
  if (changed.length > 0) await world.restore(changed);
  if (questions.hidden) return outcome(true, { answer: isUnknown(reply), changed }, { answer: REFUSED, changed: [] });
  if (!keys) return outcome(true, { ...(isAnswered(reply) ? problem(reply) : {}), changed }, { changed: [] });
  if (!isAnswered(reply)) return outcome(false, problem(reply), {});
  const [made, wanted] = [signed(after, world.rows), signed(writes.rows, world.rows)];
  if (!isDeepStrictEqual(made.all, wanted.all))
    return outcome(false, less(made.all, wanted.all), less(wanted.all, made.all));
  const { steps } = writes;
  const got = reply.body.data[root.field];
  // What is gone is told in no order.
  if (write.verb === 'delete') return { ...outcome(false, sortedIds(got), sortedIds(goneOf(keys, write.keys))), steps };
  if (!isShown) return { ...outcome(false, got, true), steps };

  // What of the written rows is shown: any row that says the same will do, since keys are the database's own.
  const now = new Reference(MODEL, after, someone.eyes);
  const options = keys.map((key) => {
    const mark = wanted.of(collection, key);
    const alike = (after[collection] ?? []).filter((row) => made.of(collection, keyIn(collection, row)) === mark);
    return alike.flatMap((row: Row) => {
      const shown = answer(() => now.single(collection, { fields: nested }, row));
      return shown ? [rounded(JSON.parse(inForm(JSON.stringify(shown), entries)))] : [];
    });
  });
  const shown = options.filter((alike) => alike.length > 0);
  const all: unknown[] = isOne(write) ? (got === null ? [] : [got]) : got;
  const fits =
    all.length === shown.length &&
    all.every((one, place) => shown[place]?.some((alike) => isDeepStrictEqual(alike, one)));
  return fits ? { ...outcome(false, {}, {}), steps } : outcome(false, { data: got }, { data: options });
}

const goneOf = (keys: readonly unknown[], asked: readonly unknown[]) =>
  asked.length === 1 ? { id: String(keys[0]) } : { ids: keys.map(String) };

const sortedIds = ({ ids, ...rest }: { readonly ids?: readonly string[] }) => ({
  ...rest,
  ...(ids ? { ids: [...ids].sort() } : {}),
});

function send({ service, someone, collection }: Question, operation: 'query' | 'mutation', root: Root): Promise<Reply> {
  const { text, variables } = documentOf(operation, [root]);
  const path = isSystem(collection) ? '/graphql/system' : '/graphql';
  return service.request('POST', path, { token: someone.token, body: { query: text, variables } });
}

const codesOf = ({ body }: Reply): readonly unknown[] => (body?.errors ?? []).map((one: Loose) => one.extensions?.code);
// biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
type Loose = any;

/** Refused before anything ran, since the schema has no such thing. */
const isUnknown = (reply: Reply): unknown =>
  reply.status === 400 && codesOf(reply).includes('GRAPHQL_VALIDATION_EXCEPTION') ? REFUSED : problem(reply);

const isForbidden = (reply: Reply): unknown =>
  reply.status === 200 && codesOf(reply).length > 0 && codesOf(reply).every((code) => code === 'FORBIDDEN')
    ? REFUSED
    : problem(reply);

const isAnswered = (reply: Reply): boolean => reply.status === 200 && codesOf(reply).length === 0;

const problem = ({ status, body }: Reply) => ({ status, body });
