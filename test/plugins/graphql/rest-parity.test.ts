import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { validateSchema } from 'graphql';
import { Failure } from '#kernel';
import {
  createQueryTestDatabase,
  type QueryCase,
  type QueryTestDatabase,
  runCaseAsJsonText,
} from '../query/query-cases.ts';
import { InexpressibleInGraphqlError } from './cases/document-entries.ts';
import { INEXPRESSIBLE_NUMBER } from './cases/list-arguments.ts';
import { INEXPRESSIBLE_KEY_TEXT } from './cases/query-paths.ts';
import { INEXPRESSIBLE_NAME_CLASH } from './cases/requested-fields.ts';
import { hasSameAnswerAsRest, removeRowLineBreaks, toGraphqlAnswer } from './cases/rest-to-graphql-answer.ts';
import { buildGraphqlSchemaOfCase, type GraphqlCaseAnswer, runGraphqlDocumentOfCase } from './cases/run-document.ts';
import { type TranslatedQueryCase, translateQueryCaseToGraphql } from './cases/translate.ts';

const folder = new URL('../query/cases/', import.meta.url);
const names = (await readdir(folder)).sort();
const cases = new Map(
  await Promise.all(
    names.map(
      async (name) =>
        [name, JSON.parse(await readFile(new URL(`${name}/query.json`, folder), 'utf8')) as QueryCase] as const,
    ),
  ),
);

/** Reasons why cases cannot be expressed in GraphQL, with the number of cases. */
const REASONS: Readonly<Record<string, number>> = {
  'a form that only query strings have': 24,
  [INEXPRESSIBLE_KEY_TEXT]: 20,
  'a name that is no GraphQL name': 14,
  meta: 12,
  'a relation without a field, followed backwards': 8,
  'a text where GraphQL has a number or a Boolean': 7,
  'names that break the grammar of paths': 7,
  'conditions on the one row behind a relation': 6,
  [INEXPRESSIBLE_NAME_CLASH]: 5,
  'a list of keys': 8,
  backlink: 4,
  'the stored key of a many-to-any': 4,
  'groups of related rows': 3,
  'a read without ceiling': 2,
  'conditions on a singleton': 2,
  'min and max of what is no number': 2,
  'a place in an array column': 1,
  'countDistinct of rows': 2,
  'groups of a singleton': 1,
  'groups that only an alias tells apart': 1,
  [INEXPRESSIBLE_NUMBER]: 1,
};

