import { BootFailure } from '#kernel';
import { isAddress } from './address.ts';
import type { MailAddress, MailTransportDeclaration } from './contract.ts';

export interface MailConfig {
  readonly EMAIL_FROM: string;
  readonly EMAIL_TRANSPORT: string | undefined;
  readonly EMAIL_VERIFY_SETUP: boolean;
  readonly EMAIL_TEMPLATES_PATH: string;
  readonly RATE_LIMITER_EMAIL_ENABLED: boolean;
  readonly RATE_LIMITER_EMAIL_POINTS: number;
  readonly RATE_LIMITER_EMAIL_DURATION: number;
  readonly RATE_LIMITER_EMAIL_QUEUE_SIZE: number;
}

/** Settings of other owners. */
export interface SharedConfig {
  readonly PUBLIC_URL: string;
}

/** The transport of a service whose EMAIL_TRANSPORT is unset. */
export const DEFAULT_TRANSPORT = 'sendmail';

const createConfigFailure = (reason: string, remedy: string) =>
  new BootFailure('@tenon/mail', 'config', reason, { remedy });

/** Parses EMAIL_FROM without the library, which a start does not load. @throws BootFailure */
export function parseSender(text: string): MailAddress {
  const [, name = '', bracketed, bare] = /^(?:"?([^"<>\p{Cc}]*?)"?\s*<([^<>]+)>|([^<>]+))$/u.exec(text.trim()) ?? [];
  const address = bracketed ?? bare ?? '';
  if (isAddress(address)) return { name: name.trim(), address };
  throw createConfigFailure(
    'EMAIL_FROM is no e-mail address',
    'set EMAIL_FROM to an address such as no-reply@example.com, or "Example <no-reply@example.com>"',
  );
}

/** The declaration of the transport that EMAIL_TRANSPORT names. @throws BootFailure where no plugin has it. */
export function findTransport(
  name: string | undefined,
  known: ReadonlyMap<string, MailTransportDeclaration>,
): MailTransportDeclaration {
  const found = known.get(name ?? DEFAULT_TRANSPORT);
  if (found) return found;
  const names = [...known.keys()].sort().join(', ');
  const byHost =
    name === 'mailgun'
      ? ' Mailgun also takes mail by SMTP: EMAIL_TRANSPORT=smtp, EMAIL_SMTP_HOST=smtp.mailgun.org.'
      : '';
  throw createConfigFailure(
    `EMAIL_TRANSPORT is ${name ?? DEFAULT_TRANSPORT}, which no plugin has`,
    `set EMAIL_TRANSPORT to one of ${names}, or add the plugin that has it.${byHost}`,
  );
}
