import type { Caller } from '#kernel';
import type { HashedDiff, SchemaSnapshotDocument } from '../contract.ts';
import { parseHashedDiff } from '../diff/parse-diff.ts';
import type { SchemaState } from '../schema-state.ts';
import { parseSnapshot } from '../snapshot/parse-snapshot.ts';
import { type ParsedArguments, UsageError } from './command-arguments.ts';
import { readDocumentFile } from './document-files.ts';

export interface RequestedDiff {
  readonly diff: HashedDiff;
  /** The snapshot; undefined for a saved plan. */
  readonly target: SchemaSnapshotDocument | undefined;
}

/** The diff of a command: of a snapshot file to this database, or a saved plan. Undefined where there is nothing to change. */
export async function readRequestedDiff(
  state: SchemaState,
  caller: Caller,
  { file, renames, flags }: ParsedArguments,
): Promise<RequestedDiff | undefined> {
  const document = await readDocumentFile(file as string);
  if (typeof document === 'object' && document !== null && Object.hasOwn(document, 'hash')) {
    if (renames.length > 0 || flags.has('merge'))
      throw new UsageError('A saved plan has its renames and its mode already.');
    return { diff: parseHashedDiff(document), target: undefined };
  }
  const target = parseSnapshot(document, { force: flags.has('force') });
  const diff = await state.diff(caller, target, { mode: flags.has('merge') ? 'merge' : 'mirror', renames });
  return diff && { diff, target };
}
