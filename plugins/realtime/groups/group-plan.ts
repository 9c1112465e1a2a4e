import { type Caller, type EventsApi, fail } from '#kernel';
import type { AccessControl, PermissionSet } from '../../access/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type {
  KeyedRowText,
  ParseOptions,
  PreparedStatement,
  QueryEngine,
  QueryExecutionContext,
} from '../../query/contract.ts';
import { keyColumns } from '../../query/library.ts';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';
import { dependsOnAbsence } from './depends-on-absence.ts';
import { hasReadListeners } from './listened-collections.ts';
import type { Question } from './question.ts';
import { readRowsForListeners } from './read-for-listeners.ts';

export interface PlanDeps {
  readonly access: Pick<AccessControl, 'permissions' | 'restrict' | 'fieldVisibility'>;
  readonly query: Pick<QueryEngine, 'parse' | 'prepare' | 'keepPrepared' | 'runKeyed'>;
  readonly items: Pick<ItemsEngine, 'readKeys' | 'select'>;
  readonly events: Pick<EventsApi, 'hasListeners'>;
}

/** How one question is answered with one set of permissions. */
export interface GroupPlan {
  readonly collection: Collection;
  /** Whether the answers depend on the user or the role beside the permissions. */
  readonly ofUser: boolean;
  readonly ofRole: boolean;
  /** Whether a key has one text only, so that the text in a change is the one that clients know. */
  readonly hasPlainKey: boolean;
  /** Whether deletes and leaving rows can be judged. */
  readonly judgesOldRows: boolean;
  /** The rows of these keys that may be read and match, in the order of the keys. */
  readRows(caller: Caller, keys: readonly string[]): Promise<readonly KeyedRowText[]>;
  /** The keys of those of the old rows (JSON texts) that could be read and matched. */
  readOldKeys(caller: Caller, rows: readonly string[]): Promise<readonly string[]>;
}

/** @throws FORBIDDEN for what the caller may not read, INVALID_QUERY, INVALID_PAYLOAD where rows cannot be named. */
export async function createGroupPlan(
  deps: PlanDeps,
  question: Question,
  caller: Caller,
  set: PermissionSet,
  schema: SchemaOverview,
): Promise<GroupPlan> {
  const { access, query } = deps;
  const collection = findSubscribableCollection(schema, question.collection, set);
  const compile = async (options: Pick<ParseOptions, 'keys' | 'rows'>, withoutFields = false) => {
    const parsed = query.parse(collection, question.query, {
      schema,
      isVisible: access.fieldVisibility(set),
      unlimited: true,
      ...options,
      ...(question.selection ? { selection: question.selection } : {}),
    });
    const read = await access.restrict(withoutFields ? { ...parsed, projections: [] } : parsed, caller, schema);
    return { rule: read.rule, prepared: query.prepare(read, schema, 'keyed') };
  };
  const rows = await compile({ keys: { dynamic: 'keys' } });
  const old = await compile({ rows: true }, true);
  const isListened = hasReadListeners(deps.events, collection);
  const ofUser = isListened || rows.prepared.sources.user || old.prepared.sources.user;
  const ofRole = isListened || rows.prepared.sources.role || old.prepared.sources.role;
  const statements = {
    rows: new RepeatedStatement(query, rows.prepared),
    old: new RepeatedStatement(query, old.prepared),
  };
  const context = ({ user, role }: Caller): QueryExecutionContext => ({
    user: ofUser ? user : null,
    role: ofRole ? role : null,
    owner: 'realtime',
  });

  return {
    collection,
    ofUser,
    ofRole,
    hasPlainKey: keyColumns(collection).every(isPlain),
    judgesOldRows: !dependsOnAbsence(old.rule),
    readRows: (reader, keys) =>
      hasReadListeners(deps.events, collection)
        ? readRowsForListeners(deps.items, reader, question, keys)
        : statements.rows.run({ ...context(reader), keys }),
    async readOldKeys(reader, texts) {
      const found = await statements.old.run({ ...context(reader), rows: `[${texts.join()}]` });
      return found.map(({ key }) => key);
    },
  };
}

/** @throws FORBIDDEN, INVALID_PAYLOAD */
function findSubscribableCollection(schema: SchemaOverview, name: string, set: PermissionSet): Collection {
  const collection = schema.collections.get(name);
  if (!collection?.table || set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);
  if (collection.kind !== 'table' || keyColumns(collection).length === 0)
    throw fail('INVALID_PAYLOAD', `${name} is a view or has no key, so changes of its rows are not announced`);
  return collection;
}

const PLAIN_TYPES: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'uuid', 'string', 'text']);
const isPlain = ({ type, column }: Field): boolean => PLAIN_TYPES.has(type) && column?.dataType !== 'character';

/** A statement that connections keep prepared from its second run on. */
class RepeatedStatement {
  readonly #query: PlanDeps['query'];
  #prepared: PreparedStatement;
  #runs = 0;

  constructor(query: PlanDeps['query'], prepared: PreparedStatement) {
    this.#query = query;
    this.#prepared = prepared;
  }

  run(context: QueryExecutionContext): Promise<readonly KeyedRowText[]> {
    if (++this.#runs === 2) this.#prepared = this.#query.keepPrepared(this.#prepared);
    return this.#query.runKeyed(this.#prepared, context);
  }
}
