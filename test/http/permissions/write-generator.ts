import type { SeededRandom } from '../../support/random.ts';
import {
  hasCompositeKey,
  keyInPayload,
  omitPayloadFields,
  parseKeyColumns,
  renderRowKey,
  requireSingleKeyColumn,
} from './keys.ts';
import {
  CREATABLE_COLLECTION_NAMES,
  isSystemCollection,
  PERMISSION_TEST_MODEL,
} from './permission-test-collections.ts';
import type { QueryGenerator } from './query-generator.ts';
import type {
  PermissionRow,
  PermissionTestFilter,
  PermissionTestModel,
  PermissionTestPayload,
  PermissionTestRow,
  PermissionTestRowsByCollection,
  ToManyField,
} from './reference-types.ts';
import type { TestRowKey, TestWriteRequest } from './reference-writes.ts';

const of = (name: string) => PERMISSION_TEST_MODEL[name] as PermissionTestModel[string];
const keysOf = (name: string, rows: readonly PermissionTestRow[] = []): readonly TestRowKey[] =>
  rows.map((row) => renderRowKey(of(name), row) as TestRowKey);
const numbersOf = (name: string) => Object.keys(of(name).plain).filter((field) => of(name).plain[field] === 'number');
const textsOf = (name: string) =>
  Object.keys(of(name).plain).filter(
    (field) => of(name).plain[field] === 'text' && field !== 'kind' && field !== 'status',
  );

