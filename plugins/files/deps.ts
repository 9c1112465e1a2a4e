import type { AsSystem, EventsApi, Log } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { InterProcessBus, InterProcessLock, ProcessPresence } from '../cluster/contract.ts';
import type { Db } from '../database/contract.ts';
import type { RoutingService } from '../http/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { MediaService } from '../media/contract.ts';
import type { QueryEngine } from '../query/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import type { SettingsService } from '../settings/contract.ts';
import type { StorageService } from '../storage/contract.ts';
import type { FilesConfig } from './config.ts';
import type { FileWriter } from './contract.ts';
import type { ImportFileFromUrl } from './import/import-file-from-url.ts';

/** Dependencies of the service `files`: rows, bytes, and the ledger of objects without a row. */
export interface FileServiceDeps {
  readonly access: AccessControl;
  readonly bus: InterProcessBus;
  readonly items: ItemsEngine;
  readonly lock: InterProcessLock;
  readonly media: MediaService;
  readonly presence: ProcessPresence;
  readonly query: QueryEngine;
  readonly schema: SchemaService;
  readonly settings: SettingsService;
  readonly storage: StorageService;
  readonly db: Db;
  readonly events: EventsApi;
  readonly log: Log;
  readonly config: Readonly<FilesConfig>;
}

/** Dependencies of the routes and of the GraphQL fields. */
export interface FileRouteDeps
  extends Pick<FileServiceDeps, 'access' | 'config' | 'events' | 'items' | 'log' | 'schema' | 'storage'> {
  readonly files: FileWriter;
  /** One for all of them, so that they share IMPORT_MAX_CONCURRENCY. */
  readonly importFile: ImportFileFromUrl;
  readonly asSystem: AsSystem;
  readonly readBody: RoutingService['readBody'];
  /**
   * Waits until the objects of deleted rows are removed, 10 seconds at most; the janitor removes the rest later. Call it outside of a
   * unit of work. Never rejects.
   */
  readonly waitForRemoval: () => Promise<void>;
}
