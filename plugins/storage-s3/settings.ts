import { BootFailure, CastError, castSetting } from '#kernel';
import type { StorageLocationSettings } from '../storage/contract.ts';
import { storageVariableOf } from '../storage/library.ts';

export interface S3Settings {
  readonly bucket: string;
  readonly region: string;
  /** The whole URL; undefined for AWS itself. */
  readonly endpoint: string | undefined;
  readonly forcePathStyle: boolean;
  /** Undefined if the SDK finds credentials itself: its variables, the role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  readonly acl: string | undefined;
  readonly encryption: string | undefined;
  /** Prefix of all keys: empty, or folders that end with `/`. */
  readonly root: string;
  /** True if uploads carry checksums beside their signature. */
  readonly checksums: boolean;
}

/** The region for servers other than AWS. */
const DEFAULT_REGION = 'us-east-1';

/** Parses the settings of a location. @throws BootFailure with the variable that is missing or invalid. */
export function parseS3Settings({ location, setting }: StorageLocationSettings): S3Settings {
  const variable = (key: string) => storageVariableOf(location, key);
  const createBootFailure = (key: string, reason: string, remedy: string) =>
    new BootFailure('@tenon/storage-s3', 'start', `${variable(key)} ${reason}`, { remedy });

  const required = (key: string, remedy: string) => {
    const value = setting(key);
    if (value === undefined) throw createBootFailure(key, 'is not set', remedy);
    return value;
  };
  const parseBoolean = (key: string) => {
    try {
      return castSetting(setting(key) ?? 'false', { type: 'boolean' }) as boolean;
    } catch (error) {
      if (!(error instanceof CastError)) throw error;
      throw createBootFailure(key, error.message, `correct or unset ${variable(key)}`);
    }
  };
  const credentials = () => {
    const [accessKeyId, secretAccessKey] = [setting('KEY'), setting('SECRET')];
    if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey };
    if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
    const [missing, set] = accessKeyId === undefined ? ['KEY', 'SECRET'] : ['SECRET', 'KEY'];
    throw createBootFailure(
      missing,
      `is not set, although ${variable(set)} is`,
      'set both, or neither for those of the machine',
    );
  };
  const endpoint = () => {
    const text = setting('ENDPOINT');
    if (text === undefined) return undefined;
    const whole = text.includes('://') ? text : `https://${text}`;
    if (URL.canParse(whole) && /^https?:$/.test(new URL(whole).protocol)) return whole;
    throw createBootFailure(
      'ENDPOINT',
      'is no address of a server',
      `correct ${variable('ENDPOINT')}, or unset it for AWS`,
    );
  };
  const root = () => {
    const parts = (setting('ROOT') ?? '').split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) {
      throw createBootFailure(
        'ROOT',
        'leads out of the bucket',
        `set ${variable('ROOT')} to a folder inside it, or unset it`,
      );
    }
    return parts.map((part) => `${part}/`).join('');
  };

  const server = endpoint();
  return {
    bucket: required('BUCKET', 'set it to the name of the bucket the files are to be kept in'),
    region: setting('REGION') ?? (server ? DEFAULT_REGION : required('REGION', 'set it to the region of the bucket')),
    endpoint: server,
    forcePathStyle: parseBoolean('FORCE_PATH_STYLE'),
    credentials: credentials(),
    acl: setting('ACL'),
    encryption: setting('SERVER_SIDE_ENCRYPTION'),
    root: root(),
    checksums: parseBoolean('CHECKSUMS'),
  };
}
