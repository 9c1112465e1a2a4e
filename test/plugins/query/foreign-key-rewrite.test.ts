import { expect } from 'chai';
import type { SchemaOverview } from '../../../plugins/schema/contract.ts';
import {
  compileCaseToSql,
  createQueryTestDatabase,
  type QueryCase,
  type QueryTestDatabase,
  runCaseAsJsonText,
} from './query-cases.ts';

type Question = Omit<QueryCase, 'row' | 'schema'>;

/** Copies a schema snapshot as if no relation had a foreign key constraint. */
function withoutConstraints(schema: SchemaOverview): SchemaOverview {
  const copy = structuredClone(schema);
  for (const { fields } of copy.collections.values())
    for (const { relation } of fields.values()) if (relation) Object.assign(relation.relation, { schema: null });
  return copy;
}

const KEYS = [2, 99];
const OPERATORS: readonly object[] = [
  ...KEYS.flatMap((key) => ['_eq', '_neq', '_lt', '_lte', '_gt', '_gte'].map((name) => ({ [name]: key }))),
  ...[[1, 2], [2, null], [null], [99]].flatMap((keys) => [{ _in: keys }, { _nin: keys }]),
  ...[
    [1, 2],
    [2, null],
    [2, 1],
  ].flatMap((keys) => [{ _between: keys }, { _nbetween: keys }]),
  ...[true, false].flatMap((flag) => [{ _null: flag }, { _nnull: flag }]),
  { _eq: null },
  { _neq: null },
  { _eq: '9223372036854775808' },
  { _gt: 1, _lt: 3 },
  { _or: [{ _eq: 1 }, { _null: true }] },
  { _and: [{ _neq: 1 }, { _nnull: true }] },
];

/** Filters of books that compare the key of the author. */
const FILTERS: readonly object[] = OPERATORS.flatMap((of) => [
  { author: { id: of } },
  { author: { boss: { id: of } } },
  { author: { _or: [{ id: of }, { id: { _eq: 2 } }] } },
  { author: { _and: [{ id: of }, { _or: [{ id: { _lt: 3 } }, { id: { _null: true } }] }] } },
  { author: { id: of, name: { _nnull: true } } },
  { _or: [{ author: { id: of } }, { id: { _eq: 1 } }] },
  { author: { books: { _none: { author: { id: of } } } } },
]);

type Rules = Pick<Question, 'rules'>;
const everything = { fields: ['*'] };
const ALL: Rules = { rules: { book: everything, person: everything } };
/** Permissions under which the relation `author` reads as null on some rows. */
const SOME: Rules = {
  rules: {
    book: [
      { fields: ['*'], filter: { id: { _lte: 2 } } },
      { fields: ['id'], filter: { id: { _gt: 2 } } },
    ],
    person: everything,
  },
};
const A_ROW_RULE: Rules = { rules: { book: everything, person: { fields: ['*'], filter: { id: { _neq: 2 } } } } };
const KEYS_OF_SOME: Rules = {
  rules: {
    book: everything,
    person: [{ fields: ['id'], filter: { id: { _lt: 2 } } }, { fields: ['name', 'boss', 'books'] }],
  },
};

describe('rewriteRelatedKeyCondition', () => {
  let ground: QueryTestDatabase;
  before(async () => {
    ground = await createQueryTestDatabase('library');
    await ground.database.query('insert into person (id, name) values (901, null)');
    await ground.database.query('insert into book (id, author) values (901, null), (902, 901)');
  });
  after(() => ground?.database.drop());

  const asking = (filter: object, caller: Rules = {}): Question => ({
    collection: 'book',
    query: { fields: 'id', filter, limit: -1 },
    ...caller,
  });

  for (const [name, caller] of Object.entries({
    admins: {},
    'callers who may read all rows': ALL,
    'callers who may read some rows': SOME,
  }))
    it(`a condition on the related key finds the rows of the join for ${name}`, async () => {
      const through = { ...ground, schema: withoutConstraints(ground.schema) };
      let compared = 0;
      for (const filter of FILTERS) {
        const question = asking(filter, caller);
        if (compileCaseToSql(question, ground.schema).text === compileCaseToSql(question, through.schema).text)
          continue;
        compared++;
        expect(await runCaseAsJsonText(question, ground), JSON.stringify(filter)).to.deep.equal(
          await runCaseAsJsonText(question, through),
        );
      }
      expect(compared).to.be.above(FILTERS.length / 2);
    });

  it('a condition on the related key becomes one on the foreign key only when both mean the same', () => {
    const through = (filter: object, caller?: Rules, schema = ground.schema) =>
      compileCaseToSql(asking(filter, caller), schema).text.includes('exists');
    expect(through({ author: { id: { _neq: 1 } } })).to.equal(false);
    expect(through({ author: { id: { _eq: 1 } } }, ALL)).to.equal(false);
    expect(through({ author: { id: { _eq: 1 } } }, A_ROW_RULE), 'a rule').to.equal(true);
    expect(through({ author: { id: { _eq: 1 } } }, KEYS_OF_SOME), 'a key of some rows').to.equal(true);
    expect(through({ author: { id: { _eq: 1 }, name: { _eq: 'a' } } }), 'more').to.equal(true);
    expect(through({ author: { id: { _eq: 1 } } }, {}, withoutConstraints(ground.schema)), 'no constraint').to.equal(
      true,
    );
    const notValidated = structuredClone(ground.schema);
    Object.assign(notValidated.collections.get('book')?.fields.get('author')?.relation?.relation ?? {}, {
      notValidated: true,
    });
    expect(through({ author: { id: { _eq: 1 } } }, {}, notValidated), 'not valid').to.equal(true);
  });
});
