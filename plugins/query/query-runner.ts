import { fail, requestScope } from '#kernel';
import type { Db, StatementOptions } from '../database/contract.ts';
import { shareOf } from '../database/library.ts';
import { returningSql } from './compile/returning.ts';
import { readStatement, streamStatement } from './compile/read.ts';
import { isRuntimeParameter, type RuntimeParameter, StatementBuilder } from './compile/statement.ts';
import { whereSql } from './compile/where.ts';
import type { BoundValue, DynamicValue, Prepared, Query, Read, ReadText, Subjects } from './contract.ts';
import { explainStatement } from './explain.ts';
import { throwQueryFailure } from './failures.ts';
import { timestampAt } from './now.ts';
import { createStatementNames } from './statement-names.ts';
import { renderShape } from './read-shape.ts';
import type { RecordDuration } from './slow-log.ts';
import { streamRows } from './stream.ts';

const MAX_PARAMS = 65_535;
const NO_VALUES: readonly BoundValue[] = [];

type QueryRunner = Omit<Query, 'ceilings' | 'parse' | 'parseFilter'>;

/** Compiles restricted trees and runs them: one statement a read, whose JSON passes through untouched. */
export function createQueryRunner(db: Db, noteTime: RecordDuration = () => {}): QueryRunner {
  const named = createStatementNames();

  const prepare: QueryRunner['prepare'] = (read, overview, form = 'text') => {
    const statement = new StatementBuilder(overview, whereSql);
    const text = (form === 'rows' ? streamStatement : readStatement)(statement, read);
    assertParameterCount(statement.params);
    // A cursor is made anew each time.
    return new PreparedRead(read, form, text, statement.params, form === 'text' ? named.get(text) : undefined);
  };

  const keep: QueryRunner['keep'] = (prepared) => {
    const name = prepared.name ?? named.assign(prepared.text);
    if (name === prepared.name) return prepared;
    const { read, form, text, params } = prepared as PreparedRead;
    return new PreparedRead(read, form, text, params, name);
  };

  const run = async (prepared: Prepared, subjects: Subjects): Promise<ReadText> => {
    const params = resolveParameters(prepared.params, subjects);
    const from = performance.now();
    try {
      const options = statementOptions(prepared, subjects);
      const row = await db
        .first(prepared.text, params, options)
        .catch((error) => throwQueryFailure(error, options.share?.collection));
      return { data: row?.[0] ?? null, meta: row?.[1] ?? null };
    } finally {
      noteTime(prepared, subjects, performance.now() - from);
    }
  };

  const text: QueryRunner['readText'] = (read, subjects, overview) => run(prepare(read, overview), subjects);

  return {
    prepare,
    ownRow: returningSql,
    keep,
    given: (prepared, values = {}) => (prepared as PreparedRead).read.placeholders?.map((bind) => bind(values)) ?? NO_VALUES,
    run,
    stream: (prepared, subjects, options) =>
      streamRows(db, prepared, resolveParameters(prepared.params, subjects), {
        signal: options?.signal ?? (subjects.owner === undefined ? requestScope.getStore()?.signal : undefined),
        share: shareOf((prepared as PreparedRead).read.collection.name, subjects),
        onEnd: (ms) => noteTime(prepared, subjects, ms),
      }),
    explain: ({ text, params }) => explainStatement(db, text, params),
    readText: text,
    async rows(read, subjects, overview) {
      const { data } = await text(read, subjects, overview);
      const parsed = data === null ? [] : JSON.parse(data);
      return Array.isArray(parsed) ? parsed : [parsed];
    },
    condition(where, subjects, overview, first) {
      const statement = new StatementBuilder(overview, whereSql, first);
      const condition = statement.where('t', where);
      assertParameterCount(statement.params, first);
      const params = resolveParameters(statement.params, subjects);
      return {
        text: condition,
        params,
        get where() {
          return db.raw(condition);
        },
      };
    },
  };
}

class PreparedRead implements Prepared {
  readonly read: Read;
  readonly form: Prepared['form'];
  readonly text: string;
  readonly params: readonly unknown[];
  readonly name?: string;

  constructor(read: Read, form: Prepared['form'], text: string, params: readonly unknown[], name?: string) {
    this.read = read;
    this.form = form;
    this.text = text;
    this.params = params;
    if (name !== undefined) this.name = name;
  }

  get single(): boolean {
    return this.read.single;
  }

  get hasMeta(): boolean {
    return this.read.meta.length > 0;
  }

  /** Made when a log line wants it. */
  get shape(): string {
    return renderShape(this.read);
  }
}

/**
 * A client that goes away takes its statement along; not what a plugin reads for itself meanwhile, which may be for
 * others as well.
 */
function statementOptions(prepared: Prepared, subjects: Subjects): StatementOptions {
  const { name } = prepared;
  const share = shareOf((prepared as PreparedRead).read.collection.name, subjects);
  const scope = subjects.owner === undefined ? requestScope.getStore() : undefined;
  if (!scope) return { name, share };
  return { name, share, signal: () => scope.signal };
}

function resolveParameters(params: readonly unknown[], subjects: Subjects): readonly unknown[] {
  return params.some(isRuntimeParameter) ? params.map((one) => (isRuntimeParameter(one) ? resolveParameter(one, subjects) : one)) : params;
}

/** The protocol counts parameters in 16 bits; one more garbles the message. */
function assertParameterCount(params: readonly unknown[], first = 1): void {
  const count = params.length + first - 1;
  if (count > MAX_PARAMS)
    throw fail('INVALID_QUERY', `the query has ${count} values, more than the ${MAX_PARAMS} allowed`);
}

function resolveParameter({ dynamic: pending, convert: made }: RuntimeParameter, subjects: Subjects): unknown {
  if (pending.dynamic !== 'given' && pending.dynamic !== 'keys') return resolveDynamicValue(pending, subjects);
  const value = pending.dynamic === 'keys' ? subjects.keys : subjects.given?.[pending.at];
  // A statement without its values would find something else than was asked for.
  if (value === undefined) throw new Error('a statement is run without the values it is to be given');
  return made ? made(value) : value;
}

/** No user or role → null, which compares with nothing. */
function resolveDynamicValue(value: Exclude<DynamicValue, { dynamic: 'given' | 'keys' }>, subjects: Subjects): string | number | null {
  if (value.dynamic === 'key') return subjects.key ?? null;
  if (value.dynamic !== 'now') return value.dynamic === 'user' ? subjects.user : subjects.role;
  return timestampAt(value);
}
