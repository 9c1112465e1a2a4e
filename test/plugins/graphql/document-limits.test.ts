import { expect } from 'chai';
import { createTestDocumentCache, type DEFAULT_DOCUMENT_LIMITS, expectDocumentRefusal } from './document-schema.ts';

/** Renders `count` items in a row, such as `a0: id a1: id …`. */
const many = (count: number, one: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => one(at)).join(' ');

describe('limits of GraphQL documents', () => {
  for (const { limit, most, accepted, refused, message, code = 'GRAPHQL_VALIDATION_EXCEPTION' } of [
    {
      limit: 'tokens',
      most: 7,
      accepted: '{ posts { id title } }',
      refused: '{ posts { id title views } }',
      message: 'Syntax Error: Document contains more than 7 tokens. Parsing aborted.',
      code: 'INVALID_PAYLOAD',
    },
    {
      limit: 'aliases',
      most: 2,
      accepted: '{ posts { a: id b: id } }',
      refused: '{ c: posts { a: id ...F } } fragment F on posts { b: id }',
      message: 'Document has 3 aliases, more than the 2 allowed (GRAPHQL_MAX_ALIASES).',
    },
    {
      limit: 'rootFields',
      most: 2,
      accepted: '{ __typename posts { id } ...F } fragment F on Query { posts { title } }',
      refused:
        '{ ...F } fragment F on Query { posts { id } ... { a: posts { id } ...G } } fragment G on Query { b: posts { id } }',
      message: 'Operation has 3 root fields, more than the 2 allowed (GRAPHQL_MAX_ROOT_FIELDS).',
    },
    {
      limit: 'relations',
      most: 2,
      accepted: `{ posts ${'{ author '.repeat(5)} { id } ${'}'.repeat(5)} }`,
      refused: `{ posts ${'{ author '.repeat(6)} { id } ${'}'.repeat(6)} }`,
      message: 'Operation has 8 fields inside each other, more than the 7 allowed (MAX_RELATIONAL_DEPTH and 5 more).',
    },
    {
      limit: 'relations',
      most: 2,
      accepted: '{ posts { ...A } } fragment A on posts { author { author { author { author { author { id } } } } } }',
      refused:
        '{ posts { ...A } } fragment A on posts { author { author { author { ...B } } } } fragment B on posts { author { author { author { id } } } }',
      message: 'Operation has 8 fields inside each other, more than the 7 allowed (MAX_RELATIONAL_DEPTH and 5 more).',
    },
    {
      limit: 'nodes',
      most: 10,
      accepted: `{ posts { ${many(9, (at) => `field_${at}`)} } }`,
      refused: '{ posts { author { ...F } comments { ...F } ...F } } fragment F on posts { id title views }',
      message: 'Document asks for 15 fields, fragments spread out, more than the 10 allowed (QUERY_MAX_NODES).',
    },
    {
      limit: 'nodes',
      most: 10,
      accepted: 'query A { posts { id title views } } query B { posts { id title views } }',
      refused: 'query A { posts { id title views author { id } } } query B { posts { id title views author { id } } }',
      message: 'Document asks for 12 fields, fragments spread out, more than the 10 allowed (QUERY_MAX_NODES).',
    },
  ] as const satisfies readonly { limit: keyof typeof DEFAULT_DOCUMENT_LIMITS; [other: string]: unknown }[]) {
    it(`${limit} refuses: ${refused.length > 60 ? `${refused.slice(0, 60)}…` : refused}`, () => {
      const documents = createTestDocumentCache({ [limit]: most });
      documents.get(accepted);
      const failure = expectDocumentRefusal(documents, refused);
      expect(failure.toClientView()).to.deep.equal({ code, message });
      expect(failure.isSchemaIndependent).to.equal(true);
      createTestDocumentCache().get(refused);
    });
  }

  it('nesting, names, lines and NUL characters are limited whatever the settings are', () => {
    const documents = createTestDocumentCache();
    const brackets = (open: string, close: string, count: number) => open.repeat(count) + close.repeat(count);
    for (const [text, code, message] of [
      [`${'\n'.repeat(10_001)}{ posts { id } }`, 'INVALID_PAYLOAD', 'more than 10000 lines'],
      [`${'#\n'.repeat(5001)}{ posts { id } }`, 'INVALID_PAYLOAD', 'more than 5000 comments'],
      [`{ posts ${brackets('{ author ', '}', 101)} }`, 'INVALID_PAYLOAD', 'deeper than the 100 levels allowed'],
      [
        `{ posts ${'{ ... '.repeat(100)} { id } ${'}'.repeat(100)} }`,
        'INVALID_PAYLOAD',
        'deeper than the 100 levels allowed',
      ],
      [`{ posts(limit: ${brackets('[', ']', 101)}) { id } }`, 'INVALID_PAYLOAD', 'deeper than the 100 levels allowed'],
      [`{ posts(limit: ${brackets('[', ']', 2400)}) { id } }`, 'INVALID_PAYLOAD', 'deeper than the 100 levels allowed'],
      [`{ posts(limit: ${brackets('{ a: ', '}', 101)}) { id } }`, 'INVALID_PAYLOAD', ''],
      [`query ($a: ${brackets('[', ']', 101)}) { posts { id } }`, 'INVALID_PAYLOAD', ''],
      [`{ ${'x'.repeat(201)} }`, 'GRAPHQL_VALIDATION_EXCEPTION', '201 characters, more than the 200 allowed'],
      ['{ posts(filter: { id: { _eq: "\\u0000" } }) { id } }', 'GRAPHQL_VALIDATION_EXCEPTION', 'a NUL character'],
      ['{ posts(filter: { id: { _eq: """\0""" } }) { id } }', 'GRAPHQL_VALIDATION_EXCEPTION', 'a NUL character'],
    ] as const) {
      const failure = expectDocumentRefusal(documents, text);
      expect(failure.toClientView().code, text.slice(0, 60)).to.equal(code);
      expect(failure.message, text.slice(0, 60)).to.contain(message);
    }
  });

  it('GRAPHQL_QUERY_TOKEN_LIMIT also limits lines and comments', () => {
    createTestDocumentCache({ tokens: 20_000 }).get(`${'\n'.repeat(10_001)}${'#\n'.repeat(5001)}{ posts { id } }`);
  });

  it('nested fragments are limited in any order of their definitions', () => {
    const chain = Array.from({ length: 150 }, (_, at) => `fragment F${at} on posts { ...F${at + 1} }`);
    const last = 'fragment F150 on posts { id }';
    for (const fragments of [
      [...chain, last],
      [last, ...[...chain].reverse()],
    ]) {
      const failure = expectDocumentRefusal(createTestDocumentCache(), `{ posts { ...F0 } } ${fragments.join(' ')}`);
      expect(failure.message).to.contain('deeper than the 100 levels allowed');
    }
    createTestDocumentCache().get(`{ posts { ...F60 } } ${[...chain.slice(60), last].join(' ')}`);
  });

  it('fragments that spread themselves are refused by name', () => {
    const text = '{ posts { ...F } } fragment F on posts { author { ...G } } fragment G on posts { comments { ...F } }';
    expect(expectDocumentRefusal(createTestDocumentCache(), text).message).to.equal(
      'Cannot spread fragment "F" within itself via "G".',
    );
  });

  it('a field may be repeated, but not so often that comparing the repetitions takes long', () => {
    const documents = createTestDocumentCache();
    documents.get(`{ posts { ${'author { id } '.repeat(100)} } }`);
    documents.get(`{ posts { ${many(50, () => 'comments(limit: 1) { id title }')} } }`);
    for (const text of [
      `{ posts { ${'author { id } '.repeat(300)} } }`,
      `{ ${'posts { author { id } author { id } author { id } author { id } author { id } author { id } } '.repeat(40)} }`,
      `{ posts { ${many(120, () => 'comments(filter: { id: { _in: [1 2 3 4 5 6 7 8 9] } }) { id }')} } }`,
      `{ posts { ${many(150, (at) => `...F${at}`)} } } ${many(150, (at) => `fragment F${at} on posts { field_${at % 15} }`)}`,
    ])
      expect(expectDocumentRefusal(documents, text).message, text.slice(0, 80)).to.contain('too often in one place');
  });
});
