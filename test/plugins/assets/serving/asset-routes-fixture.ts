import { Readable } from 'node:stream';
import { fail, type Host } from '#kernel';
import { boot } from '#kernel/boot';
import { createAssetCachePolicyFor } from '../../../../plugins/assets/serving/cache-policy.ts';
import { createStoredObjectCache } from '../../../../plugins/assets/serving/object-cache.ts';
import { assetRoutes } from '../../../../plugins/assets/serving/routes.ts';
import { createSendFile } from '../../../../plugins/assets/serving/send-file.ts';
import { routes } from '../../../../plugins/http/contract.ts';
import { parseIpRange } from '../../../../plugins/outbound/library.ts';
import type { ByteRange, OpenedStorageObject, StorageLocation } from '../../../../plugins/storage/contract.ts';
import { createSender, type SendRequest } from '../../../support/send.ts';
import { silentSettings, writeTestPluginPackages } from '../../../support/test-plugins.ts';

type Variants = Parameters<typeof assetRoutes>[0]['variants'];
type FileRecord = Parameters<Variants['choose']>[0];

export const SERVED_FILE_ID = '0aa3e8d2-5b0e-4f4b-9d3c-1f2e3d4c5b6a';
export const SERVED_FILE_MODIFIED_ON = new Date('2026-03-04T05:06:07.891Z');

export interface AssetRoutesFixture {
  readonly url: string;
  readonly request: SendRequest;
  readonly log: readonly Record<string, unknown>[];
  /** Calls that the routes made to the storage: `open a.png`, `open a.png 0-9`, `stat a.png`. */
  readonly storageCalls: string[];
  stop(): Promise<void>;
}

export interface AssetRoutesOptions {
  readonly file?: Partial<FileRecord>;
  /** Later versions of the file's row, one for each time the routes read the row again because its object was missing. */
  readonly again?: readonly Partial<FileRecord>[];
  /** Bytes in the fake storage by object name, or a function that opens them. */
  readonly objects: Record<
    string,
    Buffer | ((range?: ByteRange) => OpenedStorageObject | Promise<OpenedStorageObject>)
  >;
  readonly variants?: Partial<Variants>;
  readonly environment?: Record<string, string>;
  readonly ttl?: number;
  readonly revalidate?: boolean;
  /** `ip_access` of the Public role. */
  readonly addresses?: readonly string[];
}

/** Serves the asset routes over HTTP for one file, with a fake storage and without a database. */
export async function startAssetRoutes(options: AssetRoutesOptions): Promise<AssetRoutesFixture> {
  const storageCalls: string[] = [];
  const file: FileRecord = {
    id: SERVED_FILE_ID,
    storage: 'local',
    filename_disk: 'a.bin',
    filename_download: 'A.bin',
    type: 'application/octet-stream',
    charset: null,
    detected_type: null,
    filesize: null,
    width: null,
    height: null,
    duration: null,
    modified_on: SERVED_FILE_MODIFIED_ON,
    focal_point_x: null,
    focal_point_y: null,
    ...options.file,
  };
  const records = [file, ...(options.again ?? []).map((other) => ({ ...file, ...other }))];
  const objects = createStoredObjectCache({ at: () => locationOf(options.objects, storageCalls) });
  const role = async () => ({ id: '', admin: false, app: false, addresses: options.addresses?.map(parseIpRange) });
  const caching = {
    ASSETS_CACHE_TTL: options.ttl ?? 2_592_000_000,
    ASSETS_CACHE_REVALIDATE: options.revalidate ?? false,
  };
  const served = assetRoutes({
    findReadable: Object.assign(
      async (_caller: unknown, id: string) => {
        if (id !== SERVED_FILE_ID) throw fail('FORBIDDEN', 'no such file');
        return file;
      },
      {
        findReplacement: async (_caller: unknown, before: FileRecord) =>
          records[records.findIndex(({ filename_disk }) => filename_disk === before.filename_disk) + 1],
      },
    ),
    variants: { choose: async () => ({ varies: false }), open: async () => undefined, ...options.variants },
    objects,
    cachingFor: createAssetCachePolicyFor(caching, { role }),
    sendFile: createSendFile(objects),
  });
  const { composition, remove } = await writeTestPluginPackages([
    {
      name: 'assets',
      manifest: { contributes: { 'http.routes': { prefixes: ['/assets'] } } },
      register(host: Host) {
        for (const route of served) host.contribute(routes, route);
      },
    },
  ]);
  const log: Record<string, unknown>[] = [];
  const kernel = await boot(
    { ...composition, plugins: [new URL('../../../../plugins/http/', import.meta.url), ...composition.plugins] },
    {
      environment: { ...silentSettings, LOG_LEVEL: 'info', ...options.environment },
      log: (line) => void log.push(JSON.parse(line)),
    },
  );
  await kernel.migrate();
  await kernel.start();
  const { port } = await kernel.listen();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    log,
    storageCalls,
    request: createSender(url),
    async stop() {
      await kernel.stop();
      await remove();
    },
  };
}

function locationOf(objects: AssetRoutesOptions['objects'], storageCalls: string[]): StorageLocation {
  const location: Partial<StorageLocation> = {
    name: 'local',
    async open(name, range) {
      storageCalls.push(`open ${name}${range ? ` ${range.start}-${range.end}` : ''}`);
      const object = objects[name];
      if (!Buffer.isBuffer(object)) return object?.(range);
      const part = range ? object.subarray(range.start, range.end + 1) : object;
      return { size: object.length, bytes: Readable.from(inParts(part)) };
    },
    async stat(name) {
      storageCalls.push(`stat ${name}`);
      const object = objects[name];
      const size = Buffer.isBuffer(object) ? object.length : (await object?.())?.size;
      return size === undefined ? undefined : { name, size, modified: SERVED_FILE_MODIFIED_ON };
    },
  };
  return location as StorageLocation;
}

function* inParts(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
