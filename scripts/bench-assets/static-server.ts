/**
 * The baseline for stored images: node:http and the files of one folder, opened for each request and sent with caching headers.
 * Small files are read into one buffer, which is faster than a stream; no file is kept in memory.
 */
import { close, createReadStream, fstat, open, read } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';

const root = process.env.STATIC_ROOT as string;
const SMALL = 256 * 1024;
const TYPES: Readonly<Record<string, string>> = { '.webp': 'image/webp', '.jpg': 'image/jpeg' };

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url as string, 'http://localhost');
  if (!/^\/[\w.-]+$/.test(pathname)) return void response.writeHead(404, { 'Content-Length': 0 }).end();
  open(join(root, pathname), (missing, file) => {
    if (missing) return void response.writeHead(404, { 'Content-Length': 0 }).end();
    fstat(file, (_error, { size, mtime }) => {
      const etag = `"${size.toString(36)}-${mtime.getTime().toString(36)}"`;
      response.writeHead(request.headers['if-none-match'] === etag ? 304 : 200, {
        'Content-Type': TYPES[extname(pathname)] ?? 'application/octet-stream',
        'Content-Length': size,
        'Last-Modified': mtime.toUTCString(),
        ETag: etag,
        'Cache-Control': 'public, max-age=2592000',
        'Accept-Ranges': 'bytes',
        'X-Content-Type-Options': 'nosniff',
      });
      if (size > SMALL) return void createReadStream('', { fd: file }).pipe(response);
      const buffer = Buffer.allocUnsafe(size);
      read(file, buffer, 0, size, 0, () => {
        response.end(buffer);
        close(file, () => {});
      });
    });
  });
}

const server = createServer(answer);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));

process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());
