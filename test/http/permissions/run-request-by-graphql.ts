import { isDeepStrictEqual } from 'node:util';
import {
  type DocumentRootField,
  GraphqlVariableValue,
  InexpressibleInGraphqlError,
  renderGraphqlDocument,
} from '../../plugins/graphql/cases/document-entries.ts';
import { toGraphqlAnswer } from '../../plugins/graphql/cases/rest-to-graphql-answer.ts';
import type { HttpReply } from '../../support/send.ts';
import { ExpectedGraphqlSchema } from './expected-graphql-schema.ts';
import { translateGroupedReadToGraphql } from './graphql-aggregate-translation.ts';
import { buildMutationRootField, toGraphqlKeyArgument } from './graphql-mutations.ts';
import { toMutationWrite, withBareRelatedKeys } from './graphql-payloads.ts';
import { GraphqlTranslator } from './graphql-translator.ts';
import { parseKeyColumns, renderRowKey } from './keys.ts';
import { isSystemCollection, PERMISSION_TEST_MODEL, tableNameOfCollection } from './permission-test-collections.ts';
import type { PermissionTestService, TestPerson } from './permission-test-service.ts';
import {
  addCaseCoverage,
  answerUnlessRefused,
  type CaseComparison,
  type CaseOutcome,
  compareAnswer,
  type DrawnCase,
  isSingleWrite,
  missingRows,
} from './random-requests.ts';
import { ReferenceReadExecutor } from './reference-reads.ts';
import type { PermissionTestFilter, PermissionTestModel, PermissionTestRow } from './reference-types.ts';
import { ReferenceWriteExecutor } from './reference-writes.ts';
import { buildRowSignatures, changedCollections, roundNumbers } from './row-signatures.ts';

/** Runs a drawn case by GraphQL. Every fourth case also names fields that the schema of the person does not have. */
export async function runDrawnCaseByGraphql(
  world: PermissionTestService,
  person: TestPerson,
  testCase: DrawnCase,
  at: number,
): Promise<CaseOutcome> {
  const translator = new GraphqlTranslator(
    new ExpectedGraphqlSchema(PERMISSION_TEST_MODEL, world.rows, person.callerPermissions),
    at % 4 === 0,
  );
  // Half of the cases send values as variables.
  const useVariables = at % 2 === 0;
  try {
    const result = await (testCase.kind === 'write'
      ? runWrite(world, person, testCase, translator, useVariables)
      : runRead(world, person, testCase, translator, useVariables));
    const { about, ...rest } = addCaseCoverage(testCase, result);
    return { ...rest, about: translator.hidden ? [...about, 'hidden'] : about };
  } catch (error) {
    if (!(error instanceof InexpressibleInGraphqlError)) throw error;
    return { ...addCaseCoverage(testCase, compareAnswer(false, {}, {})), skippedBecause: error.reason };
  }
}

type Read = Exclude<DrawnCase, { kind: 'write' }>;
type GraphqlTarget = Pick<PermissionTestService, 'service'> & {
  readonly person: TestPerson;
  readonly collection: string;
};

const REFUSED = 'refused';

const of = (collection: string) => PERMISSION_TEST_MODEL[collection] as PermissionTestModel[string];
const keyIn = (collection: string, row: PermissionTestRow): unknown => renderRowKey(of(collection), row);

/** A filter that matches the rows with these keys, also composite ones. */
function amongKeys(collection: string, keys: readonly unknown[]): PermissionTestFilter {
  const { key } = of(collection);
  if (key.length === 1) return { [key[0] as string]: { _in: keys } };
  const columns = keys.map((one) => Object.entries(parseKeyColumns(of(collection), one)));
  return { _or: columns.map((one) => ({ _and: one.map(([name, value]) => ({ [name]: { _eq: value } })) })) };
}

