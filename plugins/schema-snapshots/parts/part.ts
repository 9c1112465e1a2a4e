import type { Caller } from '#kernel';
import type { JsonObject, SnapshotPartName } from '../contract.ts';

/** A record of a part that is created, changed or deleted. */
export interface PartChange {
  readonly id: string;
  /** Null for a new record. */
  readonly before: JsonObject | null;
  /** Null for a deleted one. */
  readonly after: JsonObject | null;
}

/** A part of snapshots beside the schema: its records, and how they are written. */
export interface SnapshotPart {
  readonly name: SnapshotPartName;
  /** What identifies a record in every database. @throws INVALID_PAYLOAD for a record without it */
  idOf(record: JsonObject): string;
  /** All records, without secrets. */
  read(caller: Caller): Promise<readonly JsonObject[]>;
  /** A record of a snapshot as it would be read from this database: members that are missing get their defaults. */
  complete(record: JsonObject, current: readonly JsonObject[]): JsonObject;
  /** Writes the changes, inside of the unit of work of the whole diff. Values that are masked stay as they are. */
  apply(caller: Caller, changes: readonly PartChange[]): Promise<void>;
  /** Whether records that the snapshot does not have are deleted. */
  readonly deletes: boolean;
}
