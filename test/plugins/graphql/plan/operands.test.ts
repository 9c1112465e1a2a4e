import { expect } from 'chai';
import { type FieldNode, type GraphQLField, Kind } from 'graphql';
import {
  findOperandVariables,
  toPlaceholderValues,
  withVariablePlaceholders,
} from '../../../../plugins/graphql/plan/operand-variables.ts';
import { OperandPlaceholder } from '../../../../plugins/query/library.ts';
import { buildSnapshotFromSketch, buildTestGraphqlSchema } from '../schema/test-schema.ts';
import { createCallerSchema, prepareOperation } from './operations.ts';

const { schema } = buildTestGraphqlSchema(
  buildSnapshotFromSketch({
    book: {
      id: 'integer key',
      title: 'string',
      pages: 'integer',
      read: 'boolean',
      born: 'date',
      meta: 'json',
      author: 'one person',
    },
    person: { id: 'integer key', name: 'string', books: 'many book.author' },
  }),
);
const callerSchema = createCallerSchema(schema);

/** The operands of the first root field of a document. */
function operandsOf(text: string): readonly string[] {
  const { document, node: operation } = prepareOperation(callerSchema, text);
  const [node] = operation.selectionSet.selections as readonly [FieldNode];
  expect(node.kind).to.equal(Kind.FIELD);
  const field = schema.getQueryType()?.getFields()[node.name.value] as GraphQLField<unknown, unknown>;
  return findOperandVariables(schema, document.fragments, field, [node]);
}

describe('findOperands: variables that become placeholders of statements', () => {
  it('finds the variables that conditions compare with, at any depth of a field', () => {
    expect(
      operandsOf(`query ($a: ID, $b: String, $c: [StringOrFloat], $d: StringOrFloat, $e: StringOrFloat, $f: String) {
        book(filter: { _or: [{ author: { id: { _eq: $a } } }, { title: { _contains: $b } }, { pages: { _in: $c } }] }) {
          author { books(filter: { pages: { _between: [$d, 9] } }) { author { ...more } } }
        }
      }
      fragment more on person { books(filter: { born_func: { year: { _gt: $e } }, title: { _nin: [$f] } }) { id } }`),
    ).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('leaves out variables that change the statement', () => {
    for (const text of [
      'query ($v: book_filter) { book(filter: $v) { id } }',
      'query ($v: id_filter_operators) { book(filter: { id: $v }) { id } }',
      'query ($v: [book_filter]) { book(filter: { _and: $v }) { id } }',
      'query ($v: Boolean) { book(filter: { title: { _null: $v } }) { id } }',
      'query ($v: [StringOrFloat]) { book(filter: { pages: { _between: $v } }) { id } }',
      'query ($v: JSON) { book(filter: { meta: { _json: $v } }) { id } }',
      'query ($v: String) { book(filter: { meta: { _json: { a: { _eq: $v } } } }) { id } }',
      'query ($v: Int) { book(limit: $v) { id } }',
      'query ($v: String) { book(search: $v) { id } }',
      'query ($v: String) { book(sort: [$v]) { id } }',
      'query ($v: ID!) { book_by_id(id: $v) { id } }',
      'query ($v: ID!) { book_by_id(id: $v) { author { books(filter: { id: { _eq: $v } }) { id } } } }',
      'query ($v: String, $on: Boolean!) { book(filter: { title: { _eq: $v } }, search: $v) { id @skip(if: $on) } }',
      'query ($v: String!) { book { meta_func { json(path: $v) } author { books(filter: { title: { _eq: $v } }) { id } } } }',
    ])
      expect(operandsOf(text), text).to.deep.equal([]);
  });

  it('leaves out values that need a statement of their own', () => {
    const isPlaceholder = (value: unknown) =>
      Object.hasOwn(toPlaceholderValues(['v'], { sources: {}, coerced: { v: value } }), 'v');
    const plain = [
      'a',
      '7',
      ' 7 ',
      '-7',
      7,
      0,
      -7,
      '2020-01-01',
      '1x',
      ['a', '7'],
      [7],
      '123456789012345678',
      'Null',
      ' null',
    ];
    const others = [
      null, undefined, '', '$NOW', '$x', 'null', 'NULL', 'a\0', '7.5', '1e2', '.5', 7.5, 2 ** 60, Number.NaN, true, {}, [], [null],
      ['7', ''], [['7']], '1234567890123456789', ' 7.5 ',
    ]; // biome-ignore format: a list
    expect(plain.filter((value) => !isPlaceholder(value))).to.deep.equal([]);
    expect(others.filter(isPlaceholder)).to.deep.equal([]);
  });

  it('replaces operands by placeholders in the variables', () => {
    const coerced = Object.assign(Object.create(null), { a: '7', b: 1 });
    const { coerced: open } = withVariablePlaceholders({ sources: {}, coerced }, { a: '7' });
    expect(open.a).to.be.instanceOf(OperandPlaceholder).and.to.include({ name: 'a', value: '7' });
    expect(open.b).to.equal(1);
    expect(open.constructor).to.equal(undefined);
    expect(coerced.a).to.equal('7');
  });
});
