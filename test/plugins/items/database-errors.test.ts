import { expect } from 'chai';
import { type Failure, Failures, fail } from '#kernel';
import { translatePostgresWriteError } from '../../../plugins/items/write/database-errors.ts';
import { prefixErrorPath } from '../../../plugins/items/write/row-path.ts';
import type { Collection, Field } from '../../../plugins/schema/contract.ts';

const fields = new Map(
  ['mail', 'up', 'n'].map((name) => [name, { name, column: { name: `${name}_column` } } as unknown as Field]),
);
const collection = { name: 'thing', fields } as unknown as Collection;

const postgresError = (code: string, parts: Record<string, string> = {}) =>
  Object.assign(new Error(parts.message ?? 'no'), { code, severity: 'ERROR', ...parts });
const translated = (code: string, parts?: Record<string, string>) =>
  translatePostgresWriteError(postgresError(code, parts), collection, {
    paramCount: 3,
    fieldOfParam: (param) => fields.get(['mail', 'n', 'up'][param - 1] ?? ''),
  }) as Failure;

describe('translatePostgresWriteError', () => {
  const CASES: readonly [code: string, parts: Record<string, string>, expected: Record<string, unknown>][] = [
    ['23505', { detail: 'Key (mail_column)=(a@b.c) already exists.' }, { code: 'RECORD_NOT_UNIQUE', field: 'mail' }],
    [
      '23505',
      { detail: 'Key (lower(mail_column::text))=(a) already exists.' },
      { code: 'RECORD_NOT_UNIQUE', field: 'mail' },
    ],
    [
      '23505',
      { detail: 'Schlüssel »(mail_column)=(a (b) c)« existiert bereits.' },
      { code: 'RECORD_NOT_UNIQUE', field: 'mail' },
    ],
    [
      '23503',
      { detail: 'Key (up_column)=(9) is not present in table "up".' },
      { code: 'INVALID_FOREIGN_KEY', field: 'up' },
    ],
    ['23502', { column: 'n_column' }, { code: 'NOT_NULL_VIOLATION', field: 'n' }],
    ['22003', { where: "unnamed portal parameter $2 = '...'" }, { code: 'VALUE_OUT_OF_RANGE', field: 'n' }],
    ['22003', {}, { code: 'VALUE_OUT_OF_RANGE', field: null }],
    ['22P02', { where: 'unnamed portal parameter $2' }, { code: 'INVALID_PAYLOAD', field: 'n' }],
    ['22P02', { where: 'PL/pgSQL function f() line 1' }, { code: 'INVALID_PAYLOAD', field: null }],
    [
      '23505',
      { detail: 'Key (mail_column, hidden)=(a@b.c, s3cret) already exists.' },
      { code: 'RECORD_NOT_UNIQUE', field: 'mail' },
    ],
    ['23505', { detail: 'Key (hidden)=(s3cret) already exists.' }, { code: 'RECORD_NOT_UNIQUE', field: null }],
    [
      '23505',
      { detail: 'Key (mail_column)=(s3cret) already exists.', where: 'SQL statement "insert into other …"' },
      { code: 'RECORD_NOT_UNIQUE', field: null },
    ],
    [
      '23502',
      { column: 'hidden', where: 'SQL statement "insert into other …"\nPL/pgSQL function f() line 1' },
      { code: 'NOT_NULL_VIOLATION', field: null },
    ],
    ['22P02', { message: 'invalid input syntax for type integer: "s3cret"' }, { code: 'INVALID_PAYLOAD', field: null }],
    ['0A000', { message: 'DO ALSO rules are not supported for …' }, { code: 'UNPROCESSABLE_ENTITY', field: undefined }],
    ['23514', { constraint: 'positive' }, { code: 'INVALID_PAYLOAD', field: undefined }],
    [
      '428C9',
      { message: 'cannot insert a non-DEFAULT value into column "n_column"' },
      { code: 'INVALID_PAYLOAD', field: 'n' },
    ],
    ['40P01', {}, { code: 'SERVICE_UNAVAILABLE', field: undefined }],
    ['42501', {}, { code: 'FORBIDDEN', field: undefined }],
  ];
  for (const [code, parts, { code: expected, field }] of CASES) {
    it(`translates ${code} ${JSON.stringify(parts)} to ${expected}`, () => {
      const failure = translated(code, parts);
      expect([failure.code, failure.extensions.field]).to.deep.equal([expected, field]);
      expect(JSON.stringify([failure.message, failure.extensions])).to.not.include('s3cret');
      expect(JSON.stringify([failure.message, failure.extensions]), 'a value').to.not.match(/a@b|70000|\(b\)/);
    });
  }

  it('returns other errors and translated failures unchanged', () => {
    for (const error of [new Error('a bug'), fail('FORBIDDEN'), postgresError('XX000')])
      expect(translatePostgresWriteError(error, collection)).to.equal(error);
  });

  it('prefixes the path with the relation fields that lead to the row', () => {
    const inner = fail('RECORD_NOT_UNIQUE', 'twice', { field: 'mail', path: ['mail'] });
    const outer = prefixErrorPath(['up'], prefixErrorPath(['down', 2], inner)) as Failure;
    expect([outer.code, outer.detail, outer.extensions]).to.deep.equal([
      'RECORD_NOT_UNIQUE',
      'twice',
      { field: 'mail', path: ['up', 'down', 2, 'mail'] },
    ]);
    const several = prefixErrorPath(['up'], new Failures([inner, fail('FORBIDDEN', 'no')])) as Failures;
    expect(several.failures.map(({ extensions }) => extensions.path)).to.deep.equal([['up', 'mail'], undefined]);
    const bug = new Error('a bug');
    expect(prefixErrorPath(['up'], bug)).to.equal(bug);
  });
});
