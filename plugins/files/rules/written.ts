import { type EventMeta, type EventsApi, fail } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Payload } from '../../items/contract.ts';
import type { Schema } from '../../schema/contract.ts';
import type { Storage } from '../../storage/contract.ts';
import { FILES } from '../contract.ts';
import type { Deps } from '../deps.ts';
import { defaultName, downloadName } from '../names/download-name.ts';
import { extensionFor } from '../names/extension.ts';
import { titleOf } from '../names/title.ts';
import { declaredType } from '../names/type.ts';
import { updatableFiles } from '../upload/updatable.ts';
import { withoutOwn } from './own-fields.ts';
import { presetsOf } from './presets.ts';
import { knownLocation, staysWhereItIs } from './storage.ts';
import { type CheckType, createCheckType } from './types.ts';

type WrittenDeps = Pick<Deps, 'access' | 'config' | 'db' | 'query'> & {
  readonly schema: Pick<Schema, 'overview'>;
  readonly storage: Pick<Storage, 'locations'>;
};

interface RuleDeps extends WrittenDeps {
  readonly checkType: CheckType;
}

/** What holds for the rows of files by whatever way they are written, nested in other rows too. */
export function writtenRules(given: WrittenDeps, events: Pick<EventsApi, 'onFilter'>): void {
  const deps: RuleDeps = { ...given, checkType: createCheckType(given.config) };
  events.onFilter('files.create', (payload, meta) => created(deps, withoutOwn(payload as Payload), meta));
  events.onFilter('files.update', (payload, meta) => updated(deps, withoutOwn(payload as Payload), meta));
}

async function created(
  { access, checkType, storage }: RuleDeps,
  payload: Payload,
  { caller }: EventMeta,
): Promise<Payload> {
  await access.demand(caller, 'create', FILES);
  const presets = await presetsOf(access, caller);
  const type = declaredType(payload.type ?? presets.type);
  if (!type) throw fail('INVALID_PAYLOAD', 'type has to be a MIME type.', { field: 'type', path: ['type'] });
  checkType(type.type);
  const { storage: asked, ...rest } = payload;
  const location = knownLocation(storage, asked);
  return {
    ...(await defaultsFor(access, caller, rest, presets, { storage: storage.locations[0], type: type.type })),
    ...rest,
    ...(location === undefined ? {} : { storage: location }),
  };
}

/** For a row without bytes. What the caller may not write he cannot be given here: there the columns have their defaults. */
async function defaultsFor(
  access: Pick<Access, 'permissions'>,
  caller: EventMeta['caller'],
  said: Payload,
  presets: Payload,
  { storage, type }: { readonly storage: string | undefined; readonly type: string },
): Promise<Payload> {
  const title = typeof said.title === 'string' ? said.title : undefined;
  const named = typeof said.filename_download === 'string' ? said.filename_download : undefined;
  const extension = extensionFor(undefined, type);
  const titled = downloadName(title?.replaceAll(/[\\/]/g, ' '));
  const made = titled === undefined || extension === undefined ? titled : `${titled}.${extension}`;
  const all: Payload = {
    storage,
    filename_download: downloadName(made) ?? defaultName(type),
    ...(named === undefined ? {} : { title: titleOf(named) }),
  };
  const set = await access.permissions(caller);
  const permissions = set.of(FILES, 'create');
  const mayWrite = (name: string) =>
    set.admin || permissions.some(({ fields }) => fields.includes('*') || fields.includes(name));
  const isOpen = (name: string) => !Object.hasOwn(said, name) && !Object.hasOwn(presets, name) && mayWrite(name);
  return Object.fromEntries(Object.entries(all).filter(([name]) => isOpen(name)));
}

async function updated(deps: RuleDeps, payload: Payload, { caller, keys }: EventMeta): Promise<Payload> {
  const { access, checkType, schema, storage } = deps;
  await access.demand(caller, 'update', FILES);
  // What is no type at all is served as nothing that runs.
  if (typeof payload.type === 'string') checkType(declaredType(payload.type)?.type ?? payload.type);
  if (!Object.hasOwn(payload, 'storage') || payload.storage === null) return payload;
  const overview = await schema.overview();
  const collection = overview.collections.get(FILES);
  if (!collection) return payload;
  const of = { collection, overview, caller };
  // Held, since bytes may be on their way to one that has none yet.
  const files = await updatableFiles(deps, of, keys as readonly unknown[], ['storage'], { hold: true });
  // A location of former times may be sent back as it is, and nothing else.
  const changed = files.filter((file) => file.storage !== payload.storage);
  if (changed.length > 0) knownLocation(storage, payload.storage);
  if (changed.some((file) => file.filename_disk !== null)) throw staysWhereItIs();
  return payload;
}
