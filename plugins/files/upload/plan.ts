import { randomUUID } from 'node:crypto';
import { type Caller, fail } from '#kernel';
import type { Payload } from '../../items/contract.ts';
import { isUuid } from '../../query/library.ts';
import type { Location } from '../../storage/contract.ts';
import { FILES, type Incoming, type UploadOptions } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { objectName } from '../disk-names.ts';
import { defaultName, downloadName } from '../names/download-name.ts';
import { extensionFor } from '../names/extension.ts';
import { titleOf } from '../names/title.ts';
import { type DeclaredType, declaredType } from '../names/type.ts';
import { withoutOwn } from '../rules/own-fields.ts';
import { presetsOf } from '../rules/presets.ts';
import { knownLocation, staysWhereItIs } from '../rules/storage.ts';
import { createCheckType } from '../rules/types.ts';
import type { Receiving } from './receive.ts';
import { rehearse } from './rehearse.ts';
import { updatableFiles } from './updatable.ts';

export type About = Omit<Incoming, 'bytes'>;

/** Everything that is settled before the first byte is taken. */
export interface Plan extends Receiving {
  readonly id: string;
  readonly location: Location;
  readonly declared: DeclaredType | undefined;
  /** The name for downloads, as far as the sender or the row says one. */
  readonly name: string | undefined;
  /** What the sender says, for which he needs the permission. */
  readonly payload: Payload;
  /** What the platform adds whatever he may write. */
  readonly given: Payload;
}

/** Plans of uploads. Each rejects with what would be refused in the end: FORBIDDEN, INVALID_PAYLOAD or FAILED_VALIDATION. */
export interface Plans {
  toCreate(caller: Caller, about: About, options: UploadOptions): Promise<Plan>;
  toReplace(caller: Caller, key: string, about: About, options: UploadOptions): Promise<Plan>;
  readonly checkType: CheckType;
}

type CheckType = ReturnType<typeof createCheckType>;

interface PlanDeps extends Deps {
  readonly checkType: CheckType;
}

export function createPlans(deps: Deps): Plans {
  const checkType = createCheckType(deps.config);
  const planDeps = { ...deps, checkType };
  return {
    toCreate: (caller, about, options) => planCreate(planDeps, caller, about, options),
    toReplace: (caller, key, about, options) => planReplace(planDeps, caller, key, about, options),
    checkType,
  };
}

async function planCreate(deps: PlanDeps, caller: Caller, about: About, options: UploadOptions): Promise<Plan> {
  const { access, settings, storage } = deps;
  await access.demand(caller, 'create', FILES);
  const { own, sent, declared, rest } = senderValues(about, deps.checkType);
  const isNewId = options.id === undefined && (rest.id === undefined || rest.id === null || rest.id === '');
  const id = options.id ?? (isNewId ? randomUUID() : rest.id);
  if (typeof id !== 'string' || !isUuid(id)) throw fail('INVALID_PAYLOAD', 'id has to be a uuid.', { field: 'id' });

  const presets = await presetsOf(access, caller);
  const isOpen = (field: string) => !Object.hasOwn(rest, field) && !Object.hasOwn(presets, field);
  const asked = knownLocation(storage, rest.storage);
  const location = storage.at(asked ?? knownLocation(storage, presets.storage) ?? defaultLocation(storage));
  const name = own ?? sent ?? defaultName(declared?.type);
  const folder = isOpen('folder') ? (await settings.current()).storage_default_folder : null;
  const { id: _id, storage: _storage, ...words } = rest;
  const payload: Payload = {
    ...words,
    ...(own === undefined ? {} : { filename_download: own }),
    ...(asked === undefined ? {} : { storage: asked }),
    ...(isNewId || options.id !== undefined ? {} : { id }),
  };
  const object = objectName(id.toLowerCase(), extensionFor(name, declared?.type), isNewId);
  const given: Payload = {
    ...(Object.hasOwn(payload, 'id') ? {} : { id: id.toLowerCase() }),
    ...(asked === undefined ? { storage: location.name } : {}),
    ...(own === undefined ? { filename_download: name } : {}),
    ...(isOpen('title') ? { title: titleOf(name) } : {}),
    ...(folder === null ? {} : { folder }),
    filename_disk: object,
  };
  await rehearse(await filesCollection(deps, caller), 'create', payload, { type: declared?.type ?? null, ...given });
  return { id, location, object, name, declared, type: declared?.type, limit: limitOf(deps, options), payload, given };
}

async function planReplace(
  deps: PlanDeps,
  caller: Caller,
  key: string,
  about: About,
  options: UploadOptions,
): Promise<Plan> {
  const { access, storage } = deps;
  await access.demand(caller, 'update', FILES);
  const { own, sent, declared, rest } = senderValues(about, deps.checkType);
  const { storage: wanted, id: same, ...words } = rest;
  const isSame = typeof same === 'string' && same.toLowerCase() === key.toLowerCase();
  const name = own ?? sent;
  const payload: Payload = {
    ...words,
    ...(same === undefined || isSame ? {} : { id: same }),
    ...(name === undefined ? {} : { filename_download: name }),
  };
  // Other bytes under an old name and type would be another file: who may not write these two may not replace it.
  const fields = [...new Set([...Object.keys(payload), 'filename_download', 'type'])];
  const files = await filesCollection(deps, caller);
  const [row] = await updatableFiles(deps, files, [key], fields);
  if (!row) throw fail('FORBIDDEN', `there is no file ${key} that may be updated`);
  const stays = row.filename_disk !== null;
  const asked = knownLocation(storage, wanted);
  if (stays && asked !== undefined && asked !== row.storage) throw staysWhereItIs();
  const known = storage.locations.includes(row.storage) ? row.storage : undefined;
  const location = storage.at(stays ? row.storage : (asked ?? known ?? defaultLocation(storage)));
  const id = row.id;
  const object = objectName(id, extensionFor(name ?? row.filename_download, declared?.type), false);
  const given = stays ? { filename_disk: object } : { filename_disk: object, storage: location.name };
  const typed = { ...payload, type: declared?.type ?? row.type };
  await rehearse(files, 'update', typed, given);
  const limit = limitOf(deps, options);
  return {
    id,
    location,
    object,
    name: name ?? row.filename_download,
    declared,
    type: declared?.type,
    limit,
    payload,
    given,
  };
}

/** The sender's own words, cleaned of what is not his to say. */
function senderValues({ filename, type, metadata }: About, checkType: CheckType) {
  const { filename_download: named, type: typed, ...rest } = withoutOwn(metadata);
  const own = typeof named === 'string' ? downloadName(named) : undefined;
  const declared = declaredType(type ?? typed);
  if (declared) checkType(declared.type);
  if (rest.title === '') delete rest.title;
  return { own, sent: downloadName(filename), declared, rest };
}

async function filesCollection({ access, schema }: Deps, caller: Caller) {
  const overview = await schema.overview();
  const collection = overview.collections.get(FILES);
  if (!collection) throw fail('SERVICE_UNAVAILABLE', `${FILES} is not there`);
  return { access, collection, overview, caller };
}

/** Bytes that an upload may have. */
const limitOf = ({ config }: Deps, { maxBytes }: UploadOptions): number =>
  Math.min(config.FILES_MAX_UPLOAD_SIZE ?? Number.POSITIVE_INFINITY, maxBytes ?? Number.POSITIVE_INFINITY);

const defaultLocation = ({ locations }: Deps['storage']): string => locations[0] as string;