/** Creates the generator of random writes, and of random presets and validations of permissions, for the test model. */
export function createWriteGenerator({ upTo, one, chance }: SeededRandom, draw: QueryGenerator) {
  /** Draws the presets and the validation of a permission. */
  function drawTerms(name: string): Pick<PermissionRow, 'presets' | 'validation'> {
    const number = numbersOf(name)[0];
    const text = textsOf(name)[0];
    const presets: PermissionTestRow = {
      ...(number && chance(0.3) ? { [number]: 5 } : {}),
      ...(of(name).plain.keeper && chance(0.4) ? { keeper: '$CURRENT_USER' } : {}),
      ...(text && chance(0.15) ? { [text]: 'preset' } : {}),
    };
    const rules: PermissionTestFilter[] = [
      ...(number ? [{ [number]: { _lt: 9 } }, { [number]: { _null: false } }, { [number]: { _submitted: true } }] : []),
      ...(text ? [{ [text]: { _neq: 'bad' } }, { [text]: { _in: ['new', 'preset', 'changed'] } }] : []),
      ...(of(name).plain.keeper ? [{ keeper: { _eq: '$CURRENT_USER' } }] : []),
    ];
    if (rules.length === 0 || chance(0.6)) return { presets, validation: null };
    const validation = chance(0.3) ? { [one(['_or', '_and'])]: [one(rules), one(rules)] } : one(rules);
    return { presets, validation };
  }

  /** Whether the caller may write a field. Most payloads have permitted fields only, since nearly all others are refused. */
  type IsWritable = (collection: string, action: 'create' | 'update') => (field: string) => boolean;

  function drawPayload(
    name: string,
    action: 'create' | 'update',
    rows: PermissionTestRowsByCollection,
    isWritable: IsWritable,
    depth: number,
  ): PermissionTestPayload {
    const { plain, manyToOne, toMany, manyToAny = {} } = of(name);
    const isBold = chance(0.12);
    const allowed = isWritable(name, action);
    const out: Record<string, unknown> = {};
    const wants = (field: string, share: number) => chance(share) && (isBold || allowed(field));
    for (const field of textsOf(name)) if (wants(field, 0.45)) out[field] = one(['new', 'new', 'changed', 'bad', null]);
    for (const field of numbersOf(name)) if (wants(field, 0.4)) out[field] = one([3, 3, 20, null]);
    if (plain.keeper && wants('keeper', 0.2)) out.keeper = one(rows.users as PermissionTestRow[]).id;
    for (const [field, { by, to }] of Object.entries(manyToAny)) {
      if (wants(field, 0.4)) out[field] = String(1 + upTo(6));
      if (wants(by, 0.4)) out[by] = one(to);
    }
    for (const [field, to] of Object.entries(manyToOne)) {
      const isNeeded = action === 'create' && of(name).key.includes(field);
      if (!wants(field, isNeeded ? 0.95 : 0.4) || to === 'roles') continue;
      out[field] = depth > 0 && chance(0.65) ? drawToOneObject(to, rows, isWritable, depth) : drawKey(to, rows);
    }
    for (const [field, { to, by }] of Object.entries(toMany)) {
      if (depth > 0 && !isSystemCollection(to) && !isSystemCollection(name) && wants(field, 0.35))
        out[field] = drawToManyValue(to, by, rows, isWritable, depth);
    }
    return out;
  }

  const drawKey = (name: string, rows: PermissionTestRowsByCollection): unknown =>
    chance(0.04) && !isSystemCollection(name) ? 900 : chance(0.08) ? null : one(keysOf(name, rows[name]));

  /** Draws the object of a many-to-one that creates, changes or links a row. `current` is the key of the related row. */
  function drawToOneObject(
    to: string,
    rows: PermissionTestRowsByCollection,
    isWritable: IsWritable,
    depth: number,
    current?: unknown,
  ): PermissionTestPayload {
    const key = requireSingleKeyColumn(of(to));
    if (current && !isSystemCollection(to) && chance(0.5)) {
      const number = numbersOf(to)[0];
      const text = textsOf(to)[0] as string;
      return { [key]: current, ...(number && chance(0.5) ? { [number]: one([3, 20]) } : { [text]: 'new' }) };
    }
    const id = current && chance(0.5) ? current : one(keysOf(to, rows[to]));
    if (chance(0.15)) return { [key]: id };
    if (isSystemCollection(to) || chance(0.5))
      return { [key]: id, ...drawPayload(to, 'update', rows, isWritable, depth - 1) };
    return drawPayload(to, 'create', rows, isWritable, depth - 1);
  }

  /** Draws the value of a to-many alias: a list that replaces the related rows, or rows to create, update and delete. */
  function drawToManyValue(
    to: string,
    by: string,
    rows: PermissionTestRowsByCollection,
    isWritable: IsWritable,
    depth: number,
    parent?: unknown,
  ): unknown {
    const all = keysOf(to, rows[to]);
    const mine = keysOf(
      to,
      rows[to]?.filter((row) => parent !== undefined && row[by] === parent),
    );
    const named = (payload: PermissionTestPayload) =>
      keyInPayload(PERMISSION_TEST_MODEL, to, hasCompositeKey(of(to)) ? { [by]: parent, ...payload } : payload);
    const drawCreate = () => omitPayloadFields(drawPayload(to, 'create', rows, isWritable, depth - 1), [by]);
    const changed = () => {
      const payload = omitPayloadFields(drawPayload(to, 'update', rows, isWritable, depth - 1), [by, ...of(to).key]);
      const isMine = mine.length > 0 && chance(0.5);
      const key = parseKeyColumns(of(to), isMine ? one(mine) : one(all));
      return {
        ...(hasCompositeKey(of(to)) ? partsOf(to, isMine && chance(0.5) ? omitPayloadFields(key, [by]) : key) : key),
        ...(Object.keys(payload).length > 0 ? payload : fallback(to)),
      };
    };
    const other = () => (chance(0.3) ? [one(all)] : []);
    if (chance(0.1)) return null;
    if (chance(0.4)) {
      const update = chance(0.4) ? [changed()] : [];
      const taken = mine.length > 0 && chance(0.8) ? [one(mine)] : other();
      // The result of updating and deleting the same row in one payload is not specified, so it is not drawn.
      const isClear = update.every((payload) => !taken.includes(named(payload) as TestRowKey));
      return {
        ...(chance(0.4) ? { create: [drawCreate()] } : {}),
        ...(update.length > 0 ? { update } : {}),
        ...(chance(0.5) && isClear ? { delete: taken } : {}),
      };
    }
    const fresh: PermissionTestPayload[] = chance(0.3) ? [drawCreate()] : [];
    // Two payloads for the same row are validated together, so they are not drawn.
    const known: PermissionTestPayload[] = (chance(0.3) ? [changed()] : []).filter(
      (payload) => !fresh.some((other) => named(other) !== undefined && named(other) === named(payload)),
    );
    const objects = [...fresh, ...known];
    const keys = [...mine.filter(() => chance(0.7)), ...other()];
    return [...objects, ...new Set(keys.filter((key) => !objects.some((payload) => named(payload) === key)))];
  }

  /** Replaces some columns of a composite key by an object with the key of the related row, which may also change this row. */
  const partsOf = (name: string, key: PermissionTestPayload): PermissionTestPayload =>
    Object.fromEntries(
      Object.entries(key).map(([field, value]) => {
        const to = of(name).manyToOne[field] as string;
        const text = chance(0.4) ? { [textsOf(to)[0] as string]: one(['new', 'changed']) } : {};
        return [field, chance(0.3) ? { [requireSingleKeyColumn(of(to))]: value, ...text } : value];
      }),
    );

  /** Draws a payload with one relation only, so that no other field is the reason of a refusal. */
  function drawRelationPayload(
    name: string,
    key: unknown,
    rows: PermissionTestRowsByCollection,
    isWritable: IsWritable,
  ): PermissionTestPayload {
    const allowed = isWritable(name, 'update');
    const { manyToOne, toMany } = of(name);
    const aliases = Object.keys(toMany).filter(
      (field) => allowed(field) && !isSystemCollection(toMany[field]?.to as string),
    );
    const objects = Object.keys(manyToOne).filter((field) => allowed(field) && manyToOne[field] !== 'roles');
    if (aliases.length > 0 && chance(objects.length > 0 ? 0.65 : 1)) {
      const field = one(aliases);
      const { to, by } = toMany[field] as ToManyField;
      return { [field]: drawToManyValue(to, by, rows, isWritable, 1, key) };
    }
    if (objects.length === 0) return fallback(name);
    const field = one(objects);
    const current = rows[name]?.find((row) => renderRowKey(of(name), row) === key)?.[field];
    return { [field]: drawToOneObject(manyToOne[field] as string, rows, isWritable, 1, current) };
  }

  const fallback = (name: string): PermissionTestPayload => ({
    [textsOf(name)[0] ?? (numbersOf(name)[0] as string)]: null,
  });

  function drawWrite(name: string, rows: PermissionTestRowsByCollection, isWritable: IsWritable): TestWriteRequest {
    const keys = () => [...new Set(Array.from({ length: 1 + upTo(3) }, () => one(keysOf(name, rows[name]))))];
    const query = () => ({
      ...(chance(0.85) ? { filter: draw.drawFilter(name, upTo(2), false) } : {}),
      ...(chance(0.3) ? { limit: 1 + upTo(3), sort: of(name).key } : {}),
    });
    const change = (depth: number) => {
      const payload = drawPayload(name, 'update', rows, isWritable, depth);
      return Object.keys(payload).length > 0 ? payload : fallback(name);
    };
    const drawChange = (key: TestRowKey) => {
      const payload = omitPayloadFields(change(0), of(name).key);
      return { ...parseKeyColumns(of(name), key), ...(Object.keys(payload).length > 0 ? payload : fallback(name)) };
    };
    const updates: (() => TestWriteRequest)[] = [
      () => ({ verb: 'update', keys: [keys()[0] as TestRowKey], data: change(2) }),
      () => ({ verb: 'update', keys: [keys()[0] as TestRowKey], data: change(2) }),
      () => ({ verb: 'update', keys: keys(), data: change(0) }),
      () => ({ verb: 'update each', rows: keys().map(drawChange) }),
    ];
    const relate = (): TestWriteRequest => {
      const key = keys()[0] as TestRowKey;
      return { verb: 'update', keys: [key], data: drawRelationPayload(name, key, rows, isWritable) };
    };
    if (!CREATABLE_COLLECTION_NAMES.includes(name)) return one(updates)();
    return one<() => TestWriteRequest>([
      ...updates,
      relate,
      relate,
      relate,
      () => ({ verb: 'update found', query: query(), data: change(0) }),
      () => ({ verb: 'create', rows: [drawPayload(name, 'create', rows, isWritable, 2)] }),
      () => ({ verb: 'create', rows: [drawPayload(name, 'create', rows, isWritable, 2)] }),
      () => ({
        verb: 'create',
        rows: [drawPayload(name, 'create', rows, isWritable, 1), drawPayload(name, 'create', rows, isWritable, 0)],
      }),
      () => ({ verb: 'delete', keys: [keys()[0] as TestRowKey] }),
      () => ({ verb: 'delete', keys: keys() }),
      () => ({ verb: 'delete found', query: query() }),
    ])();
  }

  return { drawTerms, drawWrite };
}