async function runRead(
  world: PermissionTestService,
  person: TestPerson,
  testCase: Read,
  translator: GraphqlTranslator,
  useVariables: boolean,
): Promise<CaseComparison> {
  const { collection } = testCase;
  const { root, expected } = toGraphqlRead(world, person, testCase, translator);
  const { args, of = [] } = root;
  const filter = args?.filter;
  const moved =
    useVariables && filter
      ? { ...args, filter: new GraphqlVariableValue(`${tableNameOfCollection(collection)}_filter`, filter) }
      : args;
  const found = { service: world.service, person: person, collection };
  const reply = await send(found, 'query', { ...root, args: moved ?? {} });
  if (translator.hidden || !translator.visibleSchema.hasReadableType(collection))
    return compareAnswer(true, isUnknown(reply), REFUSED);
  if (expected === undefined)
    return compareAnswer(true, isUnknown(reply) === REFUSED ? REFUSED : isForbidden(reply), REFUSED);
  const form = roundNumbers(JSON.parse(toGraphqlAnswer(JSON.stringify(expected), of)));
  return compareAnswer(false, isAnswered(reply) ? roundNumbers(reply.body.data[root.field]) : problem(reply), form);
}

/** Translates a read to a root field of GraphQL, with the expected answer in REST format; undefined if it must be refused. */
function toGraphqlRead(
  world: PermissionTestService,
  person: TestPerson,
  testCase: Read,
  translator: GraphqlTranslator,
): { readonly root: DocumentRootField; readonly expected: object | undefined } {
  const { collection } = testCase;
  const name = collection;
  const reference = new ReferenceReadExecutor(PERMISSION_TEST_MODEL, world.rows, person.callerPermissions);
  if (testCase.kind === 'one') {
    const { nested, deep, entries } = translator.translateFields(
      collection,
      testCase.request.fields,
      testCase.request.deep,
    );
    const row = world.rows[collection]?.find((one) => keyIn(collection, one) === testCase.key);
    const expected = answerUnlessRefused(() => row && reference.single(collection, { fields: nested, deep }, row));
    return {
      root: {
        field: `${name}_by_id`,
        args: { id: toGraphqlKeyArgument(translator.visibleSchema, collection, testCase.key) },
        of: entries,
      },
      expected,
    };
  }
  if (testCase.request.aggregate || testCase.request.groupBy) {
    const groups = translateGroupedReadToGraphql(translator, collection, testCase.request);
    const expected = answerUnlessRefused(() => reference.list(collection, { fields: {}, ...groups.request }).data);
    return { root: { field: `${name}_aggregated`, args: groups.args, of: groups.entries }, expected };
  }
  const { nested, deep, entries } = translator.translateFields(
    collection,
    testCase.request.fields,
    testCase.request.deep,
  );
  const { keys, sort, ...rest } = testCase.request;
  // GraphQL has no parameter `keys`, so the keys become a filter.
  const filter = keys ? { _and: [rest.filter ?? {}, amongKeys(collection, keys)] } : rest.filter;
  const list = sort === undefined ? {} : { sort: [sort].flat() };
  const terms = translator.parameters(collection, { ...rest, ...list, ...(filter ? { filter } : {}) });
  const expected = answerUnlessRefused(() => reference.list(collection, { fields: nested, deep, ...terms }).data);
  return {
    root: { field: name, args: { ...translator.argumentsOf(terms), limit: terms.limit ?? -1 }, of: entries },
    expected,
  };
}

