import { readMailContent, startMailServer, type TestMailServer } from './mail-server.ts';
import { until } from './until.ts';

/** A mail server, the settings of a service that sends by it, and the links in what it has received. */
export interface MailLinks {
  readonly server: TestMailServer;
  readonly env: Readonly<Record<string, string>>;
  /** The link of the latest mail to an address that arrived after the first `earlier` ones. Waits for it. */
  linkFor(email: string, earlier?: number): Promise<URL>;
  /** How many mails an address has received. */
  count(email: string): number;
}

export async function startMailLinks(): Promise<MailLinks> {
  const server = await startMailServer();
  const mailsTo = (email: string) => server.received.filter(({ to }) => to.includes(email));
  return {
    server,
    env: {
      EMAIL_TRANSPORT: 'smtp',
      EMAIL_SMTP_HOST: '127.0.0.1',
      EMAIL_SMTP_PORT: String(server.port),
      EMAIL_SMTP_IGNORE_TLS: 'true',
    },
    count: (email) => mailsTo(email).length,
    linkFor: (email, earlier = 0) =>
      until(() => {
        const mails = mailsTo(email);
        const source = mails.length > earlier ? mails.at(-1)?.source : undefined;
        if (source === undefined) return undefined;
        const href = /href="([^"]+token=[^"]+)"/.exec(readMailContent(source).html ?? '')?.[1];
        if (href === undefined) throw new Error(`a mail without a link: ${source}`);
        return new URL(href.replaceAll('&amp;', '&'));
      }),
  };
}

/** The token that a link carries. */
export const tokenOf = (link: URL): string => link.searchParams.get('token') as string;
