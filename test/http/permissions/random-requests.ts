import { isDeepStrictEqual } from 'node:util';
import { createSeededRandom } from '../../support/random.ts';
import type { HttpReply } from '../../support/send.ts';
import { parseKeyColumns, renderRowKey } from './keys.ts';
import {
  COLLECTION_NAMES,
  CREATABLE_COLLECTION_NAMES,
  collectionPathOf,
  PERMISSION_TEST_MODEL,
  SYSTEM_COLLECTION_NAMES,
} from './permission-test-collections.ts';
import type { PermissionTestService, TestPerson } from './permission-test-service.ts';
import { buildSearchMethodQuery, createQueryGenerator, fieldPathsOf, renderDeepParameter } from './query-generator.ts';
import { ReferenceReadExecutor } from './reference-reads.ts';
import {
  type FieldTree,
  type ListRequest,
  type PermissionTestModel,
  type PermissionTestRow,
  ReferenceRefusalError,
} from './reference-types.ts';
import { ReferenceWriteExecutor, type TestWriteRequest } from './reference-writes.ts';
import { buildRowSignatures, changedCollections, roundNumbers } from './row-signatures.ts';
import { createWriteGenerator } from './write-generator.ts';

/** A random request for the comparison of the service with the in-memory reference: a list, one row by its key, or a write. */
export type DrawnCase =
  | { readonly kind: 'list'; readonly collection: string; readonly request: ListRequest }
  | {
      readonly kind: 'one';
      readonly collection: string;
      readonly request: Pick<ListRequest, 'fields' | 'deep'>;
      readonly key: unknown;
    }
  | {
      readonly kind: 'write';
      readonly collection: string;
      readonly write: TestWriteRequest;
      readonly fields: FieldTree;
    };

/** The actual and the expected answer of a case. */
export interface CaseOutcome {
  readonly differs: boolean;
  readonly refused: boolean;
  /** What the case covers, for the statistics: its verb, the kinds of its parameters, and the kinds of related writes. */
  readonly about: readonly string[];
  readonly actual: unknown;
  readonly expected: unknown;
  /** The reason why GraphQL cannot express the case, which is then skipped. */
  readonly skippedBecause?: string;
}

const of = (collection: string) => PERMISSION_TEST_MODEL[collection] as PermissionTestModel[string];
const keyIn = (collection: string, row: PermissionTestRow): unknown => renderRowKey(of(collection), row);

/** The keys of a request: every second composite key as an object of its columns, the others as texts. */
const alternateKeyForms = (collection: string, keys: readonly unknown[]): readonly unknown[] =>
  keys.map((key, at) => (of(collection).key.length > 1 && at % 2 === 1 ? parseKeyColumns(of(collection), key) : key));

/** Draws case number `at`. Each case has its own seed, so that it can be repeated without the cases before it. */
export function drawCase(seed: number, at: number, { rows }: PermissionTestService, person: TestPerson): DrawnCase {
  const random = createSeededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(at + 1, 0xc2b2ae35));
  const { one, chance } = random;
  const draw = createQueryGenerator(random);
  // Collections on which the person has several permissions for the action, each with its own fields and rows.
  const mixed = SYSTEM_COLLECTION_NAMES.filter(
    (name) =>
      (person.callerPermissions.permissions.get(`${name} ${isWriteCase(at) ? 'update' : 'read'}`)?.length ?? 0) > 1,
  );
  const isMixed = mixed.length > 0 && chance(0.35);
  if (isWriteCase(at)) {
    const collection = isMixed
      ? one(mixed)
      : chance(0.06)
        ? 'users'
        : one([...CREATABLE_COLLECTION_NAMES, 'task', 'task', 'task_tag']);
    const isWritable = (name: string, action: 'create' | 'update') => {
      const { callerPermissions } = person;
      const fields = callerPermissions.permissions.get(`${name} ${action}`)?.flatMap((grant) => grant.fields) ?? [];
      return (field: string) => callerPermissions.admin || fields.includes('*') || fields.includes(field);
    };
    const write = createWriteGenerator(random, draw).drawWrite(collection, rows, isWritable);
    return { kind: 'write', collection, write, fields: draw.drawFields(collection, 1) };
  }
  const collection = isMixed ? one(mixed) : one([...COLLECTION_NAMES, ...CREATABLE_COLLECTION_NAMES]);
  if (chance(0.12)) {
    const fields = draw.drawFields(collection, 2);
    const deep = chance(0.4) ? draw.drawDeep(collection, fields) : undefined;
    return {
      kind: 'one',
      collection,
      request: { fields, ...(deep ? { deep } : {}) },
      key: keyIn(collection, one(rows[collection] as PermissionTestRow[])),
    };
  }
  const request = draw.drawListRequest(collection);
  if (request.aggregate || request.groupBy || chance(0.9)) return { kind: 'list', collection, request };
  const keys = [
    ...new Set(Array.from({ length: 4 }, () => keyIn(collection, one(rows[collection] as PermissionTestRow[])))),
  ];
  const { sort: _, limit: __, offset: ___, ...rest } = request;
  return { kind: 'list', collection, request: { ...rest, keys } };
}