async function runWrite(
  world: PermissionTestService,
  person: TestPerson,
  testCase: Extract<DrawnCase, { kind: 'write' }>,
  translator: GraphqlTranslator,
  useVariables: boolean,
): Promise<CaseComparison> {
  const { collection } = testCase;
  const write = toMutationWrite(translator, collection, testCase.write);
  const { entries, nested } = new GraphqlTranslator(translator.visibleSchema, false).translateFields(
    collection,
    testCase.fields,
  );
  const isShown = translator.visibleSchema.hasReadableType(collection);
  const root = buildMutationRootField(
    translator.visibleSchema,
    collection,
    write,
    isShown ? entries : undefined,
    useVariables,
  );
  const writes = new ReferenceWriteExecutor(PERMISSION_TEST_MODEL, world.rows, person.callerPermissions);
  const keys = answerUnlessRefused(() => writes.run(collection, withBareRelatedKeys(translator, write, collection)));
  const reply = await send({ service: world.service, person: person, collection }, 'mutation', root);
  const after = await world.load();
  const changed = changedCollections(world.rows, after);
  if (changed.length > 0) await world.restore(changed);
  if (translator.hidden)
    return compareAnswer(true, { answer: isUnknown(reply), changed }, { answer: REFUSED, changed: [] });
  if (!keys) return compareAnswer(true, { ...(isAnswered(reply) ? problem(reply) : {}), changed }, { changed: [] });
  if (!isAnswered(reply)) return compareAnswer(false, problem(reply), {});
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
  const { steps } = writes;
  const got = reply.body.data[root.field];
  // The mutation answers the deleted keys in any order.
  if (write.verb === 'delete')
    return { ...compareAnswer(false, sortedIds(got), sortedIds(goneOf(keys, write.keys))), steps };
  if (!isShown) return { ...compareAnswer(false, got, true), steps };

  // The answer may show any of the stored rows with equal values, since the database and the reference generate different keys.
  const now = new ReferenceReadExecutor(PERMISSION_TEST_MODEL, after, person.callerPermissions);
  const options = keys.map((key) => {
    const mark = expectedRows.of(collection, key);
    const alike = (after[collection] ?? []).filter((row) => storedRows.of(collection, keyIn(collection, row)) === mark);
    return alike.flatMap((row: PermissionTestRow) => {
      const visibleOptions = answerUnlessRefused(() => now.single(collection, { fields: nested }, row));
      return visibleOptions ? [roundNumbers(JSON.parse(toGraphqlAnswer(JSON.stringify(visibleOptions), entries)))] : [];
    });
  });
  const visibleOptions = options.filter((alike) => alike.length > 0);
  const all: unknown[] = isSingleWrite(write) ? (got === null ? [] : [got]) : got;
  const fits =
    all.length === visibleOptions.length &&
    all.every((one, place) => visibleOptions[place]?.some((alike) => isDeepStrictEqual(alike, one)));
  return fits ? { ...compareAnswer(false, {}, {}), steps } : compareAnswer(false, { data: got }, { data: options });
}

const goneOf = (keys: readonly unknown[], testCase: readonly unknown[]) =>
  testCase.length === 1 ? { id: String(keys[0]) } : { ids: keys.map(String) };

const sortedIds = ({ ids, ...rest }: { readonly ids?: readonly string[] }) => ({
  ...rest,
  ...(ids ? { ids: [...ids].sort() } : {}),
});

function send(
  { service, person, collection }: GraphqlTarget,
  operation: 'query' | 'mutation',
  root: DocumentRootField,
): Promise<HttpReply> {
  const { text, variables } = renderGraphqlDocument(operation, [root]);
  const path = isSystemCollection(collection) ? '/graphql/system' : '/graphql';
  return service.request('POST', path, { token: person.token, body: { query: text, variables } });
}

const codesOf = ({ body }: HttpReply): readonly unknown[] =>
  (body?.errors ?? []).map((one: AnyError) => one.extensions?.code);
// biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
type AnyError = any;

/** REFUSED if the document is invalid because the schema does not have one of its fields; otherwise the reply. */
const isUnknown = (reply: HttpReply): unknown =>
  reply.status === 400 && codesOf(reply).includes('GRAPHQL_VALIDATION_EXCEPTION') ? REFUSED : problem(reply);

const isForbidden = (reply: HttpReply): unknown =>
  reply.status === 200 && codesOf(reply).length > 0 && codesOf(reply).every((code) => code === 'FORBIDDEN')
    ? REFUSED
    : problem(reply);

const isAnswered = (reply: HttpReply): boolean => reply.status === 200 && codesOf(reply).length === 0;

const problem = ({ status, body }: HttpReply) => ({ status, body });
