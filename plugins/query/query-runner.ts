import { fail, requestScope } from '#kernel';
import type { Db, StatementOptions } from '../database/contract.ts';
import { createPoolShareHolder } from '../database/library.ts';
import { createStatementSources, currentAnswerSources, setAnswerSourcesLookup } from './answer-sources.ts';
import { CompilationState, isRuntimeParameter, type RuntimeParameter } from './compile/compilation-state.ts';
import { compileCursorStatement, compileKeyedStatement, compileReadStatement } from './compile/read.ts';
import { returningRowJsonSql } from './compile/returning.ts';
import { whereSql } from './compile/where.ts';
import type {
  BoundPlaceholderValue,
  DynamicValue,
  KeyedRowText,
  PreparedStatement,
  QueryEngine,
  QueryExecutionContext,
  ReadNode,
  ReadResultText,
  StatementSources,
} from './contract.ts';
import { explainStatement } from './explain.ts';
import { throwQueryFailure } from './failures.ts';
import { timestampOfNowOffset } from './now-dynamic-value.ts';
import { renderReadForLog } from './render-read-for-log.ts';
import type { RecordDuration } from './slow-log.ts';
import { createStatementNames } from './statement-names.ts';
import { streamRows } from './stream.ts';

const MAX_PARAMS = 65_535;
const COMPILERS = { text: compileReadStatement, rows: compileCursorStatement, keyed: compileKeyedStatement } as const;
const NO_VALUES: readonly BoundPlaceholderValue[] = [];

type QueryRunner = Omit<QueryEngine, 'ceilings' | 'parse' | 'parseFilter'>;

