import { expect } from 'chai';
import { type GraphQLFormattedError, getIntrospectionQuery } from 'graphql';
import {
  createDocumentTestSchema,
  createTestDocumentCache,
  createTestDocumentCaches,
  expectDocumentRefusal,
} from './document-schema.ts';

describe('createDocumentCaches', () => {
  const documents = createTestDocumentCache();
  const errorsOf = (text: string) =>
    expectDocumentRefusal(documents, text).extensions.graphqlErrors as readonly GraphQLFormattedError[];

  it('answers operations and fragments by name, the anonymous operation by an empty name', () => {
    const several = documents.get('query A { posts { ...F } } query B { posts { ...F } } fragment F on posts { id }');
    expect([...several.operations.keys()]).to.deep.equal(['A', 'B']);
    expect([...several.fragments.keys()]).to.deep.equal(['F']);
    expect([...documents.get('{ posts { id } }').operations.keys()]).to.deep.equal(['']);
  });

  it('caches documents by their text', () => {
    const one = documents.get('{ posts { id title } }');
    expect(documents.get('{ posts { id title } }')).to.equal(one);
    expect(documents.get('{ posts { id  title } }').id).not.to.equal(one.id);
  });

  it('validates the same text again in another schema, with another id', () => {
    const make = createTestDocumentCaches();
    const [first, second] = [make(createDocumentTestSchema()), make(createDocumentTestSchema())];
    expect(first.get('{ posts { id } }').id).not.to.equal(second.get('{ posts { id } }').id);
    const wider = make(createDocumentTestSchema(1));
    wider.get('{ collection_0 { id } }');
    expect(expectDocumentRefusal(first, '{ collection_0 { id } }').message).to.contain(
      'Cannot query field "collection_0"',
    );
  });

  it('evicts old documents by size, in one cache for all schemas', () => {
    const make = createTestDocumentCaches();
    const [first, second] = [make(createDocumentTestSchema()), make(createDocumentTestSchema())];
    const { id } = first.get('{ posts { id } }');
    const large = (at: number) => `query Q${at} { posts(filter: { id: { _in: [${'1 '.repeat(1900)}] } }) { id } }`;
    for (let at = 0; at < 50; at++) second.get(large(at));
    expect(first.get('{ posts { id } }').id).to.equal(id);
    for (let at = 0; at < 120; at++) second.get(large(at));
    expect(first.get('{ posts { id } }').id).not.to.equal(id);
  });

  it('accepts names that other services use for types of variables', () => {
    const text = (type: string) => `query ($a: ${type}) { posts(filter: { id: { _in: $a } }) { id } }`;
    documents.get(text('[GraphQLStringOrFloat]'));
    documents.get(text('[GraphQLStringOrFloat!]!'));
    documents.get('query ($a: GraphQLGeoJSON) { posts(near: $a) { id } }');
    expect(expectDocumentRefusal(documents, text('[GraphQLString]')).message).to.contain(
      'Unknown type "GraphQLString"',
    );
    expect(
      expectDocumentRefusal(documents, 'query ($a: GraphQLBigInt) { posts(limit: $a) { id } }').message,
    ).to.contain('"BigInt"');
    expect(expectDocumentRefusal(documents, 'query ($a: constructor) { posts(limit: $a) { id } }').message).to.contain(
      'Unknown type',
    );
  });

  describe('an invalid document', () => {
    it('an invalid document is INVALID_PAYLOAD when it cannot be parsed, in any schema', () => {
      const failure = expectDocumentRefusal(documents, '{ posts {\n');
      expect(failure.toClientView()).to.deep.equal({
        code: 'INVALID_PAYLOAD',
        message: 'Syntax Error: Expected Name, found <EOF>.',
      });
      expect(failure).to.deep.include({ status: 400, isSchemaIndependent: true, locations: [{ line: 2, column: 1 }] });
      expect(failure.extensions.graphqlErrors).to.deep.equal([
        { message: 'Syntax Error: Expected Name, found <EOF>.', locations: [{ line: 2, column: 1 }] },
      ]);
    });

    it('an invalid document is GRAPHQL_VALIDATION_EXCEPTION when it does not match the schema, which a newer schema might change', () => {
      const failure = expectDocumentRefusal(documents, '{ posts { titel } }');
      expect(failure.toClientView().code).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
      expect(failure).to.deep.include({
        status: 400,
        isSchemaIndependent: false,
        locations: [{ line: 1, column: 11 }],
      });
      expect(failure.message).to.equal('Cannot query field "titel" on type "posts". Did you mean "title"?');
    });

    it('an invalid document has its first error as the message, and a few more in graphqlErrors', () => {
      const failure = expectDocumentRefusal(documents, '{ posts { a b c d e f g h } }');
      expect(failure.message).to.contain('"a"');
      expect(errorsOf('{ posts { a b c d e f g h } }').map(({ message }) => message.slice(0, 22))).to.deep.equal([
        ...['a', 'b', 'c', 'd', 'e'].map((name) => `Cannot query field "${name}"`),
        'Too many validation er',
      ]);
    });

    it('the errors of an invalid document have short messages and at most 20 locations', () => {
      const [long] = errorsOf(`{ posts(limit: "${'x'.repeat(50_000)}") { id } }`);
      expect(long?.message).to.have.length.below(1100);
      const [many] = errorsOf(`query (${'$a: Int '.repeat(500)}) { posts { id } }`);
      expect(many?.locations).to.have.length.at.most(20);
    });

    it('an invalid document is refused by every validation rule of the specification, overlapping fields included', () => {
      for (const text of [
        '{ posts { a: id a: title } }',
        '{ posts(limit: 1) { id } posts(limit: 2) { id } }',
        '{ posts { ...F } } fragment F on posts { ...F }',
        '{ posts { ...F } }',
        '{ posts { id } } fragment F on posts { id }',
        '{ posts }',
        '{ posts_by_id { id } }',
        'query ($a: String) { posts(limit: $a) { id } }',
        '{ posts { id @skip } }',
        '{ posts { id } } type T { a: Int }',
        'subscription { posts { id } }',
        '{ posts { id } } { posts { title } }',
      ])
        expect(expectDocumentRefusal(documents, text).toClientView().code, text).to.equal(
          'GRAPHQL_VALIDATION_EXCEPTION',
        );
    });
  });

  describe('an introspection document', () => {
    const withoutIntrospection = createTestDocumentCache({ introspection: false });

    it('an introspection document is accepted as tools send it, whatever the limits for rows are', () => {
      createTestDocumentCache({ nodes: 10, relations: 2, rootFields: 1 }).get(getIntrospectionQuery());
      documents.get('{ __type(name: "posts") { fields { name type { name ofType { name } } } } }');
    });

    it('an introspection document is refused when it asks for much more than the whole schema', () => {
      const lists = Array.from({ length: 90 }, (_, at) => `t${at}: types { fields { args { type { name } } } }`);
      const deep = '{ __schema { types { fields { type { fields { args { type { name kind } } } } } } } }';
      const deepest =
        '{ __schema { types { fields { args { type { inputFields { type { possibleTypes { name } } } } } } } } }';
      for (const text of [`{ __schema { ${lists.join(' ')} } }`, deepest])
        expect(expectDocumentRefusal(documents, text).toClientView().code, text).to.equal(
          'GRAPHQL_VALIDATION_EXCEPTION',
        );
      expect(() => documents.get(deep)).not.to.throw();
      const hidden = `query { ...F } fragment F on Query { __schema { ...G } } fragment G on __Schema { ${lists.join(' ')} }`;
      expect(expectDocumentRefusal(documents, hidden).message).to.contain('more of the schema than twice all of it');
    });

    it('an introspection document is refused without suggestions when introspection is off', () => {
      for (const text of [getIntrospectionQuery(), '{ __type(name: "posts") { name } }'])
        expect(expectDocumentRefusal(withoutIntrospection, text).message).to.contain(
          'GraphQL introspection has been disabled',
        );
      expect(expectDocumentRefusal(withoutIntrospection, '{ posts { titel } }').message).to.equal(
        'Cannot query field "titel" on type "posts".',
      );
      withoutIntrospection.get('{ __typename posts { __typename } }');
    });
  });
});
