import type { Authority, Caller, EventsApi, Log } from '#kernel';
import type { Admitted } from '../broker/contract.ts';
import type { Db } from '../database/contract.ts';
import type { SettingsReader } from '../extension-settings/contract.ts';
import type { DiscoveredExtension } from '../extensions/contract.ts';
import { toAccountability } from './caller.ts';
import type { FullDeps } from './deps.ts';
import { parsedEnvironment } from './parsed-environment.ts';
import { type PlainSchema, toPlainSchema } from './plain-schema.ts';
import type { UndoStack } from './undo-stack.ts';

/** All of knex. */
export type QueryBuilder = ReturnType<Db['builder']>;

/** What all parts of one loaded extension work with. */
export interface ExtensionRuntime {
  readonly name: string;
  readonly deps: FullDeps;
  readonly undoStack: UndoStack;
  readonly events: EventsApi;
  readonly log: Log;
  readonly db: Db;
  readonly env: Readonly<Record<string, unknown>>;
  readonly settings: SettingsReader;
  /** Events that it filters. */
  readonly filters: string[];
  /** Enters in the audit what the extension added. */
  recordAuthority(authority: Authority): void;
  /** Acts without a user's permissions, which the ledger counts. */
  asSystem(reason: string): Caller;
  /** Loads the query builder when first read. */
  readonly database: QueryBuilder;
  schema(): Promise<PlainSchema>;
}

const FULL = {
  full: true,
  events: {},
  log: true,
  database: { sql: 'code with full authority has all of the database', ddl: true },
} as const;

/** Admits the extension under its name, with everything; `scope` takes it away. */
export function createExtensionRuntime(
  found: DiscoveredExtension,
  deps: FullDeps,
  scope: UndoStack,
  filters: string[] = [],
): ExtensionRuntime {
  const authorities: Authority[] = [];
  const admitted: Admitted = deps.subjects.admit({
    name: found.name,
    version: found.version ?? 'local',
    runtime: 'full',
    grants: FULL,
    authorities,
  });
  scope.add(() => admitted.remove());
  const db = admitted.get<Db>('database');
  const { declaration } = deps.settings.parseDeclaration(found.manifest?.settings ?? {});
  return {
    name: found.name,
    deps,
    undoStack: scope,
    events: admitted.get('events'),
    log: admitted.get('log'),
    db,
    env: parsedEnvironment(deps.packages.settings()),
    settings: deps.settings.createReader({ id: found.id, name: found.name, declaration }),
    filters,
    recordAuthority: (authority) => void authorities.push(authority),
    asSystem: (reason) => admitted.subject.asSystem(reason),
    get database() {
      return db.builder();
    },
    schema: async () => toPlainSchema(await deps.schema.overview()),
  };
}

/** The last argument of event handlers (conventions, "Hook"); in a filter `database` is the current transaction. */
export async function createEventContext(kit: ExtensionRuntime, caller: Caller) {
  return {
    get database() {
      return kit.database;
    },
    schema: await kit.schema(),
    accountability: toAccountability(caller),
  };
}
