import { BootFailure, CastError, cast } from '#kernel';
import type { LocationSettings } from '../storage/contract.ts';
import { variableOf } from '../storage/library.ts';

export interface S3Settings {
  readonly bucket: string;
  readonly region: string;
  /** The whole URL; undefined for AWS itself. */
  readonly endpoint: string | undefined;
  readonly forcePathStyle: boolean;
  /** Undefined where the SDK is to find some: variables of its own, the role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  readonly acl: string | undefined;
  readonly encryption: string | undefined;
  /** What all keys begin with: nothing, or folders that end with `/`. */
  readonly root: string;
  /** Whether uploads carry checksums beside their signature. */
  readonly checksums: boolean;
}

/** Where a server of somebody else is named, and no region: what such servers take. */
const REGION = 'us-east-1';

/** A location's settings; a BootFailure that names the variable where one is missing or wrong. */
export function settingsOf({ location, setting }: LocationSettings): S3Settings {
  const variable = (key: string) => variableOf(location, key);
  const wrong = (key: string, reason: string, remedy: string) =>
    new BootFailure('@tenon/storage-s3', 'start', `${variable(key)} ${reason}`, { remedy });

  const required = (key: string, remedy: string) => {
    const value = setting(key);
    if (value === undefined) throw wrong(key, 'is not set', remedy);
    return value;
  };
  const truth = (key: string) => {
    try {
      return cast(setting(key) ?? 'false', { type: 'boolean' }) as boolean;
    } catch (error) {
      if (!(error instanceof CastError)) throw error;
      throw wrong(key, error.message, `correct or unset ${variable(key)}`);
    }
  };
  const credentials = () => {
    const [accessKeyId, secretAccessKey] = [setting('KEY'), setting('SECRET')];
    if (accessKeyId !== undefined && secretAccessKey !== undefined) return { accessKeyId, secretAccessKey };
    if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
    const [missing, set] = accessKeyId === undefined ? ['KEY', 'SECRET'] : ['SECRET', 'KEY'];
    throw wrong(missing, `is not set, although ${variable(set)} is`, 'set both, or neither for those of the machine');
  };
  const endpoint = () => {
    const text = setting('ENDPOINT');
    if (text === undefined) return undefined;
    const whole = text.includes('://') ? text : `https://${text}`;
    if (URL.canParse(whole) && /^https?:$/.test(new URL(whole).protocol)) return whole;
    throw wrong('ENDPOINT', 'is no address of a server', `correct ${variable('ENDPOINT')}, or unset it for AWS`);
  };
  const root = () => {
    const parts = (setting('ROOT') ?? '').split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) {
      throw wrong('ROOT', 'leads out of the bucket', `set ${variable('ROOT')} to a folder inside it, or unset it`);
    }
    return parts.map((part) => `${part}/`).join('');
  };

  const server = endpoint();
  return {
    bucket: required('BUCKET', 'set it to the name of the bucket the files are to be kept in'),
    region: setting('REGION') ?? (server ? REGION : required('REGION', 'set it to the region of the bucket')),
    endpoint: server,
    forcePathStyle: truth('FORCE_PATH_STYLE'),
    credentials: credentials(),
    acl: setting('ACL'),
    encryption: setting('SERVER_SIDE_ENCRYPTION'),
    root: root(),
    checksums: truth('CHECKSUMS'),
  };
}
