import { expect } from 'chai';
import {
  type FieldNode,
  GraphQLObjectType,
  type GraphQLScalarType,
  GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  type OperationDefinitionNode,
  parse,
  specifiedScalarTypes,
  validate,
} from 'graphql';
import * as scalars from '../../../../plugins/graphql/schema/scalars.ts';

/** Coerces a literal to a value of this scalar with the graphql package. */
function coerceArgument(
  type: GraphQLScalarType,
  literal: string,
  variables: Record<string, unknown> = {},
  declared = '',
): unknown {
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { f: { type, args: { a: { type } } } } }),
    types: [...specifiedScalarTypes, ...scalars.SCALARS],
  });
  const document = parse(`query ${declared} { f(a: ${literal}) }`);
  const errors = validate(schema, document);
  if (errors.length > 0) throw errors[0];
  const operation = document.definitions[0] as OperationDefinitionNode;
  const { variableValues, errors: wrong } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  if (!variableValues) throw wrong?.[0];
  const field = schema.getQueryType()?.getFields().f;
  return getArgumentValues(field as never, operation.selectionSet.selections[0] as FieldNode, variableValues).a;
}

/** Coerces the value of a variable to this scalar with the graphql package. */
const byVariable = (type: GraphQLScalarType, value: unknown) =>
  coerceArgument(type, '$v', { v: value }, `($v: ${type.name})`);
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('scalars of a GraphQL schema', () => {
  it('BigInt accepts integers of any size without loss', () => {
    expect(coerceArgument(scalars.BigIntScalar, '9223372036854775807')).to.equal('9223372036854775807');
    expect(coerceArgument(scalars.BigIntScalar, '"-12"')).to.equal('-12');
    expect(byVariable(scalars.BigIntScalar, '9223372036854775807')).to.equal('9223372036854775807');
    expect(byVariable(scalars.BigIntScalar, 12)).to.equal('12');
    expect(coerceArgument(scalars.BigIntScalar, '"$CURRENT_USER.team"')).to.equal('$CURRENT_USER.team');
    for (const wrong of ['1.5', '"1.5"', '"twelve"', 'true', '{a: 1}'])
      expect(() => coerceArgument(scalars.BigIntScalar, wrong), wrong).to.throw('BigInt cannot represent');
    for (const wrong of [1.5, 2 ** 60, true, {}, ''])
      expect(() => byVariable(scalars.BigIntScalar, wrong), String(wrong)).to.throw('BigInt cannot represent');
  });

  it('Date and Hash accept texts', () => {
    for (const type of [scalars.DateScalar, scalars.HashScalar]) {
      expect(coerceArgument(type, '"2026-01-31"')).to.equal('2026-01-31');
      expect(byVariable(type, '2026-01-31')).to.equal('2026-01-31');
      expect(() => coerceArgument(type, '2026')).to.throw('a value that is not a text');
      expect(() => byVariable(type, 2026)).to.throw('a value that is not a text');
    }
  });

  it('StringOrFloat accepts numbers and texts', () => {
    expect(coerceArgument(scalars.StringOrFloatScalar, '12')).to.equal(12);
    expect(coerceArgument(scalars.StringOrFloatScalar, '1.5')).to.equal(1.5);
    expect(coerceArgument(scalars.StringOrFloatScalar, '"$NOW"')).to.equal('$NOW');
    expect(coerceArgument(scalars.StringOrFloatScalar, '12345678901234567890.5')).to.equal('12345678901234567890.5');
    expect(byVariable(scalars.StringOrFloatScalar, 1.5)).to.equal(1.5);
    expect(byVariable(scalars.StringOrFloatScalar, '1.5')).to.equal('1.5');
    expect(() => coerceArgument(scalars.StringOrFloatScalar, 'true')).to.throw('neither a number nor a text');
    expect(() => byVariable(scalars.StringOrFloatScalar, [1])).to.throw('neither a number nor a text');
  });

  it('JSON accepts any value, also as a literal with variables inside', () => {
    expect(
      plain(coerceArgument(scalars.JsonScalar, '{ a: [1, 2.5, "x", true, null, draft], b: { c: {} } }')),
    ).to.deep.equal({
      a: [1, 2.5, 'x', true, null, 'draft'],
      b: { c: {} },
    });
    const variables = { id: '007', deep: { x: [1] }, nothing: null };
    const declared = '($id: ID, $deep: JSON, $nothing: JSON, $missing: JSON)';
    const literal = '{ id: $id, deep: $deep, nothing: $nothing, missing: $missing, list: [$id, $missing] }';
    expect(plain(coerceArgument(scalars.JsonScalar, literal, variables, declared))).to.deep.equal({
      id: '007',
      deep: { x: [1] },
      nothing: null,
      list: ['007', null],
    });
    expect(byVariable(scalars.JsonScalar, { a: 1 })).to.deep.equal({ a: 1 });
    expect(byVariable(scalars.JsonScalar, 'text')).to.equal('text');
  });

  it('JSON treats __proto__ as an ordinary name', () => {
    const value = coerceArgument(scalars.JsonScalar, '{ __proto__: { admin: true }, a: 1 }') as Record<string, unknown>;
    expect(value.admin).to.equal(undefined);
    expect(Object.keys(value)).to.deep.equal(['__proto__', 'a']);
  });

  it('GeoJSON accepts an object with "type"', () => {
    const literal = '{ type: "Point", coordinates: [$x, 2] }';
    expect(plain(coerceArgument(scalars.GeoJsonScalar, literal, { x: 1.5 }, '($x: Float)'))).to.deep.equal({
      type: 'Point',
      coordinates: [1.5, 2],
    });
    expect(byVariable(scalars.GeoJsonScalar, { type: 'Point', coordinates: [1, 2] })).to.have.property('type', 'Point');
    for (const wrong of ['"Point"', '[1, 2]', '{ coordinates: [1, 2] }'])
      expect(() => coerceArgument(scalars.GeoJsonScalar, wrong), wrong).to.throw('GeoJSON cannot represent');
  });

  it('Void accepts no value', () => {
    expect(coerceArgument(scalars.VoidScalar, 'null')).to.equal(null);
    expect(() => coerceArgument(scalars.VoidScalar, '1')).to.throw('Void cannot represent any value');
    expect(scalars.VoidScalar.coerceOutputValue(1)).to.equal(null);
  });

  it('all scalars convert values that contributed fields answer', () => {
    expect(scalars.BigIntScalar.coerceOutputValue(900000)).to.equal('900000');
    expect(scalars.DateScalar.coerceOutputValue(new Date(0))).to.equal('1970-01-01T00:00:00.000Z');
    expect(scalars.JsonScalar.coerceOutputValue({ a: 1 })).to.deep.equal({ a: 1 });
  });
});
