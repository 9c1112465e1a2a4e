import { randomUUID } from 'node:crypto';
import { type Caller, fail } from '#kernel';
import { isUuid } from '../../database/library.ts';
import type { Payload } from '../../items/contract.ts';
import type { StorageLocation } from '../../storage/contract.ts';
import { FILES_COLLECTION_NAME, type IncomingFile, type UploadOptions } from '../contract.ts';
import type { FileServiceDeps } from '../deps.ts';
import { defaultDownloadName, toDownloadName } from '../names/download-name.ts';
import { type MimeType, parseMimeType } from '../names/mime-type.ts';
import { fileExtensionForStoredObject } from '../names/object-extension.ts';
import { fileNameToTitle } from '../names/title.ts';
import { createObjectName } from '../object-names.ts';
import { createAssertMimeTypeAllowed } from '../rules/allowed-mime-types.ts';
import { readFileCreatePresets } from '../rules/permission-presets.ts';
import { withoutPlatformFields } from '../rules/platform-fields.ts';
import {
  createLocationChangeFailure,
  requireConfiguredStorageLocationName,
} from '../rules/requested-storage-location.ts';
import { precheckUploadPayload } from './precheck.ts';
import type { UploadTarget } from './receive.ts';
import { updatableFiles } from './writable-files.ts';

export type UploadDescription = Omit<IncomingFile, 'bytes'>;

/** Everything that is decided before the first byte is read. */
export interface UploadPlan extends UploadTarget {
  readonly id: string;
  readonly location: StorageLocation;
  readonly declared: MimeType | undefined;
  /** The download name, if the sender or the row has one. */
  readonly name: string | undefined;
  /** Values of the sender, which the caller's permissions must allow. */
  readonly payload: Payload;
  /** Values that the platform adds, whatever the sender may write. */
  readonly platformValues: Payload;
}

/** Plans uploads. @throws what the write would throw: FORBIDDEN, INVALID_PAYLOAD or FAILED_VALIDATION. */
export interface UploadPlanner {
  toCreate(caller: Caller, description: UploadDescription, options: UploadOptions): Promise<UploadPlan>;
  toReplace(caller: Caller, key: string, description: UploadDescription, options: UploadOptions): Promise<UploadPlan>;
  readonly assertTypeAllowed: AssertTypeAllowed;
}

type AssertTypeAllowed = ReturnType<typeof createAssertMimeTypeAllowed>;

interface PlanDeps extends FileServiceDeps {
  readonly assertTypeAllowed: AssertTypeAllowed;
}

export function createUploadPlanner(deps: FileServiceDeps): UploadPlanner {
  const assertTypeAllowed = createAssertMimeTypeAllowed(deps.config);
  const planDeps = { ...deps, assertTypeAllowed };
  return {
    toCreate: (caller, description, options) => planCreate(planDeps, caller, description, options),
    toReplace: (caller, key, description, options) => planReplace(planDeps, caller, key, description, options),
    assertTypeAllowed,
  };
}

async function planCreate(
  deps: PlanDeps,
  caller: Caller,
  description: UploadDescription,
  options: UploadOptions,
): Promise<UploadPlan> {
  const { access, settings, storage } = deps;
  await access.assertAllowed(caller, 'create', FILES_COLLECTION_NAME);
  const { chosenName, sentName, declared, rest } = parseSenderValues(description, deps.assertTypeAllowed);
  const isNewId = options.id === undefined && (rest.id === undefined || rest.id === null || rest.id === '');
  const id = options.id ?? (isNewId ? randomUUID() : rest.id);
  if (typeof id !== 'string' || !isUuid(id)) throw fail('INVALID_PAYLOAD', 'id has to be a uuid.', { field: 'id' });

  const presets = await readFileCreatePresets(access, caller);
  const isUnset = (field: string) => !Object.hasOwn(rest, field) && !Object.hasOwn(presets, field);
  const requestedLocation = requireConfiguredStorageLocationName(storage, rest.storage);
  const location = storage.at(
    requestedLocation ?? requireConfiguredStorageLocationName(storage, presets.storage) ?? defaultLocation(storage),
  );
  const name = chosenName ?? sentName ?? defaultDownloadName(declared?.type);
  const folder = isUnset('folder') ? (await settings.current()).storage_default_folder : null;
  const { id: _id, storage: _storage, ...otherFields } = rest;
  const payload: Payload = {
    ...otherFields,
    ...(chosenName === undefined ? {} : { filename_download: chosenName }),
    ...(requestedLocation === undefined ? {} : { storage: requestedLocation }),
    ...(isNewId || options.id !== undefined ? {} : { id }),
  };
  const object = createObjectName(id.toLowerCase(), fileExtensionForStoredObject(name, declared?.type), isNewId);
  const platformValues: Payload = {
    ...(Object.hasOwn(payload, 'id') ? {} : { id: id.toLowerCase() }),
    ...(requestedLocation === undefined ? { storage: location.name } : {}),
    ...(chosenName === undefined ? { filename_download: name } : {}),
    ...(isUnset('title') ? { title: fileNameToTitle(name) } : {}),
    ...(folder === null ? {} : { folder }),
    filename_disk: object,
  };
  await precheckUploadPayload(await filesCollection(deps, caller), 'create', payload, {
    type: declared?.type ?? null,
    ...platformValues,
  });
  return {
    id,
    location,
    object,
    name,
    declared,
    type: declared?.type,
    limit: maxUploadBytes(deps, options),
    payload,
    platformValues,
  };
}