/** Compiles restricted trees and runs them: one statement per read, whose JSON text is answered unchanged. */
export function createQueryRunner(db: Db, recordDuration: RecordDuration = () => {}): QueryRunner {
  const statementNames = createStatementNames();

  const prepare: QueryRunner['prepare'] = (read, schema, form = 'text') => {
    const statement = new CompilationState(schema, whereSql);
    const text = COMPILERS[form](statement, read);
    assertParameterCount(statement.params);
    // A cursor is declared for each run, so its statement gets no name.
    const { params, tables } = statement;
    return new PreparedRead(
      { read, form, text, params, tables },
      form !== 'rows' ? statementNames.get(text) : undefined,
    );
  };

  const keep: QueryRunner['keepPrepared'] = (prepared) => {
    const name = prepared.name ?? statementNames.assign(prepared.text);
    if (name === prepared.name) return prepared;
    return new PreparedRead(prepared as PreparedRead, name);
  };

  const run = async (prepared: PreparedStatement, context: QueryExecutionContext): Promise<ReadResultText> => {
    currentAnswerSources()?.addStatement((prepared as PreparedRead).sources);
    const params = resolveParameters(prepared.params, context);
    const from = performance.now();
    try {
      const options = statementOptions(prepared, context);
      const row = await db
        .first(prepared.text, params, options)
        .catch((error) => throwQueryFailure(error, options.share?.collection));
      return { data: row?.[0] ?? null, meta: row?.[1] ?? null };
    } finally {
      recordDuration(prepared, context, performance.now() - from);
    }
  };

  const text: QueryRunner['readText'] = (read, context, schema) => run(prepare(read, schema), context);

  return {
    prepare,
    compileReturning: returningRowJsonSql,
    keepPrepared: keep,
    bindPlaceholders: (prepared, values = {}) =>
      (prepared as PreparedRead).read.placeholders?.map((bind) => bind(values)) ?? NO_VALUES,
    run,
    runKeyed: createKeyedRunner(db, recordDuration),
    stream(prepared, context, options) {
      currentAnswerSources()?.addStatement((prepared as PreparedRead).sources);
      return streamRows(db, prepared, resolveParameters(prepared.params, context), {
        signal: options?.signal ?? (context.owner === undefined ? requestScope.getStore()?.signal : undefined),
        share: createPoolShareHolder((prepared as PreparedRead).read.collection.name, context),
        onEnd: (ms) => recordDuration(prepared, context, ms),
      });
    },
    setAnswerSourcesLookup,
    explain: ({ text, params }) => explainStatement(db, text, params),
    readText: text,
    async readRows(read, context, schema) {
      const { data } = await text(read, context, schema);
      const parsed = data === null ? [] : JSON.parse(data);
      return Array.isArray(parsed) ? parsed : [parsed];
    },
    compileCondition(where, context, schema, first) {
      const statement = new CompilationState(schema, whereSql, first);
      const condition = statement.where('t', where);
      assertParameterCount(statement.params, first);
      const params = resolveParameters(statement.params, context);
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

const createKeyedRunner =
  (db: Db, recordDuration: RecordDuration): QueryRunner['runKeyed'] =>
  async (prepared, context) => {
    const params = resolveParameters(prepared.params, context);
    const from = performance.now();
    try {
      const options = statementOptions(prepared, context);
      const { rows } = await db
        .query<KeyedRowText>(prepared.text, params, options)
        .catch((error) => throwQueryFailure(error, options.share?.collection));
      return rows;
    } finally {
      recordDuration(prepared, context, performance.now() - from);
    }
  };

type CompiledRead = Pick<PreparedRead, 'read' | 'form' | 'text' | 'params' | 'tables'>;

class PreparedRead implements PreparedStatement {
  readonly read: ReadNode;
  readonly form: PreparedStatement['form'];
  readonly text: string;
  readonly params: readonly unknown[];
  readonly tables: ReadonlySet<string>;
  readonly name?: string;
  #sources: StatementSources | undefined;

  constructor({ read, form, text, params, tables }: CompiledRead, name?: string) {
    this.read = read;
    this.form = form;
    this.text = text;
    this.params = params;
    this.tables = tables;
    if (name !== undefined) this.name = name;
  }

  get sources(): StatementSources {
    this.#sources ??= createStatementSources(this.tables, this.params);
    return this.#sources;
  }

  get single(): boolean {
    return this.read.single;
  }

  get hasMeta(): boolean {
    return this.read.meta.length > 0;
  }

  /** Renders the shape only when a log line needs it. */
  get shape(): string {
    return renderReadForLog(this.read);
  }
}

/**
 * The statement is cancelled when the client disconnects. A read that a plugin makes on its own behalf is not, since its result may
 * be cached for other requests.
 */
function statementOptions(prepared: PreparedStatement, context: QueryExecutionContext): StatementOptions {
  const { name } = prepared;
  const share = createPoolShareHolder((prepared as PreparedRead).read.collection.name, context);
  const scope = context.owner === undefined ? requestScope.getStore() : undefined;
  if (!scope) return { name, share };
  return { name, share, signal: () => scope.signal };
}

function resolveParameters(params: readonly unknown[], context: QueryExecutionContext): readonly unknown[] {
  return params.some(isRuntimeParameter)
    ? params.map((one) => (isRuntimeParameter(one) ? resolveParameter(one, context) : one))
    : params;
}

/** The protocol of PostgreSQL counts parameters in 16 bits; one more corrupts the message. */
function assertParameterCount(params: readonly unknown[], first = 1): void {
  const count = params.length + first - 1;
  if (count > MAX_PARAMS)
    throw fail('INVALID_QUERY', `the query has ${count} values, more than the ${MAX_PARAMS} allowed`);
}

function resolveParameter({ runtimeValue, convert }: RuntimeParameter, context: QueryExecutionContext): unknown {
  if (runtimeValue.dynamic === 'rows') return requireRunValue(context.rows);
  if (runtimeValue.dynamic !== 'placeholder' && runtimeValue.dynamic !== 'keys')
    return resolveDynamicValue(runtimeValue, context);
  const value = runtimeValue.dynamic === 'keys' ? context.keys : context.boundValues?.[runtimeValue.at];
  const present = requireRunValue(value as BoundPlaceholderValue | undefined);
  return convert ? convert(present) : present;
}

/** With null in place of a missing value the statement would find other rows than the query. */
function requireRunValue<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a statement was run without the values of its keys, rows or placeholders');
  return value;
}

/**
 * The value of a dynamic value at run time. `$CURRENT_USER` and `$CURRENT_ROLE` are null for a caller without a user or role, and
 * null equals nothing.
 */
function resolveDynamicValue(
  value: Exclude<DynamicValue, { dynamic: 'placeholder' | 'keys' | 'rows' }>,
  context: QueryExecutionContext,
): string | number | null {
  if (value.dynamic === 'key') return context.key ?? null;
  if (value.dynamic !== 'now') return value.dynamic === 'user' ? context.user : context.role;
  return timestampOfNowOffset(value);
}