describe('GraphQL answers the same as REST for each query case', () => {
  const grounds = new Map<string, QueryTestDatabase>();
  const keys = new Map<string, Map<string, ReadonlySet<string>>>();
  const tally = { same: 0, bytes: 0, refused: 0, hiddenNames: 0 };
  const reasons = new Map<string, number>();

  before(async () => {
    for (const name of new Set([...cases.values()].map(({ schema }) => schema))) {
      const ground = await createQueryTestDatabase(name);
      grounds.set(name, ground);
      keys.set(name, await readKeys(ground));
    }
  });
  after(async () => {
    await Promise.all([...grounds.values()].map(({ database }) => database.drop()));
    console.log(`    ${tally.same} answers compared byte for byte, ${tally.bytes} of them without any change of form;`);
    console.log(
      `    ${tally.refused} refused like in REST; ${tally.hiddenNames} refused for a name that REST leaves out;`,
    );
    for (const [reason, count] of [...reasons].sort(([, a], [, b]) => b - a))
      console.log(`    ${count} not asked: ${reason}`);
  });

  for (const [name, one] of cases) {
    it(name, async () => {
      const ground = grounds.get(one.schema) as QueryTestDatabase;
      const ask = (
        more: Pick<
          Parameters<typeof translateQueryCaseToGraphql>[1],
          'includesHiddenNames' | 'sendsFilterAsVariable'
        > = {},
      ) =>
        translateQueryCaseToGraphql(one, {
          snapshot: ground.schema,
          keysOf: (collection) => keys.get(one.schema)?.get(collection) ?? new Set(),
          ...more,
        });
      const translation = translateOrReason(ask);
      if (typeof translation === 'string') return void reasons.set(translation, (reasons.get(translation) ?? 0) + 1);
      const expected = await answerByRest(one, ground, translation);
      const answered = await runGraphqlDocumentOfCase(one, ground, translation);
      assertSameAnswer(answered, expected, translation);
      // Asks again with the filter as a variable, since GraphQL coerces variables in another way than literals.
      const withVariable = ask({ sendsFilterAsVariable: true });
      if (withVariable.text !== translation.text)
        assertSameAnswer(await runGraphqlDocumentOfCase(one, ground, withVariable), expected, withVariable);
      // GraphQL must refuse documents that select names which REST leaves out silently.
      const withHiddenNames = translateOrReason(() => ask({ includesHiddenNames: true }));
      if (typeof withHiddenNames !== 'string' && withHiddenNames.text !== translation.text) {
        expect(await runGraphqlDocumentOfCase(one, ground, withHiddenNames), withHiddenNames.text).to.have.property(
          'refused',
        );
        tally.hiddenNames++;
      }
      if ('refused' in expected) tally.refused++;
      else tally.same++;
      if ('data' in expected && hasSameAnswerAsRest(translation.of)) {
        const { data } = await runCaseAsJsonText(one, ground);
        expect('data' in answered && answered.data).to.equal(
          removeRowLineBreaks(`{"${translation.key}":${data ?? 'null'}}`),
        );
        tally.bytes++;
      }
    });
  }

  it('leaves out only the listed number of cases, by reason', () => {
    expect(Object.fromEntries(reasons)).to.deep.equal(REASONS);
    expect(tally.same + tally.refused + [...reasons.values()].reduce((sum, one) => sum + one, 0)).to.equal(cases.size);
  });

  it('builds a valid schema for every case', () => {
    for (const one of cases.values()) {
      const schema = buildGraphqlSchemaOfCase(one, grounds.get(one.schema) as QueryTestDatabase);
      expect(validateSchema(schema).map(({ message }) => message)).to.deep.equal([]);
    }
  });
});

function translateOrReason(ask: () => TranslatedQueryCase): TranslatedQueryCase | string {
  try {
    return ask();
  } catch (error) {
    if (error instanceof InexpressibleInGraphqlError) return error.reason;
    throw error;
  }
}

/** Runs a query case as REST does and converts the answer into the one that GraphQL must give. */
async function answerByRest(
  one: QueryCase,
  ground: QueryTestDatabase,
  { key, of }: TranslatedQueryCase,
): Promise<GraphqlCaseAnswer> {
  try {
    const { data } = await runCaseAsJsonText(one, ground);
    return { data: `{${JSON.stringify(key)}:${data === null ? 'null' : toGraphqlAnswer(data, of)}}` };
  } catch (error) {
    if (error instanceof Failure) return { refused: error.code };
    throw error;
  }
}

function assertSameAnswer(
  answered: GraphqlCaseAnswer,
  expected: GraphqlCaseAnswer,
  { text, variables }: TranslatedQueryCase,
): void {
  const about = `${text} ${JSON.stringify(variables)}`;
  if ('data' in expected) expect(answered, about).to.deep.equal(expected);
  else
    expect('refused' in answered && answered.refused, about).to.be.oneOf([
      'GRAPHQL_VALIDATION_EXCEPTION',
      'INVALID_PAYLOAD',
      expected.refused,
    ]);
}

async function readKeys({ schema, database }: QueryTestDatabase): Promise<Map<string, ReadonlySet<string>>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const { name, primary } of schema.collections.values()) {
    if (primary === null) continue;
    const rows = await database.query<{ key: string }>(`select "${primary}"::text as key from "${name}"`);
    found.set(name, new Set(rows.map(({ key }) => key)));
  }
  return found;
}
