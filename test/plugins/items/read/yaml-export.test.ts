import { expect } from 'chai';
import { parse } from 'yaml';
import { EXPORT_FORMATS } from '../../../../plugins/items/library.ts';

const writer = EXPORT_FORMATS.yaml.writer();

const render = (...rows: readonly unknown[]): string =>
  writer.rows(
    rows.map((row) => JSON.stringify(row)),
    true,
  );

describe('YAML of exports', () => {
  it('renders nested rows as blocks', () => {
    expect(render({ id: 1, author: { name: 'Ann', tags: ['a', 'b'] }, parts: [{ id: 2, note: null }] })).to.equal(
      [
        '- id: 1',
        '  author:',
        '    name: Ann',
        '    tags:',
        '      - a',
        '      - b',
        '  parts:',
        '    - id: 2',
        '      note: null',
        '',
      ].join('\n'),
    );
  });

  it('reads as the same rows', () => {
    const rows = [
      { yes: true, no: false, null: null, '~': 1, 'a: b': 2, '- c': 3, '#d': 4, é: 5, '': 6, '12': 7, true: 8 },
      {
        texts: [
          '',
          ' lead',
          'trail ',
          'a\nb\r\nc',
          '"quoted" \\ \'x\'',
          '12',
          'true',
          '~',
          '2024-01-01',
          '# no comment',
          '- no list',
        ],
      },
      {
        texts: [
          '\u2028\u2029\u0085\u0000\u007f\u009f\ufeff',
          '\t',
          '😀',
          '{{ braces }}',
          '%directive',
          '---',
          '...',
          '&a *a !a',
        ],
      },
      {
        plain: [
          'Article 1',
          'True',
          'NULL',
          'y',
          'a - b',
          'a -',
          'a: b',
          'a #b',
          'e5',
          'Infinity',
          'x.nan',
          'a (b)/c',
          'a\n',
          'a ',
          'é',
        ],
      },
      { empty: {}, none: [], lists: [[], [[1, [2]], []], [{}, { a: [] }]], nested: { a: { b: { c: {} } } } },
      {},
    ];
    expect(parse(render(...rows))).to.deep.equal(rows);
  });

  it('keeps every digit of numbers', () => {
    const text = writer.rows(['{"a":12345678901234567890,"list":[0.12345678901234567890123],"b":1e+30}'], true);
    expect(text).to.equal('- a: 12345678901234567890\n  list:\n    - 0.12345678901234567890123\n  b: 1e+30\n');
  });
});