/** Whether case number `at` is a write: two of five are. */
export const isWriteCase = (at: number): boolean => at % 5 > 2;

/** Whether a shrunk case is still a valid request. */
export function isValidCase(testCase: DrawnCase): boolean {
  const areFields = (fields: FieldTree | undefined): boolean =>
    fields !== undefined &&
    Object.keys(fields).length > 0 &&
    Object.values(fields).every((more) => more === true || areFields(more));
  const { kind, collection } = testCase;
  if (!kind || !collection || !areFull(testCase)) return false;
  if (kind !== 'write') return areFields(testCase.request?.fields) && (kind !== 'one' || testCase.key !== undefined);
  const { write } = testCase;
  if (!write?.verb || !areFields(testCase.fields)) return false;
  switch (write.verb) {
    case 'create':
      return (write.rows ?? []).length > 0;
    case 'update each':
      return (
        (write.rows ?? []).length > 0 &&
        write.rows.every((row) => of(collection).key.every((name) => row[name] !== undefined))
      );
    case 'update':
      return (write.keys ?? []).length > 0 && write.data !== undefined;
    case 'update found':
      return write.query !== undefined && write.data !== undefined;
    case 'delete':
      return (write.keys ?? []).length > 0;
    case 'delete found':
      return write.query !== undefined;
  }
}

/** Whether no list of operands, groups or aggregated fields is empty. */
function areFull(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, one]) => {
    if (name === 'aggregate' && Object.keys(one).length === 0) return false;
    if (Array.isArray(one) && one.length === 0 && /^_n?in$|between$|^groupBy$/.test(name)) return false;
    if (name === 'aggregate' && Object.values(one).some((fields) => (fields as string[]).length === 0)) return false;
    return areFull(one);
  });
}

export type CaseComparison = Omit<CaseOutcome, 'about'> & { readonly steps?: Iterable<string> };

export async function runDrawnCaseByRest(
  world: PermissionTestService,
  person: TestPerson,
  testCase: DrawnCase,
): Promise<CaseOutcome> {
  const result = await (testCase.kind === 'write'
    ? runWrite(world, person, testCase)
    : runRead(world, person, testCase));
  return addCaseCoverage(testCase, result);
}

/** Adds to the result of a case which verb and kinds of parameters it covers. */
export function addCaseCoverage(testCase: DrawnCase, result: CaseComparison): CaseOutcome {
  const verb = testCase.kind === 'write' ? testCase.write.verb : testCase.kind;
  const text = JSON.stringify(testCase);
  const composite = of(testCase.collection).key.length > 1 ? [`composite ${verb}`] : [];
  const parts = testCase.kind === 'write' ? [] : QUERY_PARAMETER_KINDS.filter((part) => text.includes(part));
  return { ...result, about: [verb, ...composite, ...parts, ...(result.steps ?? [])] };
}

/** Kinds of parameters, as they appear in the JSON text of a request. */
export const QUERY_PARAMETER_KINDS = [
  'filter',
  'search',
  'sort',
  'deep',
  'aggregate',
  'groupBy',
  '"keys"',
  'count(',
  'year(',
  'item:',
  '$FOLLOW',
  '$CURRENT_USER.',
  '_some',
  '_none',
] as const;

const REFUSED = { status: 403, code: 'FORBIDDEN' };
const refusal = ({ status, body }: HttpReply) => ({ status, code: body?.errors?.[0]?.extensions?.code });

async function runRead(
  world: PermissionTestService,
  person: TestPerson,
  testCase: Exclude<DrawnCase, { kind: 'write' }>,
): Promise<CaseComparison> {
  const { collection } = testCase;
  const { token, callerPermissions } = person;
  const reference = new ReferenceReadExecutor(PERMISSION_TEST_MODEL, world.rows, callerPermissions);
  const expected = answerUnlessRefused(() => {
    if (testCase.kind === 'list') {
      const { data, total, filtered } = reference.list(collection, testCase.request);
      return { data, meta: { total_count: total, filter_count: filtered } };
    }
    const row = world.rows[collection]?.find((one) => keyIn(collection, one) === testCase.key);
    const data = row && reference.single(collection, testCase.request, row);
    if (!data) throw new ReferenceRefusalError();
    return { data };
  });
  const reply =
    testCase.kind === 'list'
      ? await world.service.request('SEARCH', collectionPathOf(collection), {
          token,
          body: {
            query: buildSearchMethodQuery(testCase.request),
            ...(testCase.request.keys ? { keys: alternateKeyForms(collection, testCase.request.keys) } : {}),
          },
        })
      : await world.service.request(
          'GET',
          `${collectionPathOf(collection)}/${testCase.key}?${oneText(testCase.request)}`,
          {
            token,
          },
        );
  if (!expected) return compareAnswer(true, refusal(reply), REFUSED);
  return compareAnswer(false, reply.status === 200 ? roundNumbers(reply.body) : refusal(reply), roundNumbers(expected));
}

