import type { Readable } from 'node:stream';
import { authorities, facet, service } from '#kernel';

/** Bytes from `start` to `end`, both included, of an object of which at least that much is there. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** An object that is being read. Its reader reads `bytes` to their end or destroys them. */
export interface Opened {
  /** Bytes of the whole object, also where a range of it was asked for. */
  readonly size: number;
  readonly bytes: Readable;
}

/** What a backend may keep beside the bytes. */
export interface WriteOptions {
  /** MIME type, for backends that keep one. */
  readonly type?: string;
}

/** One object, without its bytes. `size` in bytes. */
export interface StoredObject {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * Where bytes are kept (specification, "Files endpoints"; conventions, "Storage"). A name is one path segment of letters,
 * digits, `_`, `-` and `.`, made by the service, never used for other bytes again. A missing object is `undefined`; every
 * other failure rejects, with the error of the backend.
 */
export interface StorageDriver {
  /** Opens an object, or a range of it, for reading. */
  open(name: string, range?: ByteRange): Promise<Opened | undefined>;
  /**
   * Keeps what `source` yields under `name`: all of it or, where it or the backend fails, nothing that can be opened. When
   * this resolves the object survives a crash of the machine. Memory stays flat whatever the size. Answers the bytes written.
   * @throws what `source` throws, and the error of the backend.
   */
  write(name: string, source: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<number>;
  /** Removes the object and all that an interrupted write of it left; a missing object is no error. */
  remove(name: string): Promise<void>;
  /** Size and time of an object, without reading it. */
  stat(name: string): Promise<StoredObject | undefined>;
  /** All objects whose names start so, in any order. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Where the object lies on this machine, for programs that read files; drivers whose objects are no files leave it out. */
  path?(name: string): string;
  /**
   * Which place this is, kept in the place itself. For drivers whose settings may mean another place in another process: folders of a
   * machine. Others leave it out.
   */
  identity?(): Promise<PlaceIdentity>;
  /** Releases what the driver holds, when the service stops. */
  close?(): Promise<void>;
}

/** A place as one process sees it. */
export interface PlaceIdentity {
  /** The same in all processes that reach this place, another one for any other place. */
  readonly id: string;
  /** For messages: machine and path. */
  readonly name: string;
}

/** What a driver is opened for. */
export interface LocationSettings {
  /** As in STORAGE_LOCATIONS. */
  readonly location: string;
  /**
   * `STORAGE_<LOCATION>_<KEY>` as text, by KEY; a file named by `STORAGE_<LOCATION>_<KEY>_FILE` has been read. Undefined where
   * it is not set.
   */
  setting(key: string): string | undefined;
}

/** A kind of place for bytes. Contributed to `storage.drivers`. */
export interface DriverDeclaration {
  /** As in `STORAGE_<LOCATION>_DRIVER`. */
  readonly name: string;
  /**
   * At the start, for each location that names it.
   * @throws an error that says which setting is wrong; it stops the start.
   */
  open(settings: LocationSettings): Promise<StorageDriver>;
}

/** Kinds of places for bytes; the manifest section lists their names. */
export const storageDrivers = facet<DriverDeclaration, ReadonlyMap<string, DriverDeclaration>>('storage.drivers', {
  combine: (all) => new Map(all.map(({ value }) => [value.name, value])),
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: { names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' } } },
  },
  admit: ({ name }, declared) => declared.names.includes(name) || `the driver ${name} is not declared`,
  describe: (declared) =>
    authorities(
      'provides',
      declared.names.map((name: string) => `storage driver ${name}`),
    ),
});

/**
 * One location: its driver, which is called with sound names only.
 * @throws INTERNAL_SERVER_ERROR, by each method, for a name that no object can have.
 */
export interface Location extends Omit<StorageDriver, 'path' | 'close'> {
  readonly name: string;
  /**
   * Runs `work` with a path under which the object can be read as a file: its own where the driver has one, else that of a
   * copy, which is deleted afterwards. Answers undefined, without work, where there is no such object.
   * @throws what `work` throws, and the error of the backend.
   */
  asFile<T>(name: string, work: (path: string) => Promise<T>): Promise<T | undefined>;
  /** `asFile` has to copy: for long objects it is better to do without. */
  readonly copies: boolean;
}

/** The locations of the configuration. Provided by `storage`. */
export interface Storage {
  /** STORAGE_LOCATIONS in their order; the first is the default. */
  readonly locations: readonly string[];
  /**
   * A location by its name.
   * @throws SERVICE_UNAVAILABLE for an unknown name (a row may be older than the configuration), and before the service has started.
   */
  at(location: string): Location;
}

/** For plugins that keep or read bytes: `files`, `tus` and `assets`. */
export const storage = service<Storage>('storage', { version: '1.0.0' });
