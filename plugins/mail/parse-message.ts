import { type Failure, fail } from '#kernel';
import type { MailAddress, MailMessage } from './contract.ts';
import { MAIL_LIMITS } from './limits.ts';
import { assertHeaderText, parseAddress, parseAddresses, toComparableAddress } from './parse-addresses.ts';
import { isTemplateName } from './template-files.ts';

/** A message whose members were checked. */
export interface ParsedMailMessage {
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly replyTo: MailAddress | undefined;
  readonly fromName: string | undefined;
  /** The addresses of `to`, `cc` and `bcc`, each once. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly content: Pick<MailMessage, 'template' | 'html' | 'text'>;
}

const createFailure = (field: string, why: string): Failure =>
  fail('INVALID_PAYLOAD', `"${field}" ${why}.`, { field, path: [field] });

/** @throws INVALID_PAYLOAD for anything that `MailMessage` does not allow. */
export async function parseMailMessage(message: MailMessage): Promise<ParsedMailMessage> {
  if (typeof message !== 'object' || message === null) throw fail('INVALID_PAYLOAD', 'A message must be an object.');
  if (Buffer.byteLength(JSON.stringify(message)) > MAIL_LIMITS.message)
    throw fail('INVALID_PAYLOAD', `A message must have at most ${MAIL_LIMITS.message} bytes.`);
  const [to, cc, bcc] = await Promise.all([
    parseAddresses('to', message.to),
    parseAddresses('cc', message.cc),
    parseAddresses('bcc', message.bcc),
  ]);
  const all = new Map([...to, ...cc, ...bcc].map(({ address }) => [toComparableAddress(address), address]));
  if (all.size === 0) throw createFailure('to', 'has no recipient');
  if (all.size > MAIL_LIMITS.recipients)
    throw createFailure('to', `must have at most ${MAIL_LIMITS.recipients} recipients, together with "cc" and "bcc"`);
  const { subject, fromName, replyTo } = message;
  assertHeaderText('subject', subject, MAIL_LIMITS.subject);
  if (subject.trim() === '') throw createFailure('subject', 'is empty');
  if (fromName !== undefined) assertHeaderText('fromName', fromName, MAIL_LIMITS.name);
  assertContent(message);
  const { template, html, text } = message;
  return {
    ...{ to, cc, subject, fromName, recipients: [...all.values()] },
    replyTo: replyTo === undefined ? undefined : await parseAddress('replyTo', replyTo),
    content: {
      ...(template ? { template } : {}),
      ...(html === undefined ? {} : { html }),
      ...(text === undefined ? {} : { text }),
    },
  };
}

function assertContent({ template, html, text }: MailMessage): void {
  if ((template === undefined) === (html === undefined && text === undefined))
    throw fail('INVALID_PAYLOAD', 'A message has either "template", or "html" or "text".');
  for (const [field, value, limit] of [
    ['html', html, MAIL_LIMITS.html],
    ['text', text, MAIL_LIMITS.text],
  ] as const) {
    if (value === undefined) continue;
    if (typeof value !== 'string') throw createFailure(field, 'must be a text');
    if (value.length > limit) throw createFailure(field, `must have at most ${limit} characters`);
  }
  if (template === undefined) return;
  if (typeof template !== 'object' || template === null || !isTemplateName(template.name))
    throw createFailure('template', 'must have a name of letters, digits, "-" and "_"');
  if (Buffer.byteLength(JSON.stringify(template.data ?? {})) > MAIL_LIMITS.data)
    throw createFailure('template', `must have data of at most ${MAIL_LIMITS.data} bytes`);
}
