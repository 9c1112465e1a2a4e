import { connect, type Socket } from 'node:net';

export interface Load {
  readonly requests: number;
  readonly seconds: number;
  /** Answers whose status was not 200. */
  readonly failed: number;
}

/**
 * Keeps `connections` connections busy for `seconds`, one request at a time on each. Bytes over plain sockets, because a
 * full HTTP client would cost more than the servers it measures.
 */
export async function load(
  url: string,
  headers: readonly string[],
  connections: number,
  seconds: number,
): Promise<Load> {
  const { hostname, port, pathname, search } = new URL(url);
  const request = Buffer.from(
    [`GET ${pathname}${search} HTTP/1.1`, `Host: ${hostname}`, ...headers, '', ''].join('\r\n'),
  );
  const started = process.hrtime.bigint();
  const until = started + BigInt(Math.round(seconds * 1e9));
  const counts = await Promise.all(
    Array.from({ length: connections }, () => oneConnection(hostname, Number(port), request, until)),
  );
  return {
    requests: counts.reduce((sum, one) => sum + one.requests, 0),
    failed: counts.reduce((sum, one) => sum + one.failed, 0),
    seconds: Number(process.hrtime.bigint() - started) / 1e9,
  };
}

function oneConnection(host: string, port: number, request: Buffer, until: bigint) {
  return new Promise<{ requests: number; failed: number }>((resolve, reject) => {
    const done = { requests: 0, failed: 0 };
    const socket: Socket = connect(port, host, () => socket.write(request));
    socket.setNoDelay(true);
    socket.on('error', reject);
    let pending: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const length = responseLength(pending);
      if (length === undefined || pending.length < length) return;
      done.requests++;
      if (pending.toString('latin1', 9, 12) !== '200') done.failed++;
      pending = pending.subarray(length);
      if (process.hrtime.bigint() < until) socket.write(request);
      else socket.end(() => resolve(done));
    });
  });
}

/** Head and body together, once the head is there; both servers send a Content-Length. */
function responseLength(bytes: Buffer): number | undefined {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(bytes.toString('latin1', 0, head));
  if (!length) throw new Error(`no Content-Length in:\n${bytes.toString('latin1', 0, head)}`);
  return head + 4 + Number(length[1]);
}
