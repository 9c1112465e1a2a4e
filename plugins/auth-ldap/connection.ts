import { connect, type Socket } from 'node:net';
import { connect as connectSecurely, TLSSocket } from 'node:tls';
import { Client } from 'ldapts';
import type { LdapDirectory } from './settings.ts';

/** Bytes that a directory may send for one sign-in. */
const MAX_BYTES = 1024 * 1024;

/** What is known of a connection beside what its client says. */
export interface LdapConnection {
  /** The end of the certificate of the directory; undefined without encryption. */
  certificateEnd(): Date | undefined;
}

/**
 * Opens a connection, encrypted where the settings say so, for `work`, and closes it afterwards. It is used once, so that no bind
 * outlives its sign-in. It breaks when `signal` aborts, and when the directory sends more than a mebibyte.
 * @throws what `work`, the network and the directory cause
 */
export async function useLdapConnection<T>(
  { url, startTls, ca }: Pick<LdapDirectory, 'url' | 'startTls' | 'ca'>,
  signal: AbortSignal,
  work: (client: Client, connection: LdapConnection) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const sockets = new Set<Socket>();
  // The client would connect again by itself, without encryption and without the bind of the service.
  const assertFirst = (isFirst: boolean) => {
    if (!isFirst) throw new Error('the connection to the directory broke');
  };
  const beforeEncryption: Buffer[] = [];
  const broken = Promise.withResolvers<never>();
  const watch = <S extends Socket>(socket: S): S => {
    sockets.add(socket);
    return watchSocket(socket, broken.reject);
  };
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const tlsOptions = { host, ca };
  const client = new Client({
    url: url.href,
    // With these options the client would speak TLS to ldap://, too.
    ...(url.protocol === 'ldaps:' ? { tlsOptions } : {}),
    createConnection: ((port: number, name: string) => {
      assertFirst(sockets.size === 0);
      const socket = watch(connect(port, name));
      if (startTls) socket.on('data', (part) => beforeEncryption.push(part));
      return socket;
    }) as typeof connect,
    createSecureConnection: ((...args: Parameters<typeof connectSecurely>): TLSSocket => {
      assertFirst(sockets.size === (startTls ? 1 : 0));
      if (startTls) assertOneMessage(Buffer.concat(beforeEncryption));
      return watch(connectSecurely(...args));
    }) as typeof connectSecurely,
  });
  guardParser(client, (error) => {
    broken.reject(error);
    close();
  });
  const abort = () => {
    broken.reject(signal.reason);
    close();
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const run = async () => {
      if (startTls) await client.startTLS({ ...tlsOptions });
      return await work(client, { certificateEnd: () => certificateEndOf(sockets) });
    };
    // After StartTLS the client would wait for answers of a broken connection.
    return await Promise.race([run(), broken.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    close();
  }
}

/** The parser of the library calls itself for each message of a part: what it throws would be thrown in a listener, and end the process. */
function guardParser(client: Client, fail: (error: unknown) => void): void {
  const parser = client as unknown as { socketDataHandler(part: Buffer): void };
  const read = parser.socketDataHandler;
  parser.socketDataHandler = (part) => {
    try {
      read(part);
    } catch (error) {
      fail(error);
    }
  };
}

function certificateEndOf(sockets: ReadonlySet<Socket>): Date | undefined {
  const secure = [...sockets].find((socket) => socket instanceof TLSSocket);
  const text = secure?.getPeerCertificate().valid_to;
  return text ? new Date(text) : undefined;
}

function watchSocket<S extends Socket>(socket: S, fail: (error: Error) => void): S {
  let size = 0;
  socket.on('data', (part: Buffer) => {
    size += part.length;
    if (size > MAX_BYTES) socket.destroy(new Error(`the directory sends more than ${MAX_BYTES} bytes`));
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the directory closed the connection')));
  return socket;
}

/**
 * What arrives before the encryption may come from any machine on the way. The begin of a forged message in front of the encrypted
 * ones could turn the refusal of a password into its acceptance, so the answer to StartTLS has to be all of it.
 * @throws Error
 */
function assertOneMessage(bytes: Buffer): void {
  const [tag, first = 0] = bytes;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const isComplete = tag === 0x30 && lengthBytes <= 2 && bytes.length >= 2 + lengthBytes;
  const length = isComplete && lengthBytes > 0 ? bytes.readUIntBE(2, lengthBytes) : first;
  if (!isComplete || bytes.length !== 2 + lengthBytes + length)
    throw new Error('the directory sent more than its answer before the encryption');
}
