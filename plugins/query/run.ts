import { createHash } from 'node:crypto';
import { fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import { readStatement } from './compile/read.ts';
import { isPending, Statement } from './compile/statement.ts';
import { whereSql } from './compile/where.ts';
import type { Dynamic, Prepared, Query, ReadText, Subjects } from './contract.ts';
import { momentAt } from './moment.ts';

/** Statements kept prepared in all of a process' life: each costs memory on every connection and is never dropped. */
const MAX_NAMED = 1000;
/** Longer statements cost more memory on every connection than preparing them saves. */
const MAX_NAMED_TEXT = 4000;
const MAX_PARAMS = 65_535;

type Run = Pick<Query, 'prepare' | 'keep' | 'run' | 'text' | 'rows' | 'condition'>;

/** Compiles restricted trees and runs them: one statement a read, whose JSON passes through untouched. */
export function createRun(db: Db): Run {
  let named = 0;

  const prepare: Run['prepare'] = (read, overview) => {
    const statement = new Statement(overview);
    const text = readStatement(statement, read);
    checkCount(statement.params);
    return { text, params: statement.params, single: read.single, hasMeta: read.meta.length > 0 };
  };

  const keep: Run['keep'] = (prepared) => {
    if (prepared.name !== undefined || named >= MAX_NAMED || prepared.text.length > MAX_NAMED_TEXT) return prepared;
    named++;
    return { ...prepared, name: `q${createHash('sha1').update(prepared.text).digest('base64url')}` };
  };

  const run = async (prepared: Prepared, subjects: Subjects): Promise<ReadText> => {
    const params = resolve(prepared.params, subjects);
    const options = prepared.name === undefined ? undefined : { name: prepared.name };
    const { rows } = await db
      .query<{ data: string | null; meta?: string }>(prepared.text, params, options)
      .catch(asQueryError);
    return { data: rows[0]?.data ?? null, meta: rows[0]?.meta ?? null };
  };

  const text: Run['text'] = (read, subjects, overview) => run(prepare(read, overview), subjects);

  return {
    prepare,
    keep,
    run,
    text,
    async rows(read, subjects, overview) {
      const { data } = await text(read, subjects, overview);
      const parsed = data === null ? [] : JSON.parse(data);
      return Array.isArray(parsed) ? parsed : [parsed];
    },
    condition(where, subjects, overview, first) {
      const statement = new Statement(overview, first);
      const condition = whereSql(statement, 't', where);
      checkCount(statement.params, first);
      return { text: condition, params: resolve(statement.params, subjects) };
    },
  };
}

function resolve(params: readonly unknown[], subjects: Subjects): readonly unknown[] {
  return params.some(isPending) ? params.map((one) => (isPending(one) ? valueAt(one.pending, subjects) : one)) : params;
}

/** The protocol counts parameters in 16 bits; one more garbles the message. */
function checkCount(params: readonly unknown[], first = 1): void {
  if (params.length + first - 1 > MAX_PARAMS) throw fail('INVALID_QUERY', 'the query has too many values');
}

/** No user or role → null, which compares with nothing. */
function valueAt(value: Dynamic, subjects: Subjects): string | number | null {
  if (value.dynamic === 'key') return subjects.key ?? null;
  if (value.dynamic !== 'now') return value.dynamic === 'user' ? subjects.user : subjects.role;
  return momentAt(value);
}

/** Data exceptions of a read (class 22) come from a value in the query that only PostgreSQL could judge. */
function asQueryError(error: unknown): never {
  const { code, message } = error as { code?: string; message?: string };
  if (typeof code === 'string' && /^22/.test(code)) throw fail('INVALID_QUERY', `a value does not fit: ${message}`);
  // Class 54: more columns, deeper expressions or longer answers than PostgreSQL can handle.
  if (typeof code === 'string' && /^54/.test(code)) throw fail('INVALID_QUERY', `the query is too large: ${message}`);
  if (code === '40P01')
    throw fail('SERVICE_UNAVAILABLE', 'A change was in the way; try again.', { service: 'database' });
  if (code === 'ERR_STRING_TOO_LONG')
    throw fail('INVALID_QUERY', 'the answer is too large: ask for fewer rows or fields');
  if (code === '57014') throw fail('SERVICE_UNAVAILABLE', 'The database took too long.', { service: 'database' });
  throw error;
}
