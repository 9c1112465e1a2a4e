import { type Caller, fail, isSystem } from '#kernel';
import type { Collection, Field, SchemaOverview } from '../../schema/contract.ts';
import type { AccessControl, DynamicValueCache, Permission, PermissionSet } from '../contract.ts';
import { permissionListsField } from '../restrict/row-rules.ts';
import { NO_DYNAMIC_VALUE } from '../validation/compare.ts';
import {
  expandCompositeKeyPresets,
  keyOfRelatedObject,
  withCompositeKeyValues,
} from '../validation/composite-foreign-keys.ts';
import { throwValidationErrors } from '../validation/failures.ts';
import { createIsNullByDefault, validateNotNullColumns } from '../validation/not-null-columns.ts';
import { type ValidationError, validateRow } from '../validation/validate-row.ts';
import type { SubstituteDynamicValues } from './dynamic-values.ts';
import { selectWritableFieldNames, type UnknownFieldsSetting } from './writable-fields.ts';

type Row = Record<string, unknown>;

interface Deps {
  readonly permissions: (caller: Caller) => Promise<PermissionSet>;
  readonly substitute: SubstituteDynamicValues;
  /** The setting `ITEMS_UNKNOWN_FIELDS`. */
  readonly unknownFields: UnknownFieldsSetting;
}

/** One permission applied to a payload: the presets that it adds, and the errors of its validation. */
interface PermissionResult {
  readonly permission: Permission;
  readonly presets: Row;
  readonly broken: readonly ValidationError[];
}

/** Checks a payload before it is written: field list, presets, validation, in this order. */
export function createValidatePayload({
  permissions,
  substitute,
  unknownFields,
}: Deps): AccessControl['validatePayload'] {
  async function applyPermission(
    permission: Permission,
    submitted: Row,
    context: PayloadContext,
  ): Promise<PermissionResult> {
    const { collection, caller, schema, options, values: ruleValues } = context;
    const preset = existingPresets(collection, await substitute(permission.presets ?? {}, caller, schema, ruleValues));
    const presets = expandCompositeKeyPresets(collection, preset, submitted);
    if (!permission.validation) return { permission, presets, broken: [] };
    const rule = await substitute(permission.validation, caller, schema, ruleValues);
    return {
      permission,
      presets,
      broken: validateRow(rule, withJointKeys({ ...presets, ...submitted }, context), options),
    };
  }

  async function validateFields(row: Row, context: PayloadContext): Promise<readonly ValidationError[]> {
    const { collection, caller, schema, options, values: ruleValues } = context;
    const found: (ValidationError & { message?: string | null })[] = [];
    const fields = validatedFieldsOf(collection);
    if (fields.length === 0) return found;
    const measured = withJointKeys(row, context);
    for (const { meta } of fields) {
      if (!meta?.validation) continue;
      const rule = await substitute(meta.validation, caller, schema, ruleValues);
      found.push(...validateRow(rule, measured, options).map((one) => ({ ...one, message: meta.validation_message })));
    }
    return found;
  }

  return async (collection, action, payload, caller, schema, platformValues = {}, ruleValues = new Map()) => {
    if (isSystem(caller)) return { ...payload, ...platformValues };
    const set = await permissions(caller);
    const granted = set.admin ? 'all' : set.of(collection.name, action);
    if (granted.length === 0) throw fail('FORBIDDEN', `no ${action} permission on ${collection.name}`);
    const names = Object.keys(payload);
    const knownNames = selectWritableFieldNames(collection, action, names, set, unknownFields);
    const known =
      knownNames.length === names.length
        ? payload
        : Object.fromEntries(knownNames.map((name) => [name, payload[name]]));
    const submitted: Row = { ...known, ...platformValues };

    const isArray = (name: string) => collection.fields.get(name)?.column?.array === true;
    const options = {
      isArray,
      keyOf: (name: string, value: unknown) =>
        keyOfRelatedObject(schema, collection.fields.get(name), value, submitted),
      ...(action === 'create' ? { nullUnlessSubmitted: createIsNullByDefault(collection) } : {}),
    };
    const context: PayloadContext = { collection, caller, schema, options, values: ruleValues };
    const branches =
      granted === 'all' ? [] : await Promise.all(granted.map((one) => applyPermission(one, submitted, context)));
    const holding = branches.filter(({ broken }) => broken.length === 0);
    const adding = (holding.length > 0 ? holding : branches).map(({ presets }) => presets);
    // Presets of stored permissions win over those of app access; submitted values win over all presets.
    const row: Row =
      adding.length === 0
        ? submitted
        : Object.fromEntries([...adding.reverse(), submitted].flatMap((one) => Object.entries(one)));
    throwValidationErrors([
      ...validateNotNullColumns(collection, action, row),
      ...(await validateFields(row, context)),
      ...(granted === 'all' ? [] : permissionErrors(collection, knownNames, branches)),
    ]);
    return row;
  };
}

const validated = new WeakMap<Collection, readonly Field[]>();

/** Fields with a validation rule, cached per collection of a schema snapshot, since every row of a batch needs them. */
function validatedFieldsOf(collection: Collection): readonly Field[] {
  let fields = validated.get(collection);
  if (!fields) {
    fields = [...collection.fields.values()].filter(({ meta }) => meta?.validation);
    validated.set(collection, fields);
  }
  return fields;
}

interface PayloadContext {
  readonly collection: Collection;
  readonly caller: Caller;
  readonly schema: SchemaOverview;
  readonly options: Parameters<typeof validateRow>[2];
  readonly values: DynamicValueCache;
}

const withJointKeys = (row: Row, { collection, schema, options }: PayloadContext): Row =>
  withCompositeKeyValues(collection, row, schema, options?.nullUnlessSubmitted);

/**
 * Each field of the payload needs a permission that lists it and whose validation holds. Answers the errors of fields without
 * one.
 */
function permissionErrors(
  collection: Collection,
  names: readonly string[],
  branches: readonly PermissionResult[],
): readonly ValidationError[] {
  const satisfied = branches.filter(({ broken }) => broken.length === 0);
  if (names.length === 0) return satisfied.length > 0 ? [] : (branches[0]?.broken ?? []);
  return names.flatMap((name) => {
    const listing = (all: readonly PermissionResult[]) =>
      all.find(({ permission }) => permissionListsField(permission, name, collection.fields.get(name)));
    return listing(satisfied) ? [] : (listing(branches)?.broken ?? []);
  });
}

/** Leaves out presets of deleted fields; a dynamic value without a user or role is null. */
const existingPresets = (collection: Collection, presets: Row): Row =>
  Object.fromEntries(
    Object.entries(presets).flatMap(([name, value]) =>
      collection.fields.has(name) ? [[name, value === NO_DYNAMIC_VALUE ? null : value]] : [],
    ),
  );