const oneText = ({ fields, deep }: Pick<ListRequest, 'fields' | 'deep'>): string =>
  new URLSearchParams({
    fields: fieldPathsOf(fields).join(','),
    ...(deep ? { deep: JSON.stringify(renderDeepParameter(deep)) } : {}),
  }).toString();

async function runWrite(
  world: PermissionTestService,
  person: TestPerson,
  testCase: Extract<DrawnCase, { kind: 'write' }>,
): Promise<CaseComparison> {
  const { collection, write, fields } = testCase;
  const writes = new ReferenceWriteExecutor(PERMISSION_TEST_MODEL, world.rows, person.callerPermissions);
  const keys = answerUnlessRefused(() => writes.run(collection, write));
  const reply = await send(world, person, testCase);
  const after = await world.load();
  const changed = changedCollections(world.rows, after);
  if (changed.length > 0) await world.restore(changed);
  if (!keys) {
    const isRefused = reply.status === 403 || reply.status === 400;
    return compareAnswer(true, { ...(isRefused ? {} : refusal(reply)), changed }, { changed: [] });
  }
  if (reply.status >= 300) return compareAnswer(false, refusal(reply), { status: 200 });
  const [storedRows, expectedRows] = [
    buildRowSignatures(after, world.rows),
    buildRowSignatures(writes.rows, world.rows),
  ];
  if (!isDeepStrictEqual(storedRows.all, expectedRows.all))
    return compareAnswer(
      false,
      missingRows(storedRows.all, expectedRows.all),
      missingRows(expectedRows.all, storedRows.all),
    );
  if (write.verb.startsWith('delete')) return compareAnswer(false, refusal(reply), { status: 204, code: undefined });

  // The answer may show any of the stored rows with equal values, since the database and the reference generate different keys.
  const now = new ReferenceReadExecutor(PERMISSION_TEST_MODEL, after, person.callerPermissions);
  const options = keys.map((key) => {
    const mark = expectedRows.of(collection, key);
    const alike = (after[collection] ?? []).filter((row) => storedRows.of(collection, keyIn(collection, row)) === mark);
    return alike.flatMap((row) => answerUnlessRefused(() => now.single(collection, { fields }, row)) ?? []);
  });
  const { steps } = writes;
  const isSingle = isSingleWrite(write);
  const expected = isSingle ? options[0]?.slice(0, 1) : options.flatMap((alike) => alike.slice(0, 1));
  const isClosed = now.of(collection, 'read').length === 0 || (isSingle && expected?.length === 0);
  if (isClosed)
    return {
      ...compareAnswer(false, { status: reply.status, body: reply.body }, { status: 204, body: undefined }),
      steps,
    };
  const got: unknown[] = isSingle ? [reply.body?.data] : (reply.body?.data ?? []);
  const shown = options.filter((alike) => alike.length > 0);
  const fits =
    got.length === shown.length &&
    got.every((one, at) => shown[at]?.some((alike) => isDeepStrictEqual(roundNumbers(alike), one)));
  return fits ? { ...compareAnswer(false, {}, {}), steps } : compareAnswer(false, { data: got }, { data: expected });
}

export const isSingleWrite = (write: TestWriteRequest): boolean =>
  (write.verb === 'create' && write.rows.length === 1) || (write.verb === 'update' && write.keys.length === 1);

function send(
  { service }: PermissionTestService,
  { token }: TestPerson,
  { collection, write, fields }: Extract<DrawnCase, { kind: 'write' }>,
) {
  const path = collectionPathOf(collection);
  const shape = `?${new URLSearchParams({ fields: fieldPathsOf(fields).join(',') })}`;
  switch (write.verb) {
    case 'create':
      return service.request('POST', path + shape, {
        token,
        body: write.rows.length === 1 ? write.rows[0] : write.rows,
      });
    case 'update':
      return write.keys.length === 1
        ? service.request('PATCH', `${path}/${write.keys[0]}${shape}`, { token, body: write.data })
        : service.request('PATCH', path + shape, {
            token,
            body: { keys: alternateKeyForms(collection, write.keys), data: write.data },
          });
    case 'update each':
      return service.request('PATCH', path + shape, { token, body: write.rows });
    case 'update found':
      return service.request('PATCH', path + shape, { token, body: { query: write.query, data: write.data } });
    case 'delete':
      return write.keys.length === 1
        ? service.request('DELETE', `${path}/${write.keys[0]}`, { token })
        : service.request('DELETE', path, { token, body: alternateKeyForms(collection, write.keys) });
    case 'delete found':
      return service.request('DELETE', path, { token, body: { query: write.query } });
  }
}

export const compareAnswer = (refused: boolean, answered: unknown, expected: unknown): CaseComparison => ({
  refused,
  actual: answered,
  expected,
  differs: !isDeepStrictEqual(answered, expected),
});

export const missingRows = (all: readonly string[], others: readonly string[]) => ({
  rows: all.filter((one) => !others.includes(one)),
});

/** The result of `work`; undefined if it throws `Refused`, by which the reference rejects a request. */
export function answerUnlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ReferenceRefusalError) return undefined;
    throw error;
  }
}
