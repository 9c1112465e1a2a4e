import type { Caller, Failure } from '#kernel';
import type { SchemaOverview } from '../../schema/contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { fieldOfColumn, isFromNestedStatement, parsePostgresErrorKey } from './postgres-error.ts';
import { type RefusedStatement, StatementRefusal } from './statement-refusal.ts';
import { findViolatedConstraint, type ViolatedConstraint } from './violated-constraint.ts';

type ExplainDeps = Pick<ItemsEngineDeps, 'db' | 'access' | 'schema'>;

/**
 * Adds to a failure what the caller may know of the constraint: its fields and allowed values, or the rows that refer
 * to the one that cannot be deleted. Runs after the rollback, and only for rejected statements.
 */
export async function explainConstraintRefusal(deps: ExplainDeps, caller: Caller, error: unknown): Promise<unknown> {
  if (!(error instanceof StatementRefusal) || isFromNestedStatement(error.statement.error)) return error;
  const { code } = error.statement.error;
  if (code === '23514' || code === '23P01') return withConstraint(deps, caller, error);
  if (code === '23503' || code === '23001') return withReference(deps, caller, error);
  if (code === '23502') return withoutHiddenField(deps, caller, error);
  return error;
}

/**
 * Adds the constraint's name for admins. Inside of a failed unit of work the connection answers no queries, so nothing
 * else is known.
 */
export function withConstraintName(caller: Caller, error: unknown): unknown {
  if (!caller.admin || !(error instanceof StatementRefusal) || isFromNestedStatement(error.statement.error))
    return error;
  const { code, constraint } = error.statement.error;
  if ((code !== '23514' && code !== '23P01') || constraint === undefined) return error;
  return error.with({
    detail: `The constraint ${constraint} does not hold.`,
    extensions: { ...error.extensions, constraint },
  });
}

/** The fields that an error may name: those that the caller may read, and those that the statement sets. */
async function findNameableFields({ access }: ExplainDeps, caller: Caller, { collection, written }: RefusedStatement) {
  const readable = await access.readableFields(collection, caller);
  return { readable, names: new Set([...readable, ...[...written].map(({ name }) => name)]) };
}

const CHECK = /^CHECK \((.*)\)(?: NO INHERIT| NOT VALID)*$/s;

async function withConstraint(deps: ExplainDeps, caller: Caller, refusal: StatementRefusal): Promise<Failure> {
  const { collection, error, written } = refusal.statement;
  const constraint = await findViolatedConstraint(deps.db, collection, error).catch(() => undefined);
  if (!constraint) return refusal;
  const { readable, names } = await findNameableFields(deps, caller, refusal.statement);
  const constraintFields = constraint.columns.map((column) => fieldOfColumn(collection, column));
  const namedFields = constraintFields.flatMap((field) => (field && names.has(field.name) ? [field] : []));
  const writtenFields = namedFields.filter((field) => written.has(field));
  // Where several columns have the same domain, only the columns that the statement sets are named.
  const fields = (constraint.isOfDomain && writtenFields.length > 0 ? writtenFields : namedFields).map(
    ({ name }) => name,
  );
  const isReadable =
    caller.admin || (!constraint.isOfRow && constraintFields.every((field) => field && readable.has(field.name)));
  const constraintExtensions = isReadable
    ? { constraint: error.constraint, allowed: renderConstraint(constraint) }
    : {};
  const subject = fields.length === 0 ? 'The row' : fields.join(', ');
  const reason = isReadable
    ? `${subject} does not fit the constraint ${error.constraint}: ${constraintExtensions.allowed}`
    : `${subject} does not fit a constraint.`;
  const path = refusal.extensions.path as readonly unknown[];
  return refusal.with({
    detail: reason,
    extensions: {
      collection: collection.name,
      field: fields.length === 0 ? null : fields.join(', '),
      ...(fields.length > 1 ? { fields } : {}),
      ...constraintExtensions,
      path: fields.length === 1 ? [...path, fields[0]] : path,
    },
  });
}

const renderConstraint = ({ definition }: ViolatedConstraint): string => CHECK.exec(definition)?.[1] ?? definition;

/** Names the collection whose rows refer to a row that therefore cannot be deleted, or whose key cannot be changed. */
async function withReference(deps: ExplainDeps, caller: Caller, refusal: StatementRefusal): Promise<Failure> {
  const { collection } = refusal.statement;
  const schemaSnapshot = await deps.schema.snapshot();
  const reference = findReference(schemaSnapshot, refusal.statement);
  if (!reference) return refusal;
  const holder = reference.collection;
  const path = refusal.extensions.path as readonly unknown[];
  // The changed key is no foreign key, so the path ends at the row.
  const rowPath = refusal.extensions.field === null ? path : path.slice(0, -1);
  const readable = holder ? await deps.access.readableFields(holder, caller) : undefined;
  if (!holder || !readable || readable.size === 0)
    return refusal.with({
      detail: 'Rows of another collection refer to it.',
      extensions: { collection: collection.name, field: null, path: rowPath },
    });
  const field = reference.field !== undefined && readable.has(reference.field) ? reference.field : null;
  const name = field === null ? holder.name : `${holder.name}.${field}`;
  return refusal.with({
    detail: `Rows of ${name} refer to it: change or delete those first.`,
    extensions: { collection: holder.name, field, path: rowPath },
  });
}

/** The foreign key that refers to the row; undefined where the foreign key of the row itself was violated. */
function findReference({ collections, relations }: SchemaOverview, { error, collection, action }: RefusedStatement) {
  const { code, schema, table, constraint } = error;
  const relation = relations.find(
    (one) => one.schema?.constraint_name === constraint && one.schema?.table === table && table !== undefined,
  );
  const { columns = [] } = parsePostgresErrorKey(error, collection) ?? {};
  const isLocal = columns.length === 1 && columns[0] === relation?.schema?.column;
  const isForeign = columns.length === 1 && columns[0] === relation?.schema?.foreign_key_column;
  const isOther = table !== collection.table?.name || schema !== collection.table?.schema;
  const isReferred =
    code === '23001' || action === 'delete' || (isLocal !== isForeign ? isForeign : isOther && action !== undefined);
  if (!isReferred) return undefined;
  const holder = [...collections.values()].find((one) => one.table?.schema === schema && one.table?.name === table);
  return { collection: holder, field: relation?.collection === holder?.name ? relation?.field : undefined };
}

async function withoutHiddenField(deps: ExplainDeps, caller: Caller, refusal: StatementRefusal): Promise<Failure> {
  const { field, path, collection } = refusal.extensions as {
    field: string | null;
    path: unknown[];
    collection: string;
  };
  if (field === null || (await findNameableFields(deps, caller, refusal.statement)).names.has(field)) return refusal;
  return refusal.with({
    detail: 'A value must not be null.',
    extensions: { collection, field: null, path: path.slice(0, -1) },
  });
}
