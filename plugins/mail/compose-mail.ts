import type { MailAddress, OutgoingMail } from './contract.ts';
import { domainOf } from './parse-addresses.ts';
import type { ParsedMailMessage } from './parse-message.ts';
import type { RenderMailContent } from './render-message.ts';

/** The `Message-ID` of a message: by it, servers and clients see that two copies are the same message. */
export const messageIdOf = (id: string, from: MailAddress): string => `<${id}@${domainOf(from.address)}>`;

interface Deps {
  readonly from: MailAddress;
  readonly render: RenderMailContent;
}

/** Renders a message, for `recipients` alone. @throws INVALID_PAYLOAD where its template cannot be rendered. */
export async function composeMail(
  { from, render }: Deps,
  id: string,
  { to, cc, replyTo, fromName, subject, content }: ParsedMailMessage,
  recipients: readonly string[],
): Promise<OutgoingMail> {
  return {
    ...{ to, cc, subject, recipients },
    messageId: messageIdOf(id, from),
    from: fromName === undefined ? from : { ...from, name: fromName },
    ...(replyTo ? { replyTo } : {}),
    ...(await render({ ...content, subject })),
  };
}
