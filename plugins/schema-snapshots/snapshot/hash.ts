import { createHash } from 'node:crypto';
import type { SchemaSnapshotDocument, SnapshotPartName } from '../contract.ts';
import { SNAPSHOT_PARTS } from '../contract.ts';

/** The version without its last number: releases that differ in it alone have equal snapshots. */
export const releaseOf = (version: string): string => version.split('.').slice(0, 2).join('.');

/** The hash of a snapshot: equal for equal schemas, whatever the order of their members and the patch version of the service. */
export function hashSnapshot(snapshot: SchemaSnapshotDocument, parts: readonly SnapshotPartName[]): string {
  const { vendor, collections, fields, relations } = snapshot;
  const chosen = SNAPSHOT_PARTS.filter((name) => parts.includes(name)).map((name) => [name, snapshot[name]]);
  const content = { release: releaseOf(snapshot.tenon), vendor, collections, fields, relations, parts: chosen };
  return createHash('sha256').update(canonicalText(content)).digest('hex');
}

const canonicalText = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
