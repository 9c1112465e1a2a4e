import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp from 'sharp';
import { listLocalObjectPaths } from '../plugins/files/files-fixture.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../support/service.ts';

/** A database and a storage folder that several service processes share. */
export interface SharedFilesEnvironment {
  readonly database: FreshDatabase;
  readonly folder: string;
  start(env?: Readonly<Record<string, string>>): Promise<SpawnedService>;
  /** The names of all objects: in rows, in the table of orphaned objects, and in the folder (without image variants). */
  state(): Promise<StoredObjectNames>;
  /** Stops the processes that `start` has started, and deletes the database and the folder. */
  remove(): Promise<void>;
}

export interface StoredObjectNames {
  /** The values of `filename_disk` in platform_files. */
  readonly named: readonly string[];
  readonly objects: readonly string[];
  readonly orphanEntries: readonly string[];
}

export async function createSharedFilesEnvironment(
  common: Readonly<Record<string, string>> = {},
): Promise<SharedFilesEnvironment> {
  const database = await createMigratedDatabase('files_failing');
  const folder = await mkdtemp(join(tmpdir(), 'tenon-failing-'));
  const started: SpawnedService[] = [];
  return {
    database,
    folder,
    async start(env = {}) {
      const service = await spawnService({
        database,
        env: { STORAGE_LOCAL_ROOT: folder, LOG_LEVEL: 'warn', ...common, ...env },
      });
      started.push(service);
      return service;
    },
    async state() {
      const names = async (text: string) =>
        (await database.query<{ name: string }>(text)).map(({ name }) => name).sort();
      const named = await names('select filename_disk as name from platform_files where filename_disk is not null');
      const orphanEntries = await names('select name from platform_orphaned_objects');
      return {
        named,
        orphanEntries,
        objects: (await listLocalObjectPaths(folder)).filter((name) => !name.startsWith('.groups/')),
      };
    },
    async remove() {
      await Promise.all(started.map((service) => service.stop()));
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Asserts that each row of platform_files has its object in the folder, and that no other object is left. */
export function expectConsistentFiles({ named, objects, orphanEntries }: StoredObjectNames): void {
  expect(orphanEntries, 'in the ledger').to.deep.equal([]);
  expect(objects, 'in the folder').to.deep.equal(named);
}

export interface FormReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface SlowMultipartUpload {
  write(bytes: string | Uint8Array): void;
  /** Sends the end of the form, and resolves to the response; status 0 if the connection broke first. */
  end(): Promise<FormReply>;
  abort(): void;
  readonly answer: Promise<FormReply>;
}

export interface FormOptions {
  readonly method?: string;
  readonly path?: string;
  readonly name?: string;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

const BOUNDARY = 'between-the-parts-of-a-form';

/** Begins to send a multipart form whose file the test writes in parts. */
export function startSlowMultipartUpload(
  { url, admin }: SpawnedService,
  options: FormOptions = {},
): SlowMultipartUpload {
  const { method = 'POST', path = '/files', name = 'a.txt', type = 'text/plain', fields = {}, agent = false } = options;
  const headers = {
    authorization: `Bearer ${admin.token}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
  };
  const clientRequest = request(url + path, { method, agent, headers });
  clientRequest.on('error', () => {});
  const answer = (async () => {
    const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
    let text = '';
    for await (const part of response.setEncoding('utf8')) text += part;
    return { status: response.statusCode ?? 0, body: text === '' ? undefined : JSON.parse(text) };
  })().catch((error) => ({ status: 0, body: String(error) }));
  const begin = `--${BOUNDARY}\r\ncontent-disposition: form-data; `;
  for (const [field, value] of Object.entries(fields))
    clientRequest.write(`${begin}name="${field}"\r\n\r\n${value}\r\n`);
  clientRequest.write(`${begin}name="file"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`);
  return {
    answer,
    write: (bytes) => void clientRequest.write(bytes),
    end() {
      clientRequest.end(`\r\n--${BOUNDARY}--\r\n`);
      return answer;
    },
    abort: () => void clientRequest.destroy(),
  };
}

export function sendUploadForm(
  service: SpawnedService,
  bytes: string | Uint8Array,
  options: FormOptions = {},
): Promise<FormReply> {
  const form = startSlowMultipartUpload(service, options);
  if (bytes.length > 0) form.write(bytes);
  return form.end();
}

/** Uploads a file with these bytes, and answers its id. */
export async function uploadFileByForm(
  service: SpawnedService,
  bytes: string | Uint8Array,
  options: FormOptions = {},
): Promise<string> {
  const { status, body } = await sendUploadForm(service, bytes, options);
  expect(status, JSON.stringify(body)).to.equal(200);
  return body.data.id;
}

export const PICTURE_FORM_OPTIONS = { name: 'picture.png', type: 'image/png' } as const;
export const createTestPicture = (): Promise<Buffer> =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();

export async function fetchAssetAsAdmin(
  { url, admin }: Pick<SpawnedService, 'url' | 'admin'>,
  id: string,
  query = '',
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(`${url}/assets/${id}${query}`, {
    headers: { authorization: `Bearer ${admin.token}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}
