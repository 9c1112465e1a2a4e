import { expect } from 'chai';
import { renderParameterCastSql, toSqlParameter } from '../../../plugins/items/write/value-to-sql-parameter.ts';
import type { Column, Field, FieldType } from '../../../plugins/schema/contract.ts';

const field = (type: FieldType, column: Partial<Column> = {}): Field => ({
  collection: 'thing',
  name: 'field',
  type,
  special: [],
  meta: null,
  concealed: false,
  sensitive: false,
  relation: null,
  column: { sqlType: 'text', array: false, maxLength: null, precision: null, scale: null, ...column } as Column,
});

const arrayOf = (type: FieldType, sqlType: string): Field =>
  field('json', { array: true, sqlType: `${sqlType}[]`, element: { type, sqlType, dataType: sqlType } });

describe('toParameter and renderParameterCastSql', () => {
  const BECOME: readonly [field: Field, value: unknown, param: unknown][] = [
    [field('integer'), 7, '7'],
    [field('integer'), ' 7.0 ', '7'],
    [field('integer'), null, null],
    [field('bigInteger'), '9223372036854775807', '9223372036854775807'],
    [field('decimal'), 1e-7, '1e-7'],
    [field('boolean'), 'true', true],
    [field('boolean'), 0, false],
    [field('json'), 'text', '"text"'],
    [field('json'), { a: undefined }, '{}'],
    [field('json', { array: true, sqlType: 'text[]' }), ['a'], ['a']],
    [arrayOf('json', 'jsonb'), [1, null, 'a', [2]], ['1', null, '"a"', '[2]']],
    [
      arrayOf('integer', 'integer'),
      [
        [1, 2],
        [3, null],
      ],
      [
        [1, 2],
        [3, null],
      ],
    ],
    [arrayOf('binary', 'bytea'), ['AP8Q', null], [Buffer.from([0, 255, 16]), null]],
    [field('binary'), 'AP8Q', Buffer.from([0, 255, 16])],
    [field('csv'), ['a', 1], 'a,1'],
    [field('string'), 5, '5'],
    [field('string', { maxLength: 2 }), '😀😀', '😀😀'],
    [field('hash', { maxLength: 2 }), 'longer before it is hashed', 'longer before it is hashed'],
    [field('time'), '13:30', '13:30'],
    [field('timestamp'), '2024-02-29T13:30:05Z', '2024-02-29T13:30:05Z'],
    [field('geometry.Point'), { type: 'Point', coordinates: [1, 2] }, '{"type":"Point","coordinates":[1,2]}'],
  ];
  for (const [of, value, param] of BECOME) {
    it(`${of.type} converts ${JSON.stringify(value)}`, () =>
      expect(toSqlParameter(of, value).value).to.deep.equal(param));
  }

  const REFUSED: readonly [field: Field, value: unknown, code: string][] = [
    [field('integer'), '7.5', 'INVALID_PAYLOAD'],
    [field('integer'), '', 'INVALID_PAYLOAD'],
    [field('integer'), false, 'INVALID_PAYLOAD'],
    [field('bigInteger'), 2 ** 53, 'FAILED_VALIDATION'],
    [field('decimal'), Number.NaN, 'INVALID_PAYLOAD'],
    [field('decimal', { precision: 4, scale: 2 }), '99.995', 'VALUE_OUT_OF_RANGE'],
    [field('string', { maxLength: 2 }), 'abc', 'VALUE_TOO_LONG'],
    [field('string'), {}, 'INVALID_PAYLOAD'],
    [field('json', { array: true, sqlType: 'text[]' }), 'a', 'INVALID_PAYLOAD'],
    [field('uuid'), 'a', 'INVALID_PAYLOAD'],
    [field('date'), 'yesterday', 'INVALID_PAYLOAD'],
    [field('time'), 'noon', 'INVALID_PAYLOAD'],
  ];
  for (const [of, value, code] of REFUSED) {
    it(`${of.type} rejects ${JSON.stringify(value)} with ${code}`, () => {
      expect(() => toSqlParameter(of, value))
        .to.throw()
        .with.property('code', code);
      expect(() => toSqlParameter(of, value))
        .to.throw()
        .with.nested.property('extensions.field', 'field');
    });
  }

  it('renderParameterCastSql casts by the column’s own type', () => {
    expect(renderParameterCastSql(field('string', { sqlType: '"public"."mood"' }), '$1')).to.equal(
      '$1::"public"."mood"',
    );
    expect(renderParameterCastSql(field('geometry.Point'), '$2')).to.equal(
      'ST_SetSRID(ST_GeomFromGeoJSON($2::text), 4326)',
    );
  });
});
