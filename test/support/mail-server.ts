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
export async function startMailServer(options: SMTPServerOptions = {}): Promise<TestMailServer> {
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
  server.listen(0, '127.0.0.1');
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
