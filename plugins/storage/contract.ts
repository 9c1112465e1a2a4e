import type { Readable } from 'node:stream';
import { facet, service } from '#kernel';

/** Bytes from `start` to `end`, both included, of an object of which at least that much is there. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** An object that is being read. Whoever opens one reads `bytes` to their end or destroys them. */
export interface Opened {
  /** Bytes of the whole object, also where a range of it was asked for. */
  readonly size: number;
  readonly bytes: Readable;
}

export interface WriteOptions {
  /** MIME type, for backends that keep one. */
  readonly type?: string;
}

export interface StoredObject {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * Where bytes are kept (specification, "Files endpoints"; conventions, "Storage"). A name is one path segment of letters,
 * digits, `_`, `-` and `.`, made by the service, never used for other bytes again. What is not there is `undefined`; whatever
 * else goes wrong rejects, with the backend's own error.
 */
export interface StorageDriver {
  open(name: string, range?: ByteRange): Promise<Opened | undefined>;
  /**
   * Keeps what `source` yields under `name`: all of it or, where it or the backend fails, nothing that can be opened. When
   * this resolves the object survives a crash of the machine. Memory stays flat whatever the size. Answers the bytes written.
   */
  write(name: string, source: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<number>;
  /** Removes the object and whatever an interrupted write of it left; nothing there is no error. */
  remove(name: string): Promise<void>;
  stat(name: string): Promise<StoredObject | undefined>;
  /** All objects whose names start so, in any order. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Where the object lies on this machine, for programs that read files; drivers whose objects are no files leave it out. */
  path?(name: string): string;
  /** Lets go of what it holds when the service stops. */
  close?(): Promise<void>;
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

export interface DriverDeclaration {
  /** As in `STORAGE_<LOCATION>_DRIVER`. */
  readonly name: string;
  /** At the start, for each location that names it. An error stops the start: it says which setting is wrong. */
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
  describe: (declared) => [`keeps bytes by the storage drivers ${[...declared.names].sort().join(', ')}`],
});

/** One location: its driver, which is asked for sound names only. */
export interface Location extends Omit<StorageDriver, 'path' | 'close'> {
  readonly name: string;
  /**
   * Runs `work` with a path under which the object can be read as a file: its own where the driver has one, else that of a
   * copy, which is gone afterwards. Answers undefined, without work, where there is no such object.
   */
  asFile<T>(name: string, work: (path: string) => Promise<T>): Promise<T | undefined>;
  /** `asFile` has to copy: for long objects it is better to do without. */
  readonly copies: boolean;
}

export interface Storage {
  /** STORAGE_LOCATIONS in their order; the first is the default. */
  readonly locations: readonly string[];
  /** SERVICE_UNAVAILABLE for a name that is none of them: a row may be older than the configuration. */
  at(location: string): Location;
}

export const storage = service<Storage>('storage', { version: '1.0.0' });

/** To be told of long bytes on their way out, as `Location.write` does for those on their way in: memory stays flat. */
export { passing } from './garbage.ts';
/** The variable that holds a location's setting, for what drivers say of it: `my-files` and `ROOT` make STORAGE_MY_FILES_ROOT. */
export { variableOf } from './settings.ts';
/** For what is worked on as a file of this machine. */
export { temporaryFile, temporaryFolder } from './temporary.ts';
/** `<name without extension>__`: what is made of an object lies beside it. */
export { variantPrefix } from './variant-prefix.ts';
