import type { S3, S3ClientConfig } from '@aws-sdk/client-s3';
import type { S3Settings } from './settings.ts';
import { CONNECTING } from './time-limits.ts';

/** The bucket of one location, as the other files ask it. */
export interface Bucket {
  readonly settings: S3Settings;
  readonly bucket: string;
  key(name: string): string;
  /** One request; where it fails the error says what was asked, and has the SDK's own as its cause. */
  ask<T>(about: string, request: (s3: S3) => Promise<T>): Promise<T>;
  close(): void;
}

export function createBucket(settings: S3Settings): Bucket {
  let client: Promise<S3> | undefined;
  let isClosed = false;
  return {
    settings,
    bucket: settings.bucket,
    key: (name) => settings.root + name,
    async ask(about, request) {
      if (isClosed) throw new Error('the connection to the bucket is closed');
      client ??= connect(settings);
      try {
        return await request(await client);
      } catch (error) {
        throw explained(error, `${about} in the bucket ${settings.bucket}`);
      }
    },
    close() {
      isClosed = true;
      void client?.then((s3) => s3.destroy()).catch(() => {});
    },
  };
}

async function connect(settings: S3Settings): Promise<S3> {
  // Some megabytes of code that services without such a location do without.
  const { S3 } = await import('@aws-sdk/client-s3');
  return new S3(configOf(settings));
}

const ATTEMPTS = 4;
const nothing = () => {};

const configOf = ({ region, endpoint, forcePathStyle, credentials, checksums }: S3Settings): S3ClientConfig => ({
  region,
  forcePathStyle,
  ...(endpoint === undefined ? {} : { endpoint }),
  ...(credentials ? { credentials } : {}),
  retryMode: 'standard',
  maxAttempts: ATTEMPTS,
  // A checksum of CRC beside the signed SHA-256 of each body is what many servers refuse that are not AWS.
  requestChecksumCalculation: checksums ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
  // Checked bodies are streams around the connection's own, and destroying one of those would leave the connection open.
  responseChecksumValidation: 'WHEN_REQUIRED',
  // Else each part of a large object would open a connection of its own.
  expectContinueHeader: false,
  requestHandler: {
    connectionTimeout: CONNECTING,
    // Each request says how long it may take (time-limits.ts). A limit on silence would end downloads by clients that pause.
    socketTimeout: 0,
    throwOnRequestTimeout: true,
    // As many as there are requests: with a limit, slow downloads would keep everything else waiting.
    httpAgent: { maxSockets: Number.POSITIVE_INFINITY },
    httpsAgent: { maxSockets: Number.POSITIVE_INFINITY },
  },
  // What fails is thrown; the SDK would also write to the console.
  logger: { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing },
});

/** What of an error of the SDK is looked at here. */
interface SdkError extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

function explained(error: unknown, about: string): Error {
  const { name, message, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode;
  // An answer to HEAD has no body that could say more than its status.
  const reason = message && message !== 'UnknownError' ? `${name}: ${message}` : `the server answers ${status ?? name}`;
  return new Error(`${about}: ${reason}`, { cause: error });
}

/** Was the answer that there is no such thing? A bucket that is not there is another matter: somebody named it. */
export function isMissing(error: unknown): boolean {
  const { name, $metadata } = ((error as Error).cause ?? {}) as SdkError;
  return name !== 'NoSuchBucket' && $metadata?.httpStatusCode === 404;
}

/** Is that a request this server has not heard of? */
export const isUnknownThere = (error: unknown): boolean =>
  (((error as Error).cause ?? {}) as SdkError).$metadata?.httpStatusCode === 501;

/** Will the same request fail in the same way again? */
export function isFinal(error: unknown): boolean {
  const status = (((error as Error).cause ?? {}) as SdkError).$metadata?.httpStatusCode;
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429;
}
