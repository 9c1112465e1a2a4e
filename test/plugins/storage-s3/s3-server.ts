import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { S3 } from '@aws-sdk/client-s3';
import { openS3Driver } from '../../../plugins/storage-s3/driver.ts';
import { prepareSwiftPython } from './openstack-swift-packages.ts';

export type S3Settings = Parameters<typeof openS3Driver>[0];
/** Sizes of the parts of large objects, and where the parts wait. */
export type S3PartPlan = Parameters<typeof openS3Driver>[1];

/** An S3 server with a bucket for tests. */
export interface S3Server {
  readonly settings: S3Settings;
  /** Opens the driver on the bucket, with these settings changed. The test closes the driver. */
  open(settings?: Partial<S3Settings>, plan?: S3PartPlan): ReturnType<typeof openS3Driver>;
  /** Environment variables that configure a storage location of this name on the bucket. */
  env(location: string): Record<string, string>;
  /** A client of the AWS SDK, by which tests inspect the bucket without the driver. */
  readonly s3: S3;
  stop(): Promise<void>;
}

/** Uses the bucket at TEST_S3_URL, else starts OpenStack Swift for these tests and creates a bucket. */
export async function startS3Server(): Promise<S3Server> {
  const configuredUrl = process.env.TEST_S3_URL;
  return configuredUrl ? existing(new URL(configuredUrl)) : ownCluster();
}

/** Uses an existing bucket, under a random key prefix whose objects `stop` deletes. */
function existing(url: URL): S3Server {
  const root = `tenon-test-${randomBytes(6).toString('hex')}/`;
  const server = serverOf({
    endpoint: url.origin,
    bucket: url.pathname.slice(1),
    region: url.searchParams.get('region') ?? 'us-east-1',
    credentials: {
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
    },
    root,
  });
  return {
    ...server,
    async stop() {
      const place = { Bucket: server.settings.bucket, Prefix: root };
      for (;;) {
        const { Contents = [], IsTruncated } = await server.s3.listObjectsV2(place);
        for (const { Key } of Contents) await server.s3.deleteObject({ Bucket: place.Bucket, Key });
        if (!IsTruncated) break;
      }
      server.s3.destroy();
    },
  };
}

async function ownCluster(): Promise<S3Server> {
  const python = await prepareSwiftPython();
  const folder = await mkdtemp(join(tmpdir(), 'tenon-swift-cluster-'));
  const credentials = { accessKeyId: 'test:tester', secretAccessKey: randomBytes(16).toString('hex') };
  const cluster = spawn(
    python.program,
    [
      fileURLToPath(new URL('cluster.py', import.meta.url)),
      folder,
      credentials.accessKeyId,
      credentials.secretAccessKey,
    ],
    { env: { PATH: process.env.PATH, ...python.env }, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const ended = once(cluster, 'close');
  const stopCluster = async () => {
    cluster.stdin.end();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const endpoint = `http://127.0.0.1:${await portOf(cluster)}`;
    const server = serverOf({ endpoint, bucket: 'files', region: 'us-east-1', credentials, root: '' });
    await server.s3.createBucket({ Bucket: server.settings.bucket });
    return {
      ...server,
      async stop() {
        server.s3.destroy();
        await stopCluster();
      },
    };
  } catch (error) {
    await stopCluster();
    throw error;
  }
}

async function portOf(cluster: ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream }) {
  let stderr = '';
  cluster.stderr.setEncoding('utf8');
  cluster.stderr.on('data', (text: string) => (stderr += text));
  for await (const line of createInterface({ input: cluster.stdout })) return JSON.parse(line).port as number;
  throw new Error(`the Swift cluster did not start: ${stderr}`);
}

function serverOf(place: Pick<S3Settings, 'endpoint' | 'bucket' | 'region' | 'credentials' | 'root'>) {
  const settings: S3Settings = {
    ...place,
    forcePathStyle: true,
    acl: undefined,
    encryption: undefined,
    checksums: false,
  };
  const { endpoint, region, credentials } = place;
  const s3 = new S3({
    endpoint: endpoint as string,
    region,
    credentials: credentials as NonNullable<typeof credentials>,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  const env = (location: string) => {
    const values = {
      DRIVER: 's3',
      KEY: credentials?.accessKeyId,
      SECRET: credentials?.secretAccessKey,
      BUCKET: place.bucket,
      REGION: region,
      ENDPOINT: endpoint,
      FORCE_PATH_STYLE: 'true',
      ROOT: place.root,
    };
    return Object.fromEntries(
      Object.entries(values).map(([key, value]) => [`STORAGE_${location.toUpperCase()}_${key}`, value ?? '']),
    );
  };
  const open: S3Server['open'] = (changes, plan) => openS3Driver({ ...settings, ...changes }, plan);
  return { settings, open, env, s3 };
}
