import type { Authority, Caller, EventsApi, Log } from '#kernel';
import type { PackageHandle } from '../broker/contract.ts';
import type { Db } from '../database/contract.ts';
import type { SettingsReader } from '../extension-settings/contract.ts';
import type { DiscoveredExtension } from '../extensions/contract.ts';
import { toAccountability } from './caller-accountability.ts';
import { parseExtensionEnvironment } from './environment.ts';
import type { FullAuthorityDeps } from './injected-services.ts';
import { type PlainSchema, toPlainSchema } from './plain-schema.ts';
import type { UndoStack } from './undo-stack.ts';

/** The knex query builder. */
export type QueryBuilder = ReturnType<Db['builder']>;

/** What the parts of one loaded extension share. */
export interface ExtensionRuntime {
  readonly name: string;
  readonly deps: FullAuthorityDeps;
  readonly undoStack: UndoStack;
  readonly events: EventsApi;
  readonly log: Log;
  readonly db: Db;
  readonly env: Readonly<Record<string, unknown>>;
  readonly settings: SettingsReader;
  /** Events that the extension filters. */
  readonly filters: string[];
  /** Adds an authority to the extension's audit line. */
  recordAuthority(authority: Authority): void;
  /** The system caller, without a user's permissions; the ledger counts each use. */
  asSystem(reason: string): Caller;
  /** The query builder, loaded at the first read. */
  readonly database: QueryBuilder;
  schema(): Promise<PlainSchema>;
}

const FULL = {
  full: true,
  events: {},
  log: true,
  database: { sql: 'code with full authority has all of the database', ddl: true },
} as const;

/** Registers the extension as a subject with full authority; the undo stack removes it. */
export function createExtensionRuntime(
  extension: DiscoveredExtension,
  deps: FullAuthorityDeps,
  undoStack: UndoStack,
  filters: string[] = [],
): ExtensionRuntime {
  const authorities: Authority[] = [];
  const brokerAccess: PackageHandle = deps.subjects.register({
    name: extension.name,
    version: extension.version ?? 'local',
    runtime: 'full',
    grants: FULL,
    authorities,
  });
  undoStack.add(() => brokerAccess.remove());
  const db = brokerAccess.get<Db>('database');
  const { declaration } = deps.settings.parseDeclaration(extension.manifest?.settings ?? {});
  return {
    name: extension.name,
    deps,
    undoStack,
    events: brokerAccess.get('events'),
    log: brokerAccess.get('log'),
    db,
    env: parseExtensionEnvironment(deps.packages.settings()),
    settings: deps.settings.createReader({ id: extension.id, name: extension.name, declaration }),
    filters,
    recordAuthority: (authority) => void authorities.push(authority),
    asSystem: (reason) => brokerAccess.holder.asSystem(reason),
    get database() {
      return db.builder();
    },
    schema: async () => toPlainSchema(await deps.schema.snapshot()),
  };
}

/** The last argument of event handlers (conventions, "Hook"); in a filter `database` is the current transaction. */
export async function createEventContext(runtime: ExtensionRuntime, caller: Caller) {
  return {
    get database() {
      return runtime.database;
    },
    schema: await runtime.schema(),
    accountability: toAccountability(caller),
  };
}