async function planReplace(
  deps: PlanDeps,
  caller: Caller,
  key: string,
  description: UploadDescription,
  options: UploadOptions,
): Promise<UploadPlan> {
  const { access, storage } = deps;
  await access.assertAllowed(caller, 'update', FILES_COLLECTION_NAME);
  const { chosenName, sentName, declared, rest } = parseSenderValues(description, deps.assertTypeAllowed);
  const { storage: requestedStorage, id: sentId, ...otherFields } = rest;
  const isSame = typeof sentId === 'string' && sentId.toLowerCase() === key.toLowerCase();
  const name = chosenName ?? sentName;
  const payload: Payload = {
    ...otherFields,
    ...(sentId === undefined || isSame ? {} : { id: sentId }),
    ...(name === undefined ? {} : { filename_download: name }),
  };
  // Replaced bytes change name and type: a caller who may not write these two fields may not replace the file.
  const fields = [...new Set([...Object.keys(payload), 'filename_download', 'type'])];
  const files = await filesCollection(deps, caller);
  const [row] = await updatableFiles(deps, files, [key], fields);
  if (!row) throw fail('FORBIDDEN', `there is no file ${key} that may be updated`);
  const hasBytes = row.filename_disk !== null;
  const requestedLocation = requireConfiguredStorageLocationName(storage, requestedStorage);
  if (hasBytes && requestedLocation !== undefined && requestedLocation !== row.storage)
    throw createLocationChangeFailure();
  const configuredStorage = storage.locations.includes(row.storage) ? row.storage : undefined;
  const location = storage.at(
    hasBytes ? row.storage : (requestedLocation ?? configuredStorage ?? defaultLocation(storage)),
  );
  const id = row.id;
  const object = createObjectName(
    id,
    fileExtensionForStoredObject(name ?? row.filename_download, declared?.type),
    false,
  );
  const platformValues = hasBytes ? { filename_disk: object } : { filename_disk: object, storage: location.name };
  const typedPayload = { ...payload, type: declared?.type ?? row.type };
  await precheckUploadPayload(files, 'update', typedPayload, platformValues);
  const limit = maxUploadBytes(deps, options);
  return {
    id,
    location,
    object,
    name: name ?? row.filename_download,
    declared,
    type: declared?.type,
    limit,
    payload,
    platformValues,
  };
}

/** The values of the sender without those that only the platform sets. */
function parseSenderValues({ filename, type, metadata }: UploadDescription, assertTypeAllowed: AssertTypeAllowed) {
  const { filename_download: sentDownloadName, type: sentType, ...rest } = withoutPlatformFields(metadata);
  const chosenName = typeof sentDownloadName === 'string' ? toDownloadName(sentDownloadName) : undefined;
  const declared = parseMimeType(type ?? sentType);
  if (declared) assertTypeAllowed(declared.type);
  if (rest.title === '') delete rest.title;
  return { chosenName, sentName: toDownloadName(filename), declared, rest };
}

async function filesCollection({ access, schema }: FileServiceDeps, caller: Caller) {
  const schemaSnapshot = await schema.snapshot();
  const collection = schemaSnapshot.collections.get(FILES_COLLECTION_NAME);
  if (!collection) throw fail('SERVICE_UNAVAILABLE', `the collection ${FILES_COLLECTION_NAME} does not exist`);
  return { access, collection, schemaSnapshot, caller };
}

/** Maximum bytes of an upload. */
const maxUploadBytes = ({ config }: FileServiceDeps, { maxBytes }: UploadOptions): number =>
  Math.min(config.FILES_MAX_UPLOAD_SIZE ?? Number.POSITIVE_INFINITY, maxBytes ?? Number.POSITIVE_INFINITY);

const defaultLocation = ({ locations }: FileServiceDeps['storage']): string => locations[0] as string;
