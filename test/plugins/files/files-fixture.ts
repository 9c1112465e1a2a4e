import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller, Host } from '#kernel';
import { lock, presence } from '../../../plugins/cluster/contract.ts';
import { files } from '../../../plugins/files/contract.ts';
import { storage } from '../../../plugins/storage/contract.ts';
import { createCaller } from '../../support/caller.ts';
import { filesIn } from '../../support/files-in.ts';
import { type InProcessService, type ServiceOptions, startService } from '../../support/service.ts';
import { writeTestPluginPackages } from '../../support/test-plugins.ts';

const REFS = { files, lock, presence, storage };
const hold = (host: Host) => host.use(REFS);

export interface FilesFixture extends InProcessService, ReturnType<typeof hold> {
  readonly host: Host;
  readonly admin: InProcessService['admin'] & { readonly caller: Caller };
  /** Folder of the storage location `local`. The location `second` has the folder `other` in it. */
  readonly folder: string;
  /** Reads the row of a file by SQL, without permissions. */
  row(id: string): Promise<PlatformFilesRow>;
  /** Reads the bytes of a file from the storage folder. */
  bytes(id: string): Promise<Buffer>;
  orphanEntries(): Promise<readonly { storage: string; name: string; writer: string | null }[]>;
  /** Names of all objects of a location, including those of unfinished writes (`.partial/…`). */
  objects(location?: 'local' | 'second'): Promise<readonly string[]>;
}

export interface PlatformFilesRow extends Record<string, unknown> {
  readonly id: string;
  readonly storage: string;
  readonly filename_disk: string;
}

export type FilesFixtureOptions = ServiceOptions & {
  /** Events that the test's plugin may listen to. */
  readonly events?: { readonly filter?: readonly string[]; readonly action?: readonly string[] };
};

/** Starts a service with two storage locations in a temporary folder, and returns internal services for the test to call. */
export async function startFilesFixture(options: FilesFixtureOptions = {}): Promise<FilesFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-files-'));
  let host: Host | undefined;
  const { composition, remove } = await writeTestPluginPackages([
    {
      name: 'files-holder',
      manifest: {
        uses: Object.fromEntries(Object.values(REFS).map(({ id }) => [id, '^1.0.0'])),
        capabilities: {
          database: { sql: 'tests run any statement' },
          ...(options.events ? { events: options.events } : {}),
        },
      },
      register: (provided) => {
        host = provided;
      },
    },
  ]);
  const clean = async () => {
    await remove();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const service = await startService({
      ...options,
      plugins: composition.plugins as URL[],
      env: {
        LOG_LEVEL: 'warn',
        STORAGE_LOCATIONS: 'local,second',
        STORAGE_LOCAL_ROOT: folder,
        STORAGE_SECOND_DRIVER: 'local',
        STORAGE_SECOND_ROOT: join(folder, 'other'),
        ...options.env,
      },
    });
    const { database } = service;
    const [admin] = await database.query<{ id: string; role: string }>(
      'select u.id, u.role from platform_users u where u.email = $1',
      [service.admin.email],
    );
    const row = async (id: string) => {
      const [found] = await database.query<PlatformFilesRow>('select * from platform_files where id = $1', [id]);
      if (!found) throw new Error(`there is no file ${id}`);
      return found;
    };
    const place = (location: string) => (location === 'local' ? folder : join(folder, 'other'));
    return {
      ...service,
      ...hold(host as Host),
      host: host as Host,
      admin: {
        ...service.admin,
        caller: createCaller({ user: admin?.id ?? null, role: admin?.role ?? null, admin: true, app: true }),
      },
      folder,
      row,
      bytes: async (id) => {
        const { storage: location, filename_disk: name } = await row(id);
        return readFile(join(place(location), name));
      },
      orphanEntries: () => database.query('select storage, name, writer from platform_orphaned_objects order by name'),
      objects: (location = 'local') => listLocalObjectPaths(place(location)),
      async stop() {
        await service.stop();
        await clean();
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}

/** Paths of all files in the folder of the location `local`: objects, variants and unfinished writes. */
export async function listLocalObjectPaths(folder: string): Promise<readonly string[]> {
  return (await filesIn(folder)).filter((name) => !name.startsWith('other/'));
}

/** Yields these chunks as bytes, as a request body does. */
export async function* byteChunks(...all: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of all) yield typeof part === 'string' ? Buffer.from(part) : part;
}

/** A byte source for uploads that must not be read: it throws, and `taken` reports the read. */
export function createThrowingByteSource(): AsyncIterable<Uint8Array> & { readonly taken: () => boolean } {
  let taken = false;
  return {
    taken: () => taken,
    // biome-ignore lint/correctness/useYield: the first read throws
    async *[Symbol.asyncIterator]() {
      taken = true;
      throw new Error('bytes were taken');
    },
  };
}
