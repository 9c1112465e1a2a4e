import { BootFailure } from '#kernel';

export interface SesConfig {
  readonly EMAIL_SES_REGION: string | undefined;
  readonly EMAIL_SES_CREDENTIALS__ACCESS_KEY_ID: string | undefined;
  readonly EMAIL_SES_CREDENTIALS__SECRET_ACCESS_KEY: string | undefined;
  readonly EMAIL_SES_ENDPOINT: string | undefined;
}

export interface SesSettings {
  readonly region: string;
  readonly endpoint?: string;
  /** Undefined: those that the SDK finds. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

const createConfigFailure = (reason: string, remedy: string) =>
  new BootFailure('@tenon/mail-ses', 'config', reason, { remedy });

/** Parses the settings of the transport. @throws BootFailure */
export function parseSesSettings(region: string, config: SesConfig): SesSettings {
  const { EMAIL_SES_ENDPOINT: endpoint } = config;
  const {
    EMAIL_SES_CREDENTIALS__ACCESS_KEY_ID: accessKeyId,
    EMAIL_SES_CREDENTIALS__SECRET_ACCESS_KEY: secretAccessKey,
  } = config;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw createConfigFailure(
      'only one of EMAIL_SES_CREDENTIALS__ACCESS_KEY_ID and EMAIL_SES_CREDENTIALS__SECRET_ACCESS_KEY is set',
      'set both, or neither for the role of the machine',
    );
  if (endpoint !== undefined && !URL.canParse(endpoint))
    throw createConfigFailure('EMAIL_SES_ENDPOINT is no URL', 'correct or unset EMAIL_SES_ENDPOINT');
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
  };
}
