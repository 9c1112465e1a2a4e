import { type Caller, fail, isSystem } from '#kernel';
import type { Collection, Overview } from '../../schema/contract.ts';
import type { Access, Permission, PermissionSet, RuleValues } from '../contract.ts';
import { lists } from '../restrict/rules.ts';
import { type Breach, breaches } from '../validation/breaches.ts';
import { NOBODY } from '../validation/compare.ts';
import { refuse } from '../validation/failures.ts';
import { impliedBreaches, nullUnlessSubmitted } from '../validation/implied.ts';
import { keyOfRow, presetColumns, withJointValues } from '../validation/rows-as-keys.ts';
import type { Substitute } from './dynamic.ts';
import { knownFields, type UnknownFields } from './fields.ts';

type Row = Record<string, unknown>;

interface Deps {
  readonly permissions: (caller: Caller) => Promise<PermissionSet>;
  readonly substitute: Substitute;
  /** What becomes of names that no field has. */
  readonly unknownFields: UnknownFields;
}

/** One permission measured by a payload: the presets it adds, and what of its validation is broken. */
interface Branch {
  readonly permission: Permission;
  readonly presets: Row;
  readonly broken: readonly Breach[];
}

/** Everything a payload has to pass before it is written: field list, presets, validation, in this order. */
export function createAdmit({ permissions, substitute, unknownFields }: Deps): Access['admit'] {
  async function branchOf(permission: Permission, submitted: Row, scope: Scope): Promise<Branch> {
    const { collection, caller, overview, options, values } = scope;
    const preset = ofFields(collection, await substitute(permission.presets ?? {}, caller, overview, values));
    const presets = presetColumns(collection, preset, submitted);
    if (!permission.validation) return { permission, presets, broken: [] };
    const rule = await substitute(permission.validation, caller, overview, values);
    return { permission, presets, broken: breaches(rule, seen({ ...presets, ...submitted }, scope), options) };
  }

  async function ownRules(row: Row, scope: Scope): Promise<readonly Breach[]> {
    const { collection, caller, overview, options, values } = scope;
    const found: (Breach & { message?: string | null })[] = [];
    const measured = seen(row, scope);
    for (const { meta } of collection.fields.values()) {
      if (!meta?.validation) continue;
      const rule = await substitute(meta.validation, caller, overview, values);
      found.push(...breaches(rule, measured, options).map((one) => ({ ...one, message: meta.validation_message })));
    }
    return found;
  }

  return async (collection, action, payload, caller, overview, given = {}, values = new Map()) => {
    if (isSystem(caller)) return { ...payload, ...given };
    const set = await permissions(caller);
    const granted = set.admin ? 'all' : set.of(collection.name, action);
    if (granted.length === 0) throw fail('FORBIDDEN', `no ${action} permission on ${collection.name}`);
    const names = Object.keys(payload);
    const known = knownFields(collection, action, names, set, unknownFields);
    const admitted =
      known.length === names.length ? payload : Object.fromEntries(known.map((name) => [name, payload[name]]));
    const submitted = { ...admitted, ...given };

    const isArray = (name: string) => collection.fields.get(name)?.column?.array === true;
    const options = {
      isArray,
      keyOf: (name: string, value: unknown) => keyOfRow(overview, collection.fields.get(name), value, submitted),
      ...(action === 'create' ? { nullUnlessSubmitted: nullUnlessSubmitted(collection) } : {}),
    };
    const scope: Scope = { collection, caller, overview, options, values };
    const branches = granted === 'all' ? [] : await Promise.all(granted.map((one) => branchOf(one, submitted, scope)));
    const holding = branches.filter(({ broken }) => broken.length === 0);
    const adding = (holding.length > 0 ? holding : branches).map(({ presets }) => presets);
    // Stored rows come first and win over those of app access; what was submitted wins over all.
    const row: Row = Object.fromEntries([...adding.reverse(), submitted].flatMap((one) => Object.entries(one)));
    refuse([
      ...impliedBreaches(collection, action, row),
      ...(await ownRules(row, scope)),
      ...(granted === 'all' ? [] : ungranted(collection, known, branches)),
    ]);
    return row;
  };
}

interface Scope {
  readonly collection: Collection;
  readonly caller: Caller;
  readonly overview: Overview;
  readonly options: Parameters<typeof breaches>[2];
  readonly values: RuleValues;
}

const seen = (row: Row, { collection, overview, options }: Scope): Row =>
  withJointValues(collection, row, overview, options?.nullUnlessSubmitted);

/** Each field counts under the permissions that list it, so one of those has to be satisfied with the payload. */
function ungranted(collection: Collection, names: readonly string[], branches: readonly Branch[]): readonly Breach[] {
  const satisfied = branches.filter(({ broken }) => broken.length === 0);
  if (names.length === 0) return satisfied.length > 0 ? [] : (branches[0]?.broken ?? []);
  return names.flatMap((name) => {
    const listing = (all: readonly Branch[]) =>
      all.find(({ permission }) => lists(permission, name, collection.fields.get(name)));
    return listing(satisfied) ? [] : (listing(branches)?.broken ?? []);
  });
}

/** Presets for fields that are gone are left out; a value that is nobody's is null. */
const ofFields = (collection: Collection, presets: Row): Row =>
  Object.fromEntries(
    Object.entries(presets).flatMap(([name, value]) =>
      collection.fields.has(name) ? [[name, value === NOBODY ? null : value]] : [],
    ),
  );
