import { type Caller, Failure, Failures } from '#kernel';
import type { ConversionCheck } from '../../schema/contract.ts';
import type { FieldRename, HashedDiff, SchemaSnapshotDocument, SnapshotDiff } from '../contract.ts';
import { isWhole } from '../diff/diff-snapshots.ts';
import { findMasks } from '../parts/secrets.ts';
import { partsOf, type SchemaState } from '../schema-state.ts';
import { findAdminGrants } from './admin-grants.ts';
import { type AffectedRows, countAffectedRows } from './affected-rows.ts';
import { dropsOf } from './drops.ts';
import { findPossibleRenames } from './possible-renames.ts';
import { type ChangedName, findReferences, type NameReference, type ReferenceDeps } from './references.ts';

/** What applying a diff would do, found out by a trial that is rolled back. */
export interface SchemaPlan extends HashedDiff {
  /** The statements that would change tables. */
  readonly statements: readonly string[];
  readonly conversions: readonly ConversionCheck[];
  /** What would be deleted, as `--allow-drop` names it. */
  readonly drops: readonly string[];
  readonly affectedRows: readonly AffectedRows[];
  readonly possibleRenames: readonly FieldRename[];
  readonly references: readonly NameReference[];
  readonly adminGrants: readonly string[];
  /** Paths of secrets that the snapshot does not have: they have to be entered by hand. */
  readonly missingSecrets: readonly string[];
  /** What would still differ from the snapshot, since this service does not change it. */
  readonly rest: SnapshotDiff;
  /** Why the diff cannot be applied; null where it can. */
  readonly failure: string | null;
}

interface Deps extends ReferenceDeps {
  readonly state: SchemaState;
}

interface PlanOptions {
  /** The snapshot that the diff was made of. */
  readonly target?: SchemaSnapshotDocument | undefined;
  /** Plans a diff for another state than that of its hash. */
  readonly force?: boolean;
}

/** Builds the plan for a diff. */
export async function buildPlan(
  deps: Deps,
  caller: Caller,
  diff: HashedDiff,
  options: PlanOptions,
): Promise<SchemaPlan> {
  const current = await deps.state.read(caller, partsOf(diff.diff));
  const drops = dropsOf(diff.diff, current);
  const trial = await tryOut(deps.state, caller, diff, options);
  const failing = trial.conversions.find((one) => one.failing > 0);
  const conversionFailure = failing && renderConversionFailure(failing);
  return {
    ...diff,
    ...trial,
    drops: drops.map(({ name }) => name),
    affectedRows: await countAffectedRows(deps.items, caller, drops),
    possibleRenames: findPossibleRenames(diff.diff),
    references: await findReferences(deps, caller, current, changedNamesOf(diff, current)),
    adminGrants: findAdminGrants(diff.diff, current),
    missingSecrets: findMissingSecrets(diff.diff),
    failure: trial.failure ?? conversionFailure ?? null,
  };
}

type Trial = Pick<SchemaPlan, 'statements' | 'conversions' | 'rest' | 'failure'>;

async function tryOut(
  state: SchemaState,
  caller: Caller,
  diff: HashedDiff,
  { target, force = false }: PlanOptions,
): Promise<Trial> {
  try {
    const tried = await state.apply(caller, diff, { trial: true, force, ...(target ? { target } : {}) });
    return { statements: tried.statements, conversions: tried.conversions, rest: tried.value.rest, failure: null };
  } catch (error) {
    if (!(error instanceof Failure || error instanceof Failures)) throw error;
    const rest: SnapshotDiff = { collections: [], fields: [], systemFields: [], relations: [] };
    return { statements: [], conversions: [], rest, failure: renderFailure(error) };
  }
}

export function renderFailure(error: Failure | Failures): string {
  if (error instanceof Failures) return error.failures.map(renderFailure).join(' ');
  const { path } = error.extensions as { path?: readonly (string | number)[] };
  return `${error.code}${path ? ` at ${path.join('.')}` : ''}: ${error.message}`;
}

const renderConversionFailure = ({ collection, field, from, to, rows, failing }: ConversionCheck): string =>
  `${failing} of ${rows} values of ${collection}.${field} do not convert from ${from} to ${to}.`;

/** Names that stop to exist, and fields that get another type. */
function changedNamesOf({ diff, renames = [] }: HashedDiff, current: SchemaSnapshotDocument): readonly ChangedName[] {
  const isRetyped = (entry: SnapshotDiff['fields'][number]) =>
    entry.diff.some(({ path = [] }) => path[0] === 'type' || (path[0] === 'schema' && path[1] === 'data_type'));
  const known = new Set(current.fields.map((one) => `${one.collection}\0${one.field}`));
  return [
    ...diff.collections.filter((entry) => isWhole(entry.diff, 'D')).map(({ collection }) => ({ collection })),
    ...diff.fields
      .filter((entry) => isWhole(entry.diff, 'D') || isRetyped(entry))
      .map(({ collection, field = '' }) => ({ collection, field }))
      .filter(({ collection, field }) => known.has(`${collection}\0${field}`)),
    ...renames.map(({ collection, from }) => ({ collection, field: from })),
  ];
}

const findMissingSecrets = ({ flows = [] }: SnapshotDiff): readonly string[] =>
  flows
    .filter((entry) => isWhole(entry.diff, 'N'))
    .flatMap(({ id, diff }) => findMasks(diff[0]?.rhs).map((path) => `flows:${id} ${path}`));
