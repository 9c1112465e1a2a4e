import { connect, type Socket } from 'node:net';

/** A client that sends raw bytes, and reads the responses afterwards. */
export interface RawHttpClient {
  readonly socket: Socket;
  write(text: string | Buffer): Promise<void>;
  /** The received text, once `count` responses are complete or the connection is closed. */
  answers(count?: number): Promise<string>;
  close(): void;
}

export async function connectRawHttpClient(url: string): Promise<RawHttpClient> {
  const { port } = new URL(url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
  let text = '';
  let isClosed = false;
  let wake = () => {};
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
    wake();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  await new Promise<void>((resolve) => void socket.once('connect', () => resolve()));
  return {
    socket,
    async write(part) {
      // A closed connection emits no `drain`.
      if (!socket.write(part) && !isClosed)
        await new Promise<void>((resolve) => {
          socket.once('drain', resolve);
          socket.once('close', () => resolve());
        });
    },
    async answers(count = 1) {
      while (!isClosed && complete(text) < count)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return text;
    },
    close: () => void socket.destroy(),
  };
}

/** Number of complete responses in the text, `100 Continue` not counted. */
function complete(text: string): number {
  let rest = text;
  let count = 0;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return count;
    const head = rest.slice(0, end);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (rest.length < end + 4 + length) return count;
    rest = rest.slice(end + 4 + length);
    if (!/^HTTP\/1\.1 100/.test(head)) count++;
  }
}
