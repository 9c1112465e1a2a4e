import { expect } from 'chai';
import { buildSchema, execute, getIntrospectionQuery, parse } from 'graphql';
import { renderIntrospection } from '../../../../plugins/graphql/execute/render-introspection.ts';
import { createCallerSchema, prepareRootField } from '../plan/operations.ts';

const schema = buildSchema(`
  "What has a name"
  interface Named { name: String! }
  type Person implements Named { name: String! "Years \\"so far\\"" age(from: Day = MONDAY, in: [Int!] = [1, 2]): Int }
  type Firm implements Named { name: String!, old: String @deprecated(reason: "gone") }
  union Party = Person | Firm
  enum Day { MONDAY TUESDAY @deprecated }
  scalar Url @specifiedBy(url: "https://example.com/url")
  input Filter @oneOf { name: String, day: Day }
  input Paging { limit: Int = 100, sort: [[String!]!], offset: Int @deprecated(reason: "page") }
  directive @twice(times: Int = 2) repeatable on FIELD | QUERY
  type Query { people(filter: Filter, paging: Paging = { limit: 5 }): [Person!]!, party: Party, home: Url }
`);
const callerSchema = createCallerSchema(schema);

const DOCUMENTS: Readonly<Record<string, string>> = {
  'the query of tools': getIntrospectionQuery({
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  }),
  'a type by its name': '{ __type(name: "Person") { name kind fields { name args { name defaultValue } } } }',
  'a type that is not there': '{ __type(name: "Nothing") { name } }',
  'a type by a variable': 'query ($name: String!) { __type(name: $name) { name possibleTypes { name } } }',
  'deprecated parts by a variable':
    'query ($all: Boolean!) { __type(name: "Firm") { fields(includeDeprecated: $all) { name isDeprecated } } }',
  'aliases, fields twice and __typename':
    '{ a: __schema { __typename types { __typename n: name } types { kind fields { name } } queryType { name } } }',
  'fragments and conditions': `query ($all: Boolean!) { __schema { ...Parts types { ... on __Type { name @skip(if: $all) kind } } } }
    fragment Parts on __Schema { directives { name isRepeatable locations } types @include(if: $all) { description } }`,
  'types inside of types':
    '{ __schema { types { fields { type { name ofType { name ofType { name fields { type { name } } } } } } } } }',
};

describe('renderIntrospection', () => {
  for (const [title, text] of Object.entries(DOCUMENTS)) {
    it(`renders ${title} as the graphql package does`, async () => {
      const values = { name: 'Party', all: true };
      const { root, context } = prepareRootField(callerSchema, text, values);
      const { data, errors } = await execute({ schema, document: parse(text), variableValues: values });
      expect(errors).to.equal(undefined);
      expect(renderIntrospection(context, root)).to.equal(JSON.stringify((data as Record<string, unknown>)[root.key]));
    });
  }
});
