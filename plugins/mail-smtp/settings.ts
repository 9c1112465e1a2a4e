import { BootFailure } from '#kernel';

export interface SmtpConfig {
  readonly EMAIL_SMTP_HOST: string | undefined;
  readonly EMAIL_SMTP_PORT: number | undefined;
  readonly EMAIL_SMTP_USER: string | undefined;
  readonly EMAIL_SMTP_PASSWORD: string | undefined;
  readonly EMAIL_SMTP_POOL: boolean;
  readonly EMAIL_SMTP_SECURE: boolean | undefined;
  readonly EMAIL_SMTP_IGNORE_TLS: boolean;
  readonly EMAIL_SMTP_NAME: string | undefined;
  readonly EMAIL_SMTP_TLS_REJECT_UNAUTHORIZED: boolean;
  readonly EMAIL_SMTP_TLS_CA: string | undefined;
  readonly EMAIL_SMTP_TLS_SERVERNAME: string | undefined;
  readonly EMAIL_SMTP_TLS_CIPHERS: string | undefined;
  readonly EMAIL_SMTP_TLS_MIN_VERSION: 'TLSv1.2' | 'TLSv1.3' | undefined;
  readonly EMAIL_SMTP_TLS_MAX_VERSION: 'TLSv1.2' | 'TLSv1.3' | undefined;
}

/** The server and how to talk to it, as `nodemailer` takes it. */
export interface SmtpServer {
  readonly host: string;
  readonly port?: number;
  /** Undefined: on port 465. */
  readonly secure?: boolean;
  readonly ignoreTLS: boolean;
  readonly name?: string;
  readonly auth?: { readonly user: string; readonly pass: string };
  readonly tls: Readonly<Record<string, string | boolean>>;
}

const createConfigFailure = (reason: string, remedy: string) =>
  new BootFailure('@tenon/mail-smtp', 'config', reason, { remedy });

/** Parses the settings of the transport. @throws BootFailure for settings that contradict each other. */
export function parseSmtpServer(host: string, config: SmtpConfig): SmtpServer {
  const { EMAIL_SMTP_PORT: port, EMAIL_SMTP_NAME: name } = config;
  const { EMAIL_SMTP_USER: user, EMAIL_SMTP_PASSWORD: pass } = config;
  const { EMAIL_SMTP_SECURE: secure, EMAIL_SMTP_IGNORE_TLS: ignoreTLS } = config;
  if ((user === undefined) !== (pass === undefined))
    throw createConfigFailure(
      'only one of EMAIL_SMTP_USER and EMAIL_SMTP_PASSWORD is set',
      'set both, or neither for a server without sign-in',
    );
  if (secure && ignoreTLS)
    throw createConfigFailure(
      'EMAIL_SMTP_SECURE asks for TLS and EMAIL_SMTP_IGNORE_TLS forbids it',
      'unset one of them; EMAIL_SMTP_SECURE is for port 465',
    );
  const { EMAIL_SMTP_TLS_MIN_VERSION: min, EMAIL_SMTP_TLS_MAX_VERSION: max } = config;
  if (min !== undefined && max !== undefined && min > max)
    throw createConfigFailure('EMAIL_SMTP_TLS_MIN_VERSION is above EMAIL_SMTP_TLS_MAX_VERSION', 'correct one of them');
  return {
    ...{ host, ignoreTLS },
    ...(secure === undefined ? {} : { secure }),
    ...(port === undefined ? {} : { port }),
    ...(name === undefined ? {} : { name }),
    ...(user === undefined || pass === undefined ? {} : { auth: { user, pass } }),
    tls: parseTlsOptions(config),
  };
}

function parseTlsOptions(config: SmtpConfig): SmtpServer['tls'] {
  const options = {
    rejectUnauthorized: config.EMAIL_SMTP_TLS_REJECT_UNAUTHORIZED,
    ca: config.EMAIL_SMTP_TLS_CA,
    servername: config.EMAIL_SMTP_TLS_SERVERNAME,
    ciphers: config.EMAIL_SMTP_TLS_CIPHERS,
    minVersion: config.EMAIL_SMTP_TLS_MIN_VERSION,
    maxVersion: config.EMAIL_SMTP_TLS_MAX_VERSION,
  };
  const set = Object.entries(options).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return Object.fromEntries(set);
}
