import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SELF_SIGNED_CERTIFICATE, SELF_SIGNED_CERTIFICATE_KEY } from './self-signed-certificate.ts';

/** A message that the server has answered with 250. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The whole message, headers included. */
  readonly source: string;
}

/** What the server does with the next message whose data has arrived. */
export type MailReaction =
  | 'accept'
  /** The connection breaks after the data, before any reply. */
  | 'drop before reply'
  /** The server accepts, and the connection breaks right after the reply. */
  | 'drop after reply'
  /** The server never replies. */
  | 'no reply'
  | { readonly code: number; readonly text: string };

export interface TestMailServer {
  readonly port: number;
  /** Messages whose acceptance was sent, in their order. */
  readonly received: readonly ReceivedMail[];
  /** Number of connections so far, and of those that are open. */
  connections(): { readonly total: number; readonly open: number };
  /** Reactions to the next messages, in their order; then each is accepted. */
  readonly reactions: MailReaction[];
  /** Replies to recipients, by address; without one a recipient is accepted. */
  readonly recipients: Map<string, { readonly code: number; readonly text: string }>;
  stop(): Promise<void>;
}

const createReply = ({ code, text }: { code: number; text: string }): Error =>
  Object.assign(new Error(text), { responseCode: code });

/** Starts an SMTP server on this machine, which a test makes refuse, delay and break connections. */
export async function startMailServer(options: SMTPServerOptions = {}, port = 0): Promise<TestMailServer> {
  const received: ReceivedMail[] = [];
  const reactions: MailReaction[] = [];
  const recipients: TestMailServer['recipients'] = new Map();
  const sockets = new Set<Socket>();
  let total = 0;

  const server = new SMTPServer({
    authOptional: true,
    key: SELF_SIGNED_CERTIFICATE_KEY,
    cert: SELF_SIGNED_CERTIFICATE,
    disableReverseLookup: true,
    closeTimeout: 10,
    ...options,
    onRcptTo({ address }, _session, callback) {
      const reply = recipients.get(address);
      callback(reply && createReply(reply));
    },
    onData(stream, { envelope, remotePort }, callback) {
      const parts: Buffer[] = [];
      const socket = [...sockets].find((one) => one.remotePort === remotePort);
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const reaction = reactions.shift() ?? 'accept';
        if (reaction === 'no reply') return;
        if (reaction === 'drop before reply') return void socket?.destroy();
        if (typeof reaction === 'object') return callback(createReply(reaction));
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          source: Buffer.concat(parts).toString(),
        });
        callback(null, `accepted as ${received.length}`);
        if (reaction === 'drop after reply') socket?.destroySoon();
      });
    },
  });
  // A client that goes away, or that does not trust the certificate, is part of a test.
  server.on('error', () => {});
  server.server.on('connection', (socket: Socket) => {
    total += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    reactions,
    recipients,
    connections: () => ({ total, open: sockets.size }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** The HTML and the text of a message, decoded, with line ends of `\n` and without spaces at their ends. */
export function readMailContent(source: string): { readonly html?: string; readonly text?: string } {
  const boundary = /boundary="([^"]+)"/.exec(source)?.[1];
  const parts = boundary === undefined ? [source] : source.split(`--${boundary}`).slice(1, -1);
  const found: { html?: string; text?: string } = {};
  for (const part of parts) {
    const end = part.search(/\r?\n\r?\n/);
    const [head, body] = [part.slice(0, end), part.slice(end).trim()];
    const encoding = /^Content-Transfer-Encoding: (\S+)/im.exec(head)?.[1]?.toLowerCase();
    const text = decodeBody(body, encoding).replaceAll('\r\n', '\n').trim();
    if (/^Content-Type: text\/html/im.test(head)) found.html = text;
    else found.text = text;
  }
  return found;
}

function decodeBody(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  if (encoding !== 'quoted-printable') return body;
  const bytes = body
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
