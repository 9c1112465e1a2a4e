import type { Readable } from 'node:stream';
import { authorities, facet, service } from '#kernel';

/** Bytes from `start` to `end`, both included. The object has at least `end + 1` bytes. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** An object open for reading. Read `bytes` to their end or destroy them. */
export interface OpenedStorageObject {
  /** Bytes of the whole object, also for a range. */
  readonly size: number;
  readonly bytes: Readable;
}

/** What a storage backend may store beside the bytes. */
export interface StorageWriteOptions {
  /** MIME type, for backends that store one. */
  readonly type?: string;
}

/** One object, without its bytes. `size` in bytes. */
export interface StorageObjectStat {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * Stores objects (specification, "Files endpoints"; conventions, "Storage"). A name is one path segment of letters, digits, `_`,
 * `-` and `.`, created by the service and never reused for other bytes. A missing object is `undefined`; every other failure
 * rejects with the error of the backend.
 */
export interface StorageDriver {
  /** Opens an object, or a range of it, for reading. */
  open(name: string, range?: ByteRange): Promise<OpenedStorageObject | undefined>;
  /**
   * Stores what `source` yields under `name`: all of it or, if source or backend fails, nothing that can be opened. When
   * this resolves the object survives a crash of the machine. Memory stays flat whatever the size. Answers the bytes written.
   * @throws the errors of `source` and of the backend.
   */
  write(name: string, source: AsyncIterable<Uint8Array>, options?: StorageWriteOptions): Promise<number>;
  /** Removes the object and everything that an interrupted write of it left. A missing object is no error. */
  remove(name: string): Promise<void>;
  /** Size and time of an object, without reading it. */
  stat(name: string): Promise<StorageObjectStat | undefined>;
  /** All objects whose names start with `prefix`, in any order. */
  list(prefix: string): AsyncIterable<StorageObjectStat>;
  /** Path of the object on this machine, for programs that read files. Drivers whose objects are no files leave it out. */
  path?(name: string): string;
  /**
   * Identity of the storage itself, stored in it. For drivers whose settings may mean another storage in another process, such as
   * local folders. Other drivers leave it out.
   */
  identity?(): Promise<StorageIdentity>;
  /** Releases what the driver holds, when the service stops. */
  close?(): Promise<void>;
}

/** Identity of a storage, as one process sees it. */
export interface StorageIdentity {
  /** The id of the storage: the same in all processes that use it, and unique. */
  readonly id: string;
  /** A name of the storage for messages: machine and path. */
  readonly name: string;
}

/** The settings of one location, for its driver. */
export interface StorageLocationSettings {
  /** The name of the location, as in STORAGE_LOCATIONS. */
  readonly location: string;
  /**
   * `STORAGE_<LOCATION>_<KEY>` as text, by KEY; a file named by `STORAGE_<LOCATION>_<KEY>_FILE` has been read. Undefined if
   * it is not set.
   */
  setting(key: string): string | undefined;
}

/** A storage driver. Contributed to `storage.drivers`. */
export interface StorageDriverDeclaration {
  /** The name of the driver, as in `STORAGE_<LOCATION>_DRIVER`. */
  readonly name: string;
  /**
   * Called at the start, for each location that uses the driver.
   * @throws an error that names the wrong setting; it stops the start.
   */
  open(settings: StorageLocationSettings): Promise<StorageDriver>;
}

/** Storage drivers; the manifest section lists their names. */
export const storageDrivers = facet<StorageDriverDeclaration, ReadonlyMap<string, StorageDriverDeclaration>>(
  'storage.drivers',
  {
    combine: (all) => new Map(all.map(({ value }) => [value.name, value])),
    manifest: {
      type: 'object',
      additionalProperties: false,
      required: ['names'],
      properties: { names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' } } },
    },
    validate: ({ name }, declared) => declared.names.includes(name) || `the driver ${name} is not declared`,
    describe: (declared) =>
      authorities(
        'provides',
        declared.names.map((name: string) => `storage driver ${name}`),
      ),
  },
);

/**
 * One storage location. It calls its driver with valid names only.
 * @throws INTERNAL_SERVER_ERROR from every method for a name that no object can have.
 */
export interface StorageLocation extends Omit<StorageDriver, 'path' | 'close'> {
  readonly name: string;
  /**
   * Runs `work` with a path at which the object can be read as a file: the object itself if it is a file, else a temporary copy,
   * which is deleted afterwards. Undefined, without running `work`, if there is no such object.
   * @throws the errors of `work` and of the backend.
   */
  asFile<T>(name: string, work: (path: string) => Promise<T>): Promise<T | undefined>;
  /** True if `asFile` has to copy: avoid it for large objects. */
  readonly copies: boolean;
}

/** The storage locations of the configuration. Provided by `storage`. */
export interface StorageService {
  /** STORAGE_LOCATIONS in their order; the first is the default. */
  readonly locations: readonly string[];
  /**
   * Opens locations before the start, for commands that start no plugin. Those that are open stay as they are.
   * @throws BootFailure with the setting to correct, for an unknown name too.
   */
  open(locations: readonly string[]): Promise<void>;
  /**
   * A location by its name.
   * @throws SERVICE_UNAVAILABLE for an unknown name (a row may be older than the configuration), and before it is opened.
   */
  at(location: string): StorageLocation;
}

/**
 * Name of the lock under which no process removes objects that rows have dropped: a backup copies the objects of its snapshot meanwhile.
 * The janitor of `files` removes them once the lock is free.
 */
export const REMOVAL_HOLD_LOCK = 'files removal hold';

/** The storage service, for plugins that keep or read bytes: `files`, `tus` and `assets`. */
export const storage = service<StorageService>('storage', { version: '1.0.0' });
